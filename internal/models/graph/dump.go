package graph

import (
	"fmt"
	"strings"
)

// String is a readable listing of the tape: buffers, the three lists, the
// terms of the gradient and where structure was lost. It depends on the model
// only, never on records.
func (t *Tape) String() string {
	var w strings.Builder
	fmt.Fprintf(&w, "tape: %d parameters, %d columns (%d encoded, %d derived)", t.P, t.K, t.K0, t.K-t.K0)
	if t.AuxGlobal+t.AuxRecord > 0 {
		fmt.Fprintf(&w, ", noise: %d per step, %d per record", t.AuxGlobal, t.AuxRecord)
	}
	fmt.Fprintf(&w, "\nrecord memory: %d values per record\n", t.recordSize())
	section(&w, "derive (once per fit)", t, t.Derive)
	section(&w, "global (once per step)", t, t.Global)
	section(&w, "record (once per batch)", t, t.Record)
	if t.Loss != NoBuf {
		fmt.Fprintf(&w, "loss: %s\n", t.name(t.Loss))
	}
	for i, o := range t.Outputs {
		fmt.Fprintf(&w, "output %d: %s\n", i, t.name(o))
	}
	if len(t.Terms) > 0 {
		fmt.Fprintf(&w, "gradient of one record: the sum of %d terms, %d values instead of %d\n", len(t.Terms), t.termSize(), t.P)
	}
	for i := range t.Terms {
		fmt.Fprintf(&w, "  %2d  %s\n", i, t.term(&t.Terms[i]))
	}
	for _, p := range t.Cross {
		fmt.Fprintf(&w, "  %d and %d share parameters\n", p.I, p.J)
	}
	for _, n := range t.Notes {
		fmt.Fprintf(&w, "note: %s\n", n)
	}
	return w.String()
}

func section(w *strings.Builder, title string, t *Tape, list []Instr) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "%s:\n", title)
	for i := range list {
		in := &list[i]
		var args []string
		for _, o := range []Operand{in.A, in.B, in.C}[:in.Op.operands()] {
			args = append(args, t.operand(o))
		}
		fmt.Fprintf(w, "  %s = %s(%s)%s\n", t.name(in.Dst), in.Op, strings.Join(args, ", "), in.detail())
	}
}

// detail has the fields of an instruction other than its operands.
func (in *Instr) detail() string {
	switch in.Op {
	case OpMatVec:
		s := fmt.Sprintf(" [%d×%d]", in.Rows, in.Cols)
		if in.Trans {
			s += "ᵀ"
		}
		if in.Width > 1 {
			s += fmt.Sprintf("·[%d×%d]", in.Cols, in.Width)
		}
		return s
	case OpOuter, OpGather, OpScatter:
		s := fmt.Sprintf(" [%d×%d]", in.Rows, in.Cols)
		if in.Width > 1 {
			s += fmt.Sprintf(" over %d", in.Width)
		}
		return s
	case OpPut, OpSum, OpMaxReduce:
		return " into " + indices(in.Into)
	}
	return ""
}

// name is a buffer as "%3 sigmoid[8]", with the kind of a leaf.
func (t *Tape) name(b Buf) string {
	x := &t.Buffers[b]
	size := ""
	if x.Size > 1 {
		size = fmt.Sprintf("[%d]", x.Size)
	}
	switch x.Kind {
	case KConst:
		if x.Size == 1 {
			return fmt.Sprintf("%g", x.Values[0])
		}
		return fmt.Sprintf("%%%d const%s", b, size)
	case KColumn:
		if x.Offset >= t.K0 {
			return fmt.Sprintf("derived column %d (%s)%s", x.Offset, x.Name, size)
		}
		return fmt.Sprintf("column %d%s", x.Offset, size)
	case KParam, KAux, KAuxRecord:
		return fmt.Sprintf("%s %s%s", x.Kind, x.Name, size)
	}
	return fmt.Sprintf("%%%d %s%s", b, x.Name, size)
}

func (t *Tape) operand(o Operand) string {
	if o.Map == nil {
		return t.name(o.Buf)
	}
	return t.name(o.Buf) + " at " + indices(o.Map)
}

// indices shortens a list of indices.
func indices(v []int32) string {
	const most = 8
	if len(v) <= most {
		return fmt.Sprint(v)
	}
	s := fmt.Sprint(v[:most])
	return fmt.Sprintf("%s .. %d in all]", s[:len(s)-1], len(v))
}

