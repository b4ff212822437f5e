package graph

import "math"

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
		from := make([]int32, len(into))
		for i, j := range into {
			from[j] = int32(i)
		}
		return b.view(x, s, from)
	}
	if n := b.splitSum(x, s, into); n != nil {
		return n
	}
	return b.foldNode(b.intern(OpSum, s, x.stage, []*Node{x}, attr{index: into}))
}

// splitSum takes out of a sum a factor that is the same for all that is added
// up, and terms that are computed less often than the others; nil if x has
// none.
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
			if base, index := viewed(f); base.size == s.Size() && sameIndex(index, into) {
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
	// No name of the language can clash with that of the list of pairs.
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
