package graph

import (
	"math"
	"slices"
)

// Sum adds up the named dimensions of x, all of them if none is named.
func (b *Builder) Sum(x *Node, dims ...string) *Node {
	s, into, ok := b.reduction("sum", x, dims)
	if !ok {
		return b.poison
	}
	return b.sumInto(x, s, into)
}

// sumInto adds element i of x to element into[i] of an array of shape s.
func (b *Builder) sumInto(x *Node, s Shape, into []int32) *Node {
	if len(into) == s.Size() && isIdentity(into) {
		return b.view(x, s, nil)
	}
	if x.is(0) {
		return b.Expand(b.Const(0), s)
	}
	if len(into) == s.Size() && distinct(into) { // a permutation
		return b.view(x, s, inverse(into))
	}
	if n := b.splitSum(x, s, into); n != nil {
		return n
	}
	return b.foldNode(b.intern(OpSum, s, x.stage, []*Node{x}, attr{index: into}))
}

// splitSum takes out of a sum a factor that all summands share, and terms that are computed
// less often than the others; nil if x has none.
func (b *Builder) splitSum(x *Node, s Shape, into []int32) *Node {
	switch x.op {
	case OpNeg:
		return b.Neg(b.sumInto(x.args[0], s, into))
	case OpAdd, OpSub:
		y, z := x.args[0], x.args[1]
		if y.rank() != z.rank() {
			sum := func(n *Node) *Node { return b.sumInto(b.Expand(n, x.shape), s, into) }
			return b.elementwise(x.op, sum(y), sum(z))
		}
	case OpMul:
		for i, f := range x.args {
			rest := x.args[1-i]
			if rest.size != x.size {
				continue
			}
			if f.size == 1 {
				return b.Mul(b.sumInto(rest, s, into), b.view(f, nil, nil))
			}
			if base, index := viewed(f); base.size == s.Size() && slices.Equal(index, into) {
				return b.Mul(b.sumInto(rest, s, into), b.view(base, s, nil))
			}
		}
	}
	return nil
}

// Mean is the average over the named dimensions, all of them if none is named.
func (b *Builder) Mean(x *Node, dims ...string) *Node {
	s := b.Sum(x, dims...)
	if s.bad {
		return s
	}
	return b.Mul(s, b.Const(float64(s.size)/float64(x.size)))
}

// MaxOver is the largest element over the named dimensions, all of them if
// none is named; at a tie the gradient is shared equally.
func (b *Builder) MaxOver(x *Node, dims ...string) *Node {
	s, into, ok := b.reduction("max", x, dims)
	if !ok {
		return b.poison
	}
	if len(into) == s.Size() {
		return b.view(x, s, nil)
	}
	return b.foldNode(b.intern(OpMaxReduce, s, x.stage, []*Node{x}, attr{index: into}))
}

// LogSumExp is log Σ exp x over the named dimensions, all of them if none is
// named, shifted by the maximum, through which no gradient is needed. It is
// -Inf, not NaN, where every element is -Inf.
func (b *Builder) LogSumExp(x *Node, dims ...string) *Node {
	m := b.StopGradient(b.Max(b.MaxOver(x, dims...), b.Const(-math.MaxFloat64)))
	return b.Add(m, b.Log(b.Sum(b.Exp(b.Sub(x, m)), dims...)))
}

// Softmax is exp x / Σ exp x along dim.
func (b *Builder) Softmax(x *Node, dim string) *Node {
	m := b.StopGradient(b.MaxOver(x, dim))
	e := b.Exp(b.Sub(x, m))
	return b.Div(e, b.Sum(e, dim))
}

// LogSoftmax is x - LogSumExp(x) along dim.
func (b *Builder) LogSoftmax(x *Node, dim string) *Node {
	return b.Sub(x, b.LogSumExp(x, dim))
}

// CumSum is the running sum along dim: element i is the sum of elements 0..i.
func (b *Builder) CumSum(x *Node, dim string) *Node {
	if anyBad(x) {
		return b.poison
	}
	d := x.shape.Index(dim)
	if d < 0 {
		return b.fail("cumsum", "no dimension %s in %v", dim, x.shape)
	}
	stride, n := x.shape.strides()[d], x.shape[d].Size
	var from, into []int32
	for i := range x.size {
		for j := i / stride % n; j < n; j++ {
			from = append(from, int32(i))
			into = append(into, int32(i+(j-i/stride%n)*stride))
		}
	}
	// the name of the list of pairs clashes with no name of the language
	pairs := b.view(x, Shape{{"(cumsum)", len(from)}}, from)
	return b.sumInto(pairs, x.shape, into)
}

