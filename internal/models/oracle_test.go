package models_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	G "gorgonia.org/gorgonia"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/stattest"
)

// tooLarge are the examples that Gorgonia cannot say: its graph of one record would
// have millions of nodes. TestGradients of package net and TestAgainstGorgonia of
// package graph hold their layers.
var tooLarge = map[string]bool{"cifar10-cnn.yaml": true, "imdb-embedding.yaml": true, "tabular-transformer.yaml": true, "reviews-transformer.yaml": true, "cnn-mnist.yaml": true, "mlp-mnist.yaml": true, "scattering-mnist.yaml": true, "scattering-cifar10.yaml": true, "vae-conv.yaml": true, "vae-mnist.yaml": true}

// TestConfigsAgainstGorgonia differentiates the density of every example once more, by
// another author's reverse mode: the forward instructions of its tape are written as
// operations of Gorgonia, number by number, and the gradients must agree.
func TestConfigsAgainstGorgonia(t *testing.T) {
	stattest.SkipNumerics(t)
	for _, file := range configs(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			m, err := models.Compile(parseFile(t, file))
			if err != nil {
				t.Fatal(err)
			}
			if tooLarge[filepath.Base(file)] {
				t.Skipf("%d weights are too many for a graph with a node for each number", m.P)
			}
			tape, err := m.DensityTape()
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			const records = 2
			rows, theta := simulated(m.Encoding, records, rng), append(normals(m.P, 0.3, rng), 1, 0)
			aux, auxRecord := normals(tape.AuxGlobal, 1, rng), normals(tape.AuxRecord*records, 1, rng)
			machine := graph.NewMachine(tape, records)
			machine.Globals(theta, aux)
			width := len(rows) / records
			machine.Records(rows, width, records, auxRecord)
			got := make([]float64, tape.P)
			for r := range records {
				machine.Gradient(r, got)
				own := make([]float64, tape.AuxRecord)
				for i := range own {
					own[i] = auxRecord[i*records+r]
				}
				o := &numbers{tape: tape, theta: theta, aux: aux, auxRecord: own, row: rows[r*width:][:width],
					g: G.NewGraph(), done: map[graph.Buf][]number{}, writers: map[graph.Buf][]*graph.Instr{}}
				want, err := o.gradient()
				if err != nil {
					t.Fatal(err)
				}
				for i := range got {
					if !(math.Abs(got[i]-want[i]) <= 1e-9*math.Max(1, math.Abs(want[i]))) {
						t.Errorf("record %d: gradient of parameter %d is %.15g, Gorgonia's %.15g", r, i, got[i], want[i])
					}
				}
			}
		})
	}
}

// number is a value and, unless it is constant, its node.
type number struct {
	v float64
	n *G.Node
}

// numbers evaluates a tape for one record.
type numbers struct {
	tape           *graph.Tape
	theta, aux     []float64
	auxRecord, row []float64
	g              *G.ExprGraph
	params         []*G.Node // of θ, nil until used
	done           map[graph.Buf][]number
	writers        map[graph.Buf][]*graph.Instr
	err            error
}

// gradient is ∂loss/∂θ by Gorgonia.
func (o *numbers) gradient() ([]float64, error) {
	for _, list := range [][]graph.Instr{o.tape.Derive, o.tape.Global, o.tape.Record} {
		for i := range list {
			o.writers[list[i].Dst] = append(o.writers[list[i].Dst], &list[i])
		}
	}
	o.params = make([]*G.Node, o.tape.P)
	for i, v := range o.theta {
		o.params[i] = G.NewScalar(o.g, G.Float64, G.WithName(fmt.Sprintf("theta%d", i)), G.WithValue(v))
	}
	loss := o.buffer(o.tape.Loss)[0]
	if o.err != nil {
		return nil, o.err
	}
	reached := map[*G.Node]bool{}
	var reach func(n *G.Node)
	reach = func(n *G.Node) {
		if !reached[n] {
			reached[n] = true
			for it := o.g.From(n.ID()); it.Next(); {
				reach(it.Node().(*G.Node))
			}
		}
	}
	reach(loss.n)
	var used G.Nodes
	var at []int
	for i, p := range o.params {
		if reached[p] {
			used, at = append(used, p), append(at, i)
		}
	}
	grads, err := G.Grad(loss.n, used...)
	if err != nil {
		return nil, err
	}
	vm := G.NewTapeMachine(o.g)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		return nil, err
	}
	if v := loss.n.Value().Data().(float64); math.Abs(v-loss.v) > 1e-9*math.Max(1, math.Abs(v)) {
		return nil, fmt.Errorf("the loss is %g, Gorgonia's %g", loss.v, v)
	}
	out := make([]float64, o.tape.P)
	for k, g := range grads {
		out[at[k]] = g.Value().Data().(float64)
	}
	return out, nil
}

