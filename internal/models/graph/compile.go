package graph

import (
	"errors"
	"fmt"
	"slices"
)

// Options of Compile; the zero value computes everything.
type Options struct {
	// GradientOnly leaves out the loss, and what only the loss needs.
	GradientOnly bool
	// Columns is K0, the number of columns of an encoded record. 0 stands for
	// the last column that is read, plus one.
	Columns int
}

// Compile makes the tape that computes the gradient of a scalar loss with
// respect to every Param, and the outputs. A loss that depends on columns is a
// per-record log density; one that does not, such as a prior, is global. A nil
// loss makes a forward-only tape. What is not needed is not computed.
func Compile(b *Builder, loss *Node, outputs []*Node, opt Options) (*Tape, error) {
	if err := b.Err(); err != nil {
		return nil, err
	}
	for _, n := range outputs {
		if anyBad(n) {
			return nil, errors.New("output: made from a reported mistake")
		}
	}
	c := &compiler{
		b:      b,
		t:      &Tape{P: b.p, AuxGlobal: b.aux[0], AuxRecord: b.aux[1], Loss: NoBuf, Params: slices.Clone(b.params)},
		bufs:   map[place]Buf{},
		copies: map[copied]Buf{},
		leaves: map[*Node]int{},
	}
	var grads map[*Node][]structured
	if loss != nil {
		if anyBad(loss) {
			return nil, errors.New("loss: made from a reported mistake")
		}
		if len(loss.shape) != 0 {
			return nil, fmt.Errorf("loss: has shape %v, want a scalar (sum over its dimensions)", loss.shape)
		}
		r := &reverse{b: b, needs: map[*Node]bool{}, adj: map[*Node]*adjoint{}}
		grads = r.gradient(loss)
		if err := b.Err(); err != nil {
			return nil, err
		}
		c.t.Notes = r.notes
	}
	if err := c.columns(loss, outputs, opt.Columns); err != nil {
		return nil, err
	}
	if loss != nil {
		c.global = loss.stage&StageData == 0
		c.terms(grads)
		if !opt.GradientOnly {
			c.t.Loss = c.result(loss, c.global)
		}
	}
	for _, n := range outputs {
		c.t.Outputs = append(c.t.Outputs, c.result(n, n.stage&StageData == 0))
	}
	return c.t, nil
}

// A list is one of the tape's three instruction lists.
type list uint8

const (
	inDerive list = iota
	inGlobal
	inRecord
)

// place is where a node has been computed; a data node may be computed in
// Derive and, if it is too large for a column, again in Record.
type place struct {
	n  *Node
	in list
}

// copied is a buffer copied in a list.
type copied struct {
	from Buf
	in   list
}

type compiler struct {
	b      *Builder
	t      *Tape
	global bool // the loss is global
	bufs   map[place]Buf
	copies map[copied]Buf
	leaves map[*Node]int // data nodes: columns they read, counted once per node
}

// columns sets K0. The gradient reads no column that the loss does not.
func (c *compiler) columns(loss *Node, outputs []*Node, encoded int) error {
	seen := map[*Node]bool{}
	var walk func(n *Node)
	walk = func(n *Node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		if n.op == OpColumn {
			c.t.K0 = max(c.t.K0, n.attr.offset+n.size)
		}
		for _, a := range n.args {
			walk(a)
		}
	}
	walk(loss)
	for _, n := range outputs {
		walk(n)
	}
	if encoded > 0 {
		if c.t.K0 > encoded {
			return fmt.Errorf("column %d is read, but a record has %d", c.t.K0-1, encoded)
		}
		c.t.K0 = encoded
	}
	c.t.K = c.t.K0
	return nil
}

