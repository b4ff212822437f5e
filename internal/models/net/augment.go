package net

import (
	"d3p/internal/models/graph"
	"d3p/internal/models/special"
)

// augment moves an image by a random whole number of positions along y and along x, at most
// `shift` each way, and mirrors it along x with probability 1/2 if `flip` is true. A
// position beyond the border has the value of the nearest one. In predictions it changes
// nothing. The randomness is new for every record and step, so the gradient of a record
// depends on no other record.
func augment(p *plan, l *Layer) step {
	if len(p.shape) != 2 && len(p.shape) != 3 {
		return p.fail(l.Kind.At, "", "layer augment needs [channel, y, x] or [y, x], not %v", p.shape)
	}
	shape, name, by := p.shape, p.layer.Name, l.Shift.V
	if high, wide := shape[len(shape)-2].Size, shape[len(shape)-1].Size; by >= min(high, wide) {
		return p.fail(l.Shift.At, "a smaller shift", "a shift by %d leaves nothing of %v", by, shape)
	}
	draws := graph.Shape{{Name: "(augment)", Size: 3}}
	return func(b *graph.Builder, x *graph.Node, c *Call) *graph.Node {
		if c.Noise == nil || by == 0 && !l.Flip.V {
			return x
		}
		noise := c.Noise(name, x, draws)
		var down, right []*graph.Node
		for to := -by; to <= by; to++ {
			down = append(down, b.Take(x, shape, moved(shape, to, 0)))
		}
		x = anyOf(b, b.Slice(noise, draws[0].Name, 0), down)
		for to := -by; to <= by; to++ {
			right = append(right, b.Take(x, shape, moved(shape, 0, to)))
		}
		x = anyOf(b, b.Slice(noise, draws[0].Name, 1), right)
		if !l.Flip.V {
			return x
		}
		return anyOf(b, b.Slice(noise, draws[0].Name, 2), []*graph.Node{x, b.Take(x, shape, flipped(shape))})
	}
}

// anyOf is one of the values, with equal probabilities, by standard normal noise.
func anyOf(b *graph.Builder, noise *graph.Node, values []*graph.Node) *graph.Node {
	last := len(values) - 1
	chosen := values[last]
	for i := last - 1; i >= 0; i-- {
		quantile := special.NormalQuantile(float64(i+1) / float64(last+1))
		chosen = b.Where(b.Less(noise, b.Const(quantile)), values[i], chosen)
	}
	return chosen
}

// moved is, for each position of an image, the position that it reads if the image moves
// down and right.
func moved(shape graph.Shape, down, right int) []int32 {
	return eachPosition(shape, func(y, x, _ int) (int, int) { return y - down, x - right })
}

// flipped is, for each position of an image, the position that it reads in a mirror.
func flipped(shape graph.Shape) []int32 {
	return eachPosition(shape, func(y, x, wide int) (int, int) { return y, wide - 1 - x })
}

// eachPosition lists, for each position y, x of each channel of an image of this width, the
// position nearest to `from` in row-major order.
func eachPosition(shape graph.Shape, from func(y, x, wide int) (int, int)) []int32 {
	high, wide := shape[len(shape)-2].Size, shape[len(shape)-1].Size
	index := make([]int32, shape.Size())
	for i := range index {
		y, x := from(i/wide%high, i%wide, wide)
		y, x = min(max(y, 0), high-1), min(max(x, 0), wide-1)
		index[i] = int32((i/wide/high*high+y)*wide + x)
	}
	return index
}
