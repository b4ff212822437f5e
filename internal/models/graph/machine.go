package graph

import (
	"fmt"
	"math"
	"slices"

	"d3p/internal/simd"
)

// A Machine executes a Tape in float64, one instruction after the other. With room for
// one record it is the plain reference that engines are tested against. With more it
// computes predictions, and matrix products have fused additions; what a record gets
// does not depend on the records beside it. Memory is allocated once, for at most maxB
// records; no call allocates. A Machine is not safe for concurrent use.
type Machine struct {
	t       *Tape
	maxB, b int
	memory  [][]float64 // by buffer: KGlobal [Size], KRecord and derived columns [Size × maxB]
	columns []float64   // those that a matrix product reads, in lanes
	lanes   []lanes     // by buffer, for the current batch
	globals []Buf       // whose lanes depend on the arguments of Globals
	records []Buf       // whose lanes depend on those of Records
}

// NewMachine prepares to run t on batches of up to maxB records.
func NewMachine(t *Tape, maxB int) *Machine {
	m := &Machine{t: t, maxB: maxB, memory: make([][]float64, len(t.Buffers)), lanes: make([]lanes, len(t.Buffers))}
	for i := range t.Buffers {
		switch b := &t.Buffers[i]; {
		case b.Kind == KConst:
			m.memory[i] = b.Values
		case b.Kind == KGlobal:
			m.memory[i] = make([]float64, b.Size)
		case b.Kind == KRecord, m.isDerived(b):
			m.memory[i] = make([]float64, b.Size*maxB)
		}
		m.lanes[i] = lanes{values: m.memory[i], size: t.Buffers[i].Size, element: 1}
		switch t.Buffers[i].Kind {
		case KParam, KAux:
			m.globals = append(m.globals, Buf(i))
		case KAuxRecord, KRecord, KColumn:
			m.records = append(m.records, Buf(i))
		}
	}
	for _, in := range slices.Concat(t.Derive, t.Record) {
		if in.Op == OpMatVec && m.side(in.B.Buf) {
			m.columns = slices.Grow(m.columns, in.Cols*in.Width*maxB)
		}
	}
	return m
}

// side reports whether the numbers of a record lie side by side in a buffer.
func (m *Machine) side(i Buf) bool {
	return m.t.Buffers[i].Kind == KColumn && !m.isDerived(&m.t.Buffers[i])
}

func (m *Machine) isDerived(b *Buffer) bool { return b.Kind == KColumn && b.Offset >= m.t.K0 }

// BatchSize is the number of a tape's records that a Machine should process at a time: 256,
// or fewer if their values would take more than 64 MiB, as for convolutional networks.
func (t *Tape) BatchSize() int {
	const most, numbers = 256, 8 << 20
	size := 1
	for _, b := range t.Buffers {
		if b.Kind == KRecord {
			size += b.Size
		}
	}
	return min(most, max(1, numbers/size))
}

// Globals runs the Global list for θ, of P scalars, and aux, of AuxGlobal
// scalars; both are kept by reference until the next call.
func (m *Machine) Globals(theta, aux []float64) {
	if len(theta) != m.t.P || len(aux) < m.t.AuxGlobal {
		panic(fmt.Sprintf("graph: Globals with %d parameters and %d aux, want %d and %d", len(theta), len(aux), m.t.P, m.t.AuxGlobal))
	}
	for _, i := range m.globals {
		switch b := &m.t.Buffers[i]; b.Kind {
		case KParam:
			m.lanes[i].values = theta[b.Offset:]
		case KAux:
			m.lanes[i].values = aux[b.Offset:]
		}
	}
	m.run(m.t.Global, 1)
}

// Records runs the Derive and Record lists for B encoded records: column j of
// record b is rows[b·stride + j], j < K0. aux holds the per-record noise,
// AuxRecord scalars in lanes of B; nil if there is none.
func (m *Machine) Records(rows []float64, stride, B int, aux []float64) {
	if B > m.maxB || len(aux) < m.t.AuxRecord*B {
		panic(fmt.Sprintf("graph: Records with B = %d, %d aux; want B at most %d and %d aux", B, len(aux), m.maxB, m.t.AuxRecord*B))
	}
	m.locate(rows, stride, B, aux)
	m.run(m.t.Derive, B)
	m.Again()
}

// Again runs the Record list for the records of the last Records, at the θ of the last
// Globals: their derived columns do not depend on it.
func (m *Machine) Again() { m.run(m.t.Record, m.b) }

// Derive computes the derived columns of B encoded records: column K0 + j of
// record b goes to dst[b·(K-K0) + j]. An engine calls it once per fit.
func (m *Machine) Derive(dst, rows []float64, stride, B int) {
	extra := m.t.K - m.t.K0
	for first := 0; first < B; first += m.maxB {
		m.locate(rows[first*stride:], stride, min(m.maxB, B-first), nil)
		m.run(m.t.Derive, m.b)
		for i := range m.t.Buffers {
			b := &m.t.Buffers[i]
			if !m.isDerived(b) {
				continue
			}
			for e := range b.Size {
				for r, v := range m.memory[i][e*m.b:][:m.b] {
					dst[(first+r)*extra+b.Offset-m.t.K0+e] = v
				}
			}
		}
	}
}