func (t *Tape) term(x *Term) string {
	what := fmt.Sprintf("%s: %s ", t.where(x.Param), x.Kind)
	switch x.Kind {
	case TermOuter:
		what += fmt.Sprintf("%s ⊗ %s", t.name(x.X), t.name(x.Delta))
		switch {
		case x.XNorm2 != NoBuf:
			return what + ", squared norm by " + t.name(x.XNorm2)
		case x.Width == 1:
			return what
		}
		how := fmt.Sprintf("the %d×%d elements, one record at a time", x.Rows, x.Cols)
		if x.Gram {
			how = fmt.Sprintf("Gram matrices of %d×%d", x.Width, x.Width)
		}
		return what + fmt.Sprintf(", summed over %d places; norm by %s", x.Width, how)
	case TermScatter:
		return what + fmt.Sprintf("row %s of %d ← %s", t.name(x.Index), x.Rows, t.name(x.Delta))
	}
	return what + t.name(x.Delta)
}

// where names the parameter at an offset of θ.
func (t *Tape) where(offset int) string {
	for i := len(t.Params) - 1; i >= 0; i-- {
		if p := &t.Params[i]; offset >= p.Offset {
			if offset == p.Offset {
				return fmt.Sprintf("%s %v", p.Name, p.Shape)
			}
			return fmt.Sprintf("%s %v from element %d", p.Name, p.Shape, offset-p.Offset)
		}
	}
	return fmt.Sprint(offset)
}

// recordSize is the number of values that an engine keeps for each record.
func (t *Tape) recordSize() int {
	n := 0
	for i := range t.Buffers {
		if t.Buffers[i].Kind == KRecord {
			n += t.Buffers[i].Size
		}
	}
	return n
}

// termSize is the number of values that the terms of one record consist of.
func (t *Tape) termSize() int {
	n := 0
	for i := range t.Terms {
		x := &t.Terms[i]
		n += t.Buffers[x.Delta].Size
		if x.Kind == TermOuter {
			n += x.Rows * x.Width
		}
		if x.Kind == TermScatter {
			n += x.Width
		}
	}
	return n
}

// Cost is the work for one record of a batch in a step. A multiplication with its
// addition counts as two operations.
type Cost struct {
	Products int // operations of the matrix products of forward and backward pass
	Norms    int // of the squared norm of the gradient
	Sum      int // of the weighted sum of gradients
	Values   int // numbers kept while a batch is worked on
	Elements int // numbers of the largest gradient that a norm writes out, one record at a time
}

// Cost counts the operations and numbers that the structure of the gradient
// takes. Element-wise operations are not counted.
func (t *Tape) Cost() Cost {
	c := Cost{Values: t.recordSize() + t.AuxRecord}
	for _, in := range t.Record[:t.Gradient] {
		if in.Op == OpMatVec || in.Op == OpOuter {
			c.Products += 2 * in.Rows * in.Cols * in.Width
		}
	}
	for i := range t.Terms {
		x := &t.Terms[i]
		size, factors := x.Rows*x.Cols, (x.Rows+x.Cols)*x.Width
		switch {
		case x.Kind != TermOuter:
			c.Norms += 2 * t.Buffers[x.Delta].Size
			c.Sum += 2 * t.Buffers[x.Delta].Size
			continue
		case x.Width == 1:
			c.Norms += 2 * factors
		case x.Gram:
			c.Norms += factors * (x.Width + 1)
		default:
			c.Norms += 2 * size * (x.Width + 1)
			c.Elements = max(c.Elements, size)
		}
		c.Sum += 2 * size * x.Width
	}
	for _, p := range t.Cross {
		x, y := &t.Terms[p.I], &t.Terms[p.J]
		c.Norms += 2 * (x.Rows + x.Cols) * x.Width * y.Width
	}
	return c
}

// Structure describes how a record's gradient is kept, such as 64⊗16 for an
// outer product, Σ196 64⊗16 for the sum over 196 places, and how its norm is
// taken.
func (x *Term) Structure() string {
	switch {
	case x.Kind == TermDense:
		return fmt.Sprintf("%d values", x.Rows*x.Cols)
	case x.Kind == TermScatter:
		return fmt.Sprintf("%d of %d rows", x.Width, x.Rows)
	case x.Width == 1:
		return fmt.Sprintf("%d⊗%d", x.Rows, x.Cols)
	case x.Gram:
		return fmt.Sprintf("Σ%d %d⊗%d, norm by Gram matrices", x.Width, x.Rows, x.Cols)
	}
	return fmt.Sprintf("Σ%d %d⊗%d, norm by elements", x.Width, x.Rows, x.Cols)
}
