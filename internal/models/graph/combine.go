package graph

// Combination is a sparse matrix: element Into[i] of what it makes has Times[i] times
// element From[i] of what it reads.
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