// terms emits the gradient, Param by Param.
func (c *compiler) terms(grads map[*Node][]structured) {
	for _, p := range c.t.Params {
		leaf := c.b.leaves[p.Name]
		first := len(c.t.Terms)
		for _, s := range grads[leaf] {
			t := Term{
				Param: p.Offset + s.offset,
				Rows:  s.rows, Cols: s.cols, RowStride: s.rowStride, ColStride: s.colStride,
				X: NoBuf, Index: NoBuf, XNorm2: NoBuf,
			}
			switch {
			case s.index != nil:
				t.Kind = TermScatter
				t.Index = c.input(s.index)
			case s.x != nil:
				t.Kind = TermOuter
				t.X = c.input(s.x)
				if s.x.stage == StageData && s.rows > 1 {
					t.XNorm2 = c.input(c.b.Sum(c.b.Square(s.x)))
				}
			}
			t.Delta = c.result(s.delta, c.global)
			c.t.Terms = append(c.t.Terms, t)
		}
		for j := first; j < len(c.t.Terms); j++ {
			for i := first; i < j; i++ {
				if c.t.Terms[i].Param == c.t.Terms[j].Param && shares(grads[leaf][i-first], grads[leaf][j-first], leaf.size) {
					c.t.Cross = append(c.t.Cross, Pair{i, j})
				}
			}
		}
	}
}

// input is a per-record buffer for a term's X or Index: columns if it can be.
func (c *compiler) input(n *Node) Buf {
	b := c.whole(n, inRecord)
	if k := c.t.Buffers[b].Kind; k == KRecord || k == KColumn {
		return b
	}
	return c.copy(n, b, inRecord)
}

// result is a buffer with exactly n's elements: KGlobal or KRecord.
func (c *compiler) result(n *Node, global bool) Buf {
	in, kind := inRecord, KRecord
	if global {
		in, kind = inGlobal, KGlobal
	}
	b := c.whole(n, in)
	if c.t.Buffers[b].Kind == kind {
		return b
	}
	return c.copy(n, b, in)
}

// copy moves a buffer into one that the list computes.
func (c *compiler) copy(n *Node, from Buf, in list) Buf {
	k := copied{from, in}
	dst, ok := c.copies[k]
	if !ok {
		dst = c.buffer(OpCopy, n.size, in)
		c.emit(in, Instr{Op: OpCopy, Dst: dst, A: Operand{Buf: from}})
		c.copies[k] = dst
	}
	return dst
}

// whole is a buffer with n's elements in order.
func (c *compiler) whole(n *Node, in list) Buf {
	o := c.operand(n, in)
	if o.Map == nil && c.t.Buffers[o.Buf].Size == n.size {
		return o.Buf
	}
	if n.stage == StageData && in == inRecord && c.hoisted(n) {
		return c.compute(n, inRecord)
	}
	if n.stage&StageData == 0 {
		in = inGlobal
	}
	k := place{n, in}
	b, ok := c.bufs[k]
	if !ok {
		b = c.buffer(OpCopy, n.size, in)
		c.emit(in, Instr{Op: OpCopy, Dst: b, A: o})
		c.bufs[k] = b
	}
	return b
}

// operand reads n in a list; views become maps.
func (c *compiler) operand(n *Node, in list) Operand {
	base, index := viewed(n)
	b := c.compute(base, in)
	if c.t.Buffers[b].Size == 1 {
		index = nil // every element is the one
	}
	return Operand{Buf: b, Map: index}
}

// broadcast repeats the one element that a Map picks.
func (o Operand) broadcast(n int) Operand {
	if len(o.Map) != 1 || n == 1 {
		return o
	}
	m := make([]int32, n)
	for i := range m {
		m[i] = o.Map[0]
	}
	o.Map = m
	return o
}

// compute is the buffer of a node, emitting what makes it if it is new. A
// global node is made by Global, a data node by Derive as far as hoisted.
func (c *compiler) compute(n *Node, in list) Buf {
	switch {
	case n.stage&StageData == 0:
		in = inGlobal
	case in == inRecord && n.stage == StageData && n.op != OpColumn && c.hoisted(n):
		return c.derived(n)
	}
	if n.op == OpColumn {
		in = inRecord // one buffer serves both lists
	}
	k := place{n, in}
	if b, ok := c.bufs[k]; ok {
		return b
	}
	b := c.make(n, in)
	c.bufs[k] = b
	return b
}