func (m *Machine) run(list []Instr, B int) {
	if B == 0 {
		return
	}
	for i := range list {
		in := &list[i]
		var args [3]lanes
		for k, o := range [...]*Operand{&in.A, &in.B, &in.C} {
			if o.Buf != NoBuf {
				args[k] = m.lanes[o.Buf]
				args[k].index = o.Map
			}
		}
		dst := m.memory[in.Dst][:m.t.Buffers[in.Dst].Size*B]
		if in.Op == OpMatVec && m.maxB > 1 && m.t.Buffers[in.B.Buf].Kind.PerRecord() {
			m.matVec(in, dst, &args[0], &args[1])
			continue
		}
		in.run(dst, &args, B)
	}
}

// matVec is one matrix product [Rows × Cols]·[Cols × Width·B] for all records.
func (m *Machine) matVec(in *Instr, dst []float64, w, x *lanes) {
	lanes, n := x.values, in.Width*m.b
	if x.record != 1 && m.b > 1 {
		lanes = m.columns[:in.Cols*n]
		for i := range in.Cols * in.Width {
			copyLane(lanes[i*m.b:][:m.b], x.values[i*x.element:], x.record)
		}
	}
	clear(dst)
	p := simd.Product{M: in.Rows, N: n, K: in.Cols, C: dst, LDC: n, A: w.values, ARow: in.Cols, ACol: 1, B: lanes, LDB: n}
	if in.Trans {
		p.ARow, p.ACol = 1, in.Rows
	}
	p.Add()
}

// locate sets the lanes of a batch of B records. aux is nil for a batch of Derive, which
// reads no noise.
func (m *Machine) locate(rows []float64, stride, B int, aux []float64) {
	if m.b = B; B == 0 {
		return
	}
	for _, i := range m.records {
		b, l := &m.t.Buffers[i], &m.lanes[i]
		switch {
		case b.Kind == KRecord, m.isDerived(b):
			l.element, l.record = B, 1
		case b.Kind == KColumn:
			l.values, l.record = rows[b.Offset:], stride
		case aux != nil:
			l.values, l.element, l.record = aux[b.Offset*B:], B, 1
		}
	}
}

// record is one record of a buffer: element i is at i·step.
func (m *Machine) record(buf Buf, r int) strided {
	l := &m.lanes[buf]
	return strided{l.values[r*l.record:], l.element}
}

// row is the row that place w of a scatter of record r falls on; -1 if out of
// range.
func (m *Machine) row(t *Term, w, r int) int {
	index := m.record(t.Index, r)
	return row(index.v[w*index.step], t.Rows)
}

// Output is the i-th output: [Size × B] of a per-record one, [Size] of a
// global one. It is overwritten by the next call.
func (m *Machine) Output(i int) []float64 { return m.result(m.t.Outputs[i]) }

// Loss is the loss of each record, or of the whole if it is global; nil if the
// tape has none.
func (m *Machine) Loss() []float64 {
	if m.t.Loss == NoBuf {
		return nil
	}
	return m.result(m.t.Loss)
}

func (m *Machine) result(buf Buf) []float64 {
	n := m.t.Buffers[buf].Size
	if m.t.Buffers[buf].Kind == KRecord {
		n *= m.b
	}
	return m.memory[buf][:n]
}

// Gradient sets dst, of P scalars, to the gradient of record r of the last
// Records.
func (m *Machine) Gradient(r int, dst []float64) {
	clear(dst)
	for i := range m.t.Terms {
		m.addTerm(&m.t.Terms[i], r, 1, dst)
	}
}

// GlobalGradient sets dst, of P scalars, to the gradient of a global loss at
// the θ of the last Globals.
func (m *Machine) GlobalGradient(dst []float64) { m.Gradient(0, dst) }

// addTerm adds scale times one term of record r.
func (m *Machine) addTerm(t *Term, r int, scale float64, dst []float64) {
	if t.Kind == TermScatter {
		m.addScatter(t, r, scale, dst)
		return
	}
	g := m.elements(t, r)
	for i := range t.Rows {
		for c := range t.Cols {
			dst[t.Param+i*t.RowStride+c*t.ColStride] += scale * g.at(i, c)
		}
	}
}

// elements are those of a dense or outer term of one record.
type elements struct {
	t        *Term
	x, delta strided
}

func (m *Machine) elements(t *Term, r int) elements {
	e := elements{t: t, delta: m.record(t.Delta, r)}
	if t.Kind == TermOuter {
		e.x = m.record(t.X, r)
	}
	return e
}

// at is element (i, c).
func (e *elements) at(i, c int) float64 {
	if e.t.Kind == TermDense {
		return e.delta.v[(i*e.t.Cols+c)*e.delta.step]
	}
	s := 0.0
	for w, width := 0, e.t.Width; w < width; w++ {
		s += e.x.v[(i*width+w)*e.x.step] * e.delta.v[(c*width+w)*e.delta.step]
	}
	return s
}

// addScatter adds scale times a scatter of record r.
func (m *Machine) addScatter(t *Term, r int, scale float64, dst []float64) {
	delta := m.record(t.Delta, r)
	for w := range t.Width {
		i, s := m.row(t, w, r), scale
		if i < 0 {
			i, s = 0, math.NaN()
		}
		for c := range t.Cols {
			dst[t.Param+i*t.RowStride+c*t.ColStride] += s * delta.v[(c*t.Width+w)*delta.step]
		}
	}
}
