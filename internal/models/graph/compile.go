package graph

import (
	"errors"
	"fmt"
	"slices"
)

// Options of Compile; the zero value computes everything.
type Options struct {
	// GradientOnly leaves out the loss and everything that only the loss needs.
	GradientOnly bool
	// Columns is K0, the number of columns of an encoded record. 0 means the last column
	// that is read, plus one.
	Columns int
	// InStep leaves nothing to Derive: each step computes, for the records that it reads,
	// the numbers that depend on columns alone. The table then has only the squared norms
	// of its columns.
	InStep bool
}

// Compile makes the tape that computes the gradient of a scalar loss with respect to
// every Param, and the outputs. A loss that depends on columns is a per-record log
// density; one that does not, such as a prior, is global. A nil loss makes a forward-only
// tape. It computes only the needed values.
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
		norms:  map[Buf]Buf{},
		reads:  map[*Node]int{},
		inStep: opt.InStep,
	}
	var grads map[*Node][]structured
	if loss != nil {
		if anyBad(loss) {
			return nil, errors.New("loss: made from a reported mistake")
		}
		if len(loss.shape) != 0 {
			return nil, fmt.Errorf("loss: has shape %v, want a scalar (sum over its dimensions)", loss.shape)
		}
		r := &reverse{b: b, needs: map[*Node]bool{}, adj: map[*Node]*adjoint{}, finite: map[*Node]bool{}}
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
		c.t.Gradient = len(c.t.Record)
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

// place is the list that computes a node. A data node may be computed in Derive and, if it
// is too large for a column, again in Record.
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
	inStep bool // Options.InStep
	bufs   map[place]Buf
	copies map[copied]Buf
	norms  map[Buf]Buf   // XNorm2 by X
	reads  map[*Node]int // memory of columnsRead
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
				Rows:  s.rows, Cols: s.cols, Width: s.width, RowStride: s.rowStride, ColStride: s.colStride,
				X: NoBuf, Index: NoBuf, XNorm2: NoBuf,
			}
			switch {
			case s.index != nil:
				t.Kind = TermScatter
				t.Index = c.input(s.index)
			case s.x != nil:
				t.Kind = TermOuter
				t.X = c.input(s.x)
				t.Gram = s.width > 1 && gram(s, s)
				if c.t.Buffers[t.X].Kind == KColumn && s.rows > 1 && s.width == 1 {
					t.XNorm2 = c.squaredNorm(t.X)
				}
			}
			t.Delta = c.result(s.delta, c.global)
			c.t.Terms = append(c.t.Terms, t)
		}
		for j := first; j < len(c.t.Terms); j++ {
			for i := first; i < j; i++ {
				p, q := grads[leaf][i-first], grads[leaf][j-first]
				if c.t.Terms[i].Param == c.t.Terms[j].Param && shares(p, q, leaf.size) {
					c.t.Cross = append(c.t.Cross, Pair{i, j, gram(p, q)})
				}
			}
		}
	}
}

// gram reports whether the inner product of two outer terms takes fewer
// multiplications by Gram matrices, half of a symmetric one, than with the
// elements of both written out.
func gram(p, q structured) bool {
	products, elements := p.width*q.width*(p.rows+p.cols), p.rows*p.cols*(p.width+q.width)
	if p.sameBut(q) {
		products, elements = p.width*(p.width+1)/2*(p.rows+p.cols), p.rows*p.cols*p.width
	}
	return products <= elements
}