// buffer is the content of a buffer; computing it runs what writes to it.
func (o *numbers) buffer(at graph.Buf) []number {
	if x, ok := o.done[at]; ok {
		return x
	}
	b := o.tape.Buffers[at]
	x := make([]number, b.Size)
	o.done[at] = x
	for i := range x {
		switch b.Kind {
		case graph.KConst:
			x[i].v = b.Values[i]
		case graph.KParam:
			x[i] = number{o.theta[b.Offset+i], o.params[b.Offset+i]}
		case graph.KAux:
			x[i].v = o.aux[b.Offset+i]
		case graph.KAuxRecord:
			x[i].v = o.auxRecord[b.Offset+i]
		case graph.KColumn:
			if b.Offset < o.tape.K0 {
				x[i].v = o.row[b.Offset+i]
			}
		}
	}
	for _, in := range o.writers[at] {
		o.run(in, x)
	}
	return x
}

// run executes an instruction as its documentation says.
func (o *numbers) run(in *graph.Instr, dst []number) {
	operand := func(a graph.Operand) func(i int) number {
		if a.Buf == graph.NoBuf {
			return func(int) number { return number{} }
		}
		x := o.buffer(a.Buf)
		return func(i int) number { return x[a.Index(i, len(x))] }
	}
	a, b, c := operand(in.A), operand(in.B), operand(in.C)
	switch in.Op {
	case graph.OpPut:
		for i, j := range in.Into {
			dst[j] = a(i)
		}
	case graph.OpSum:
		for i, j := range in.Into {
			dst[j] = o.add(dst[j], a(i))
		}
	case graph.OpMaxReduce:
		for i := range dst {
			dst[i] = number{v: math.Inf(-1)}
		}
		for i, j := range in.Into {
			if x := a(i); x.v > dst[j].v {
				dst[j] = x
			}
		}
	case graph.OpMatVec:
		for r := range in.Rows {
			for w := range in.Width {
				var sum number
				for k := range in.Cols {
					at := r*in.Cols + k
					if in.Trans {
						at = k*in.Rows + r
					}
					sum = o.add(sum, o.mul(a(at), b(k*in.Width+w)))
				}
				dst[r*in.Width+w] = sum
			}
		}
	case graph.OpOuter:
		for r := range in.Rows {
			for k := range in.Cols {
				var sum number
				for w := range in.Width {
					sum = o.add(sum, o.mul(a(r*in.Width+w), b(k*in.Width+w)))
				}
				dst[r*in.Cols+k] = sum
			}
		}
	case graph.OpGather:
		for w := range in.Width {
			k := int(b(w).v)
			for i := range in.Cols {
				dst[i*in.Width+w] = a(k*in.Cols + i)
			}
		}
	case graph.OpScatter:
		for w := range in.Width {
			k := int(b(w).v)
			for i := range in.Cols {
				dst[k*in.Cols+i] = o.add(dst[k*in.Cols+i], a(i*in.Width+w))
			}
		}
	default:
		for i := range dst {
			dst[i] = o.apply(in.Op, a(i), b(i), c(i))
		}
	}
}

// constant is the node of a number.
func (o *numbers) node(x number) *G.Node {
	if x.n == nil {
		return G.NewConstant(x.v)
	}
	return x.n
}

// made is a result whose value package graph gives, and whose node is Gorgonia's.
func (o *numbers) made(v float64, n *G.Node, err error) number {
	if err != nil && o.err == nil {
		o.err = err
	}
	return number{v, n}
}

func (o *numbers) add(x, y number) number {
	switch {
	case x.n == nil && y.n == nil:
		return number{v: x.v + y.v}
	case x.n == nil && x.v == 0:
		return y
	case y.n == nil && y.v == 0:
		return x
	}
	n, err := G.Add(o.node(x), o.node(y))
	return o.made(x.v+y.v, n, err)
}

func (o *numbers) mul(x, y number) number {
	switch {
	case x.n == nil && y.n == nil, x.n == nil && x.v == 0, y.n == nil && y.v == 0:
		return number{v: x.v * y.v}
	case x.n == nil && x.v == 1:
		return y
	case y.n == nil && y.v == 1:
		return x
	}
	n, err := G.HadamardProd(o.node(x), o.node(y))
	return o.made(x.v*y.v, n, err)
}

func (o *numbers) div(x, y number) number {
	n, err := G.HadamardDiv(o.node(x), o.node(y))
	return o.made(x.v/y.v, n, err)
}

