package graph

import "fmt"

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
