package fit

import "d3p/internal/models/graph"

// curvatureLeaves are curvature's arrays, in their order, and the inputs of a
// step, as nodes of a graph.
type curvatureLeaves struct {
	totals, likelihood, prior, square, noise, place  *graph.Node
	likelihoodSlope, priorSlope, relaxation, current *graph.Node
	weight, anew                                     *graph.Node
}

func newCurvatureLeaves(b *graph.Builder, p graph.Shape) *curvatureLeaves {
	return &curvatureLeaves{
		totals:     b.Param("curvature totals", graph.Shape{{Name: "total", Size: 2}}),
		likelihood: b.Param("curvature likelihood", p), prior: b.Param("curvature prior", p),
		square: b.Param("curvature square", p), noise: b.Param("curvature noise", p), place: b.Param("curvature place", p),
		likelihoodSlope: b.Param("curvature likelihood slope", p), priorSlope: b.Param("curvature prior slope", p),
		relaxation: b.Param("curvature relaxation", p), current: b.Param("curvature current", p),
	}
}

// addCurvature is curvature.observe, follow and relax: the next arrays, and the
// precision that the recursion of the noise uses.
func (l *Loop) addCurvature(x *leaves, likelihood, prior, gain, precision *graph.Node) (next []*graph.Node, current *graph.Node) {
	b, c := x.b, x.curvature
	d, w := x.shift(), c.weight
	theta := b.Add(d, x.value[0])
	w2 := b.Square(b.Mul(w, x.noiseSD(l.plan)))
	seen := &curvatureLeaves{
		totals:     b.Add(c.totals, b.Stack(graph.Dim{Name: "total", Size: 2}, w, w2)),
		likelihood: b.Add(c.likelihood, b.Neg(b.Mul(w, b.Mul(d, likelihood)))), prior: b.Add(c.prior, b.Neg(b.Mul(w, b.Mul(d, prior)))),
		square: b.Add(c.square, b.Mul(w, b.Square(d))), noise: b.Add(c.noise, b.Mul(w2, b.Square(d))), place: b.Add(c.place, b.Mul(w, theta)),
		likelihoodSlope: b.Add(c.likelihoodSlope, b.Mul(w, likelihood)), priorSlope: b.Add(c.priorSlope, b.Mul(w, prior)),
	}
	seen.current = b.Where(c.anew, l.replacement(x, seen, precision), c.current)
	seen.relaxation = b.Add(c.relaxation, b.Mul(x.averaging, b.Mul(gain, seen.current)))
	return seen.arrays(), seen.current
}

// arrays are the nodes in the order of curvature.arrays.
func (c *curvatureLeaves) arrays() []*graph.Node {
	return []*graph.Node{
		c.totals, c.likelihood, c.prior, c.square, c.noise, c.place, c.likelihoodSlope, c.priorSlope, c.relaxation, c.current,
	}
}

// replacement is curvature.replace of precision: sums within a parameter are
// placed at its number and taken from there.
func (l *Loop) replacement(x *leaves, c *curvatureLeaves, precision *graph.Node) *graph.Node {
	b, state := x.b, &l.state.Curvature
	parameters := graph.Shape{{Name: "parameter", Size: len(state.sizes)}}
	var at []int32               // the parameter of each coordinate
	var others, shared []float64 // of each parameter: coordinates beside one, and 1 if there are any
	for k, size := range state.sizes {
		for range size {
			at = append(at, int32(k))
		}
		others = append(others, float64(size-1))
		shared = append(shared, min(1, float64(size-1)))
	}
	sum := func(n *graph.Node) *graph.Node { return b.Place(n, parameters, at) }
	of := func(n *graph.Node) *graph.Node { return b.Take(n, x.p, at) }
	isShared := b.Consts(parameters, shared)

	h, v := b.Div(c.likelihood, c.square), b.Div(c.noise, b.Square(c.square))
	inverse := b.Reciprocal(v)
	weights, squares := sum(inverse), sum(b.Square(inverse))
	mean := b.Div(sum(b.Mul(h, inverse)), weights)
	spread := sum(b.Mul(b.Square(b.Sub(h, of(mean))), inverse))
	beyond := b.Div(b.Sub(spread, b.Consts(parameters, others)), b.Sub(weights, b.Div(squares, weights)))
	between := b.Where(isShared, b.Max(b.Const(0), beyond), b.Const(0))
	inverse = b.Reciprocal(b.Add(v, of(between)))
	mean = b.Max(b.Const(0), b.Div(sum(b.Mul(h, inverse)), sum(inverse)))
	own := b.Where(of(isShared), b.Mul(of(between), inverse), b.Const(1))
	h = b.Max(b.Const(0), b.Add(of(mean), b.Mul(b.Sub(h, of(mean)), own)))

	p := b.Max(b.Add(h, b.Div(c.prior, c.square)), b.Consts(x.p, state.floor))
	return b.Where(b.Less(b.Const(0), p), p, precision)
}