func (o *numbers) of(f func(*G.Node) (*G.Node, error), v float64, x number) number {
	n, err := f(x.n)
	return o.made(v, n, err)
}

func (o *numbers) exp(x number) number   { return o.of(G.Exp, math.Exp(x.v), x) }
func (o *numbers) log(x number) number   { return o.of(G.Log, math.Log(x.v), x) }
func (o *numbers) log1p(x number) number { return o.of(G.Log1p, math.Log1p(x.v), x) }

func just(v float64) number { return number{v: v} }

// softplus is log(1+exp(x)) without overflow.
func (o *numbers) softplus(x number) number {
	if x.v > 0 {
		return o.add(x, o.log1p(o.exp(o.mul(just(-1), x))))
	}
	return o.log1p(o.exp(x))
}

// lgamma is log Γ(x) by Stirling's series at x+8 and the recurrence.
func (o *numbers) lgamma(x number) number {
	sum := just(0)
	for k := range 8 {
		sum = o.add(sum, o.log(o.add(x, just(float64(k)))))
	}
	y := o.add(x, just(8))
	r := o.div(just(1), y)
	r2 := o.mul(r, r)
	series := just(0)
	for _, c := range []float64{1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12} {
		series = o.add(just(c), o.mul(series, r2))
	}
	out := o.add(o.mul(o.add(y, just(-0.5)), o.log(y)), o.mul(just(-1), y))
	out = o.add(o.add(out, just(0.5*math.Log(2*math.Pi))), o.mul(series, r))
	return o.add(out, o.mul(just(-1), sum))
}

// apply is an element-wise operation. A branch is the one that the values take.
func (o *numbers) apply(op graph.Op, x, y, z number) number {
	switch op {
	case graph.OpWhere:
		if x.v != 0 {
			return y
		}
		return z
	case graph.OpMin:
		if x.v <= y.v {
			return x
		}
		return y
	case graph.OpMax:
		if x.v >= y.v {
			return x
		}
		return y
	case graph.OpMulZero:
		if x.v == 0 {
			return just(0)
		}
		return o.mul(x, y)
	}
	if x.n == nil && y.n == nil && z.n == nil {
		return just(op.Eval(x.v, y.v, z.v))
	}
	switch op {
	case graph.OpAdd:
		return o.add(x, y)
	case graph.OpSub:
		return o.add(x, o.mul(just(-1), y))
	case graph.OpMul:
		return o.mul(x, y)
	case graph.OpDiv:
		return o.div(x, y)
	case graph.OpPow:
		if y.n == nil && y.v == math.Trunc(y.v) && y.v >= 0 && y.v < 20 {
			out := just(1)
			for range int(y.v) {
				out = o.mul(out, x)
			}
			return out
		}
		if x.n == nil {
			return o.exp(o.mul(y, just(math.Log(x.v))))
		}
		return o.exp(o.mul(y, o.log(x)))
	case graph.OpLess, graph.OpEqual, graph.OpSign, graph.OpFloor:
		return just(op.Eval(x.v, y.v, z.v))
	case graph.OpCopy:
		return x
	case graph.OpNeg:
		return o.mul(just(-1), x)
	case graph.OpExp:
		return o.exp(x)
	case graph.OpLog:
		return o.log(x)
	case graph.OpLog1p:
		return o.log1p(x)
	case graph.OpExpm1:
		return o.add(o.exp(x), just(-1))
	case graph.OpSqrt:
		return o.of(G.Sqrt, math.Sqrt(x.v), x)
	case graph.OpSquare:
		return o.mul(x, x)
	case graph.OpAbs:
		if x.v < 0 {
			return o.mul(just(-1), x)
		}
		return x
	case graph.OpReciprocal:
		return o.div(just(1), x)
	case graph.OpSigmoid:
		return o.of(G.Sigmoid, op.Eval(x.v, 0, 0), x)
	case graph.OpLogSigmoid:
		return o.mul(just(-1), o.softplus(o.mul(just(-1), x)))
	case graph.OpSoftplus:
		return o.softplus(x)
	case graph.OpTanh:
		return o.of(G.Tanh, math.Tanh(x.v), x)
	case graph.OpRelu:
		if x.v > 0 {
			return x
		}
		return just(0)
	case graph.OpSin:
		return o.of(G.Sin, math.Sin(x.v), x)
	case graph.OpCos:
		return o.of(G.Cos, math.Cos(x.v), x)
	case graph.OpLgamma:
		return o.lgamma(x)
	}
	if o.err == nil {
		o.err = fmt.Errorf("Gorgonia cannot say %v of a parameter", op)
	}
	return just(math.NaN())
}