// derived is the column block that Derive fills with a data node.
func (c *compiler) derived(n *Node) Buf {
	k := place{n, inRecord}
	if b, ok := c.bufs[k]; ok {
		return b
	}
	o := c.operand(n, inDerive)
	dst := c.add(Buffer{Kind: KColumn, Size: n.size, Offset: c.t.K, Name: n.op.String()})
	c.t.K += n.size
	c.emit(inDerive, Instr{Op: OpCopy, Dst: dst, A: o})
	c.bufs[k] = dst
	return dst
}

// hoisted says whether a data node becomes columns: unless it is far larger
// than the columns it is made from, such as the one-hot code of a level.
func (c *compiler) hoisted(n *Node) bool {
	return n.size <= 16 || n.size <= 2*c.columnsRead(n)
}

func (c *compiler) columnsRead(n *Node) int {
	if k, ok := c.leaves[n]; ok {
		return k
	}
	k := 0
	if n.op == OpColumn {
		k = n.size
	}
	for _, a := range n.args {
		k = max(k, c.columnsRead(a))
	}
	c.leaves[n] = k
	return k
}

func (c *compiler) add(b Buffer) Buf {
	c.t.Buffers = append(c.t.Buffers, b)
	return Buf(len(c.t.Buffers) - 1)
}

// buffer is new memory for what op computes in a list.
func (c *compiler) buffer(op Op, size int, in list) Buf {
	kind := KRecord
	if in == inGlobal {
		kind = KGlobal
	}
	return c.add(Buffer{Kind: kind, Size: size, Name: op.String()})
}

func (c *compiler) emit(in list, i Instr) {
	for k, o := range [...]*Operand{&i.A, &i.B, &i.C} {
		if k >= i.Op.operands() {
			*o = Operand{Buf: NoBuf}
		}
	}
	switch in {
	case inDerive:
		c.t.Derive = append(c.t.Derive, i)
	case inGlobal:
		c.t.Global = append(c.t.Global, i)
	default:
		c.t.Record = append(c.t.Record, i)
	}
}

// make emits the instructions of a node that is not a view.
func (c *compiler) make(n *Node, in list) Buf {
	at := n.attr
	switch n.op {
	case OpConst:
		return c.add(Buffer{Kind: KConst, Size: n.size, Values: at.values, Name: "const"})
	case OpParam:
		return c.add(Buffer{Kind: KParam, Size: n.size, Offset: at.offset, Name: at.name})
	case OpAux:
		kind := KAux
		if at.perRecord {
			kind = KAuxRecord
		}
		return c.add(Buffer{Kind: kind, Size: n.size, Offset: at.offset, Name: at.name})
	case OpColumn:
		return c.add(Buffer{Kind: KColumn, Size: n.size, Offset: at.offset, Name: "column"})
	case OpStop:
		return c.whole(n.args[0], in)
	case OpView:
		return c.whole(n, in)
	}
	instr := Instr{Op: n.op, Rows: at.rows, Cols: at.cols, Width: at.width, Trans: at.trans}
	operands := [...]*Operand{&instr.A, &instr.B, &instr.C}
	switch n.op {
	case OpStack:
		return c.stack(n, in)
	case OpSum, OpMaxReduce:
		instr.Into = at.index
		instr.A = c.operand(n.args[0], in)
	case OpMatVec, OpOuter, OpGather, OpScatter:
		for i, a := range n.args {
			operands[i].Buf = c.whole(a, in)
		}
	default:
		for i, a := range n.args {
			*operands[i] = c.operand(a, in).broadcast(n.size)
		}
	}
	instr.Dst = c.buffer(n.op, n.size, in)
	c.emit(in, instr)
	return instr.Dst
}

// stack writes the parts one after the other; nothing comes between them.
func (c *compiler) stack(n *Node, in list) Buf {
	parts := make([]Operand, len(n.args))
	for i, a := range n.args {
		parts[i] = c.operand(a, in)
	}
	dst := c.buffer(n.op, n.size, in)
	first := 0
	for i, a := range n.args {
		into := make([]int32, a.size)
		for j := range into {
			into[j] = int32(first + j)
		}
		first += a.size
		c.emit(in, Instr{Op: OpPut, Dst: dst, A: parts[i], Into: into})
	}
	return dst
}