// reduction is the shape without dims, and where each element of x falls in it.
func (b *Builder) reduction(op string, x *Node, dims []string) (Shape, []int32, bool) {
	if anyBad(x) {
		return nil, nil, false
	}
	drop := make([]bool, len(x.shape))
	for _, name := range dims {
		i := x.shape.Index(name)
		if i < 0 {
			b.fail(op, "no dimension %s in %v", name, x.shape)
			return nil, nil, false
		}
		drop[i] = true
	}
	var s Shape
	for i, d := range x.shape {
		if len(dims) > 0 && !drop[i] {
			s = append(s, d)
		}
	}
	into := make([]int32, x.size)
	x.shape.walk(func(i int, at []int) { into[i] = int32(at[0]) }, x.shape.stridesIn(s))
	return s, into, true
}

// contracted is the name of the dimension that a product of two per-record
// arrays sums over; no name of the language can clash with it.
const contracted = "(contracted)"

// MatMul contracts the last dimension of x with the first of y, which have the
// same size; their names may differ. The result has x's other dimensions, then
// y's. A product with a constant or global factor stays a matrix product, and
// the factor's gradient an outer product.
func (b *Builder) MatMul(x, y *Node) *Node {
	if anyBad(x, y) {
		return b.poison
	}
	if len(x.shape) == 0 || len(y.shape) == 0 {
		return b.fail("@", "%v @ %v: both sides need a dimension", x.shape, y.shape)
	}
	xs, k := x.shape[:len(x.shape)-1], x.shape[len(x.shape)-1]
	ys := y.shape[1:]
	if k.Size != y.shape[0].Size {
		return b.fail("@", "%v @ %v: dimension %s has size %d but %s has %d",
			x.shape, y.shape, k.Name, k.Size, y.shape[0].Name, y.shape[0].Size)
	}
	s := append(xs[:len(xs):len(xs)], ys...)
	if err := s.check(); err != nil {
		return b.fail("@", "%v @ %v: %v", x.shape, y.shape, err)
	}
	switch {
	case x.stage&StageData == 0:
		return b.matVec(x, y, s, xs.Size(), k.Size, ys.Size(), false)
	case y.stage&StageData == 0:
		// x·y = (yᵀ·xᵀ)ᵀ, so that the global factor comes first.
		xt := b.Expand(x, append(Shape{k}, xs...))
		ts := append(ys[:len(ys):len(ys)], xs...)
		return b.Expand(b.matVec(y, xt, ts, ys.Size(), k.Size, xs.Size(), true), s)
	}
	xk := b.view(x, append(xs[:len(xs):len(xs)], Dim{contracted, k.Size}), nil)
	yk := b.view(y, append(Shape{{contracted, k.Size}}, ys...), nil)
	return b.Sum(b.Mul(xk, yk), contracted)
}

// matVec is W·x with x as a Cols×Width matrix; see Instr.
func (b *Builder) matVec(w, x *Node, s Shape, rows, cols, width int, trans bool) *Node {
	if rows == 1 || cols == 1 {
		trans = false // both orders are the same
	}
	return b.foldNode(b.intern(OpMatVec, s, w.stage.Join(x.stage), []*Node{w, x},
		attr{rows: rows, cols: cols, width: width, trans: trans}))
}

// Combination is a sparse matrix: it adds Times[i] times element From[i] of its input to
// element Into[i] of its output.
type Combination struct {
	From, Into []int
	Times      []float64
}

// Combine multiplies x by the combination along one of its dimensions, whose size stays.
func (b *Builder) Combine(x *Node, dim string, c *Combination) *Node {
	if anyBad(x) {
		return b.poison
	}
	d := x.shape.Index(dim)
	if d < 0 {
		return b.fail("combine", "no dimension %s in %v", dim, x.shape)
	}
	terms := Dim{Name: dim, Size: len(c.Times)}
	picked := append(append(append(Shape(nil), x.shape[:d]...), terms), x.shape[d+1:]...)
	size, inner := x.shape[d].Size, x.shape[d+1:].Size()
	from, into := make([]int32, picked.Size()), make([]int32, picked.Size())
	for i := range from {
		outer, term, within := i/inner/terms.Size, i/inner%terms.Size, i%inner
		from[i] = int32((outer*size+c.From[term])*inner + within)
		into[i] = int32((outer*size+c.Into[term])*inner + within)
	}
	return b.sumInto(b.Mul(b.Take(x, picked, from), b.Consts(Shape{terms}, c.Times)), x.shape, into)
}
