package models

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"d3p/internal/models/core"
	"d3p/internal/models/dist"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
)

// StandardNormal are coordinates v (P) to sample in: a parameter x with the prior
// mvn(loc, F), where loc and F depend on other parameters, is
//
//	x = loc + v Fᵀ, for each vector of x,
//
// so that v is a standard normal by its prior; all other coordinates are those of θ. Where
// records say little about x, the density of θ has no mode: as a correlation in F goes to 1,
// it grows without bound. That of v has one. It is the non-centred parametrisation of
// Papaspiliopoulos, Roberts and Sköld 2007, Statist. Sci. 22.
type StandardNormal struct {
	machine   *graph.Machine // its loss is Σ a∘x + log |dθ/dv|
	vectors   []vectors
	a         []float64 // sizes of all x
	theta, of []float64 // P: θ, and the gradient of its density
}

// vectors are the rows of length d of a parameter, whose coordinates have the units unit (size).
type vectors struct {
	offset, size, d int
	unit            []float64
}

// StandardNormal are those coordinates; nil, which stands for θ itself: no prior is of that
// form. They keep buffers: one at a time may use them.
func (m *Model) StandardNormal() *StandardNormal {
	c := newCompiler(m.Spec, m.Core)
	c.coordinates = m.coordinates
	c.dimensions()
	c.parameters()
	g := &build{c: c, b: graph.NewBuilder(), env: c.environment(), noisy: make(map[noisyCall]int)}
	leaves := make(map[string]*graph.Node)
	g.declare(func(p *Param, free graph.Shape) *graph.Node {
		leaves[p.Name] = g.b.Param(p.Name, free)
		return leaves[p.Name]
	})
	s := &StandardNormal{theta: make([]float64, m.P), of: make([]float64, m.P)}
	logDet, total := g.b.Const(0), g.b.Const(0)
	for i := range c.params {
		prior, p := g.normalVectors(i), &c.params[i]
		if prior == nil {
			continue
		}
		origin, unit := make([]float64, p.Size), slices.Repeat([]float64{1}, p.Size)
		if in := m.coordinates; in != nil {
			origin, unit = in.Origin[p.Offset:p.Offset+p.Size], in.Unit[p.Offset:p.Offset+p.Size]
		}
		x, loc, factor := g.ofStandard(leaves[p.Name], prior, origin, unit)
		d := factor.Shape()[0].Size
		s.vectors = append(s.vectors, vectors{p.Offset, p.Size, d, unit})
		g.outputs = append(g.outputs, x, loc, factor)
		logDet = g.b.Add(logDet, g.b.Mul(g.b.Const(float64(p.Size/d)), g.b.Sum(g.b.Log(g.b.DiagPart(factor)))))
		total = g.b.Add(total, g.b.Sum(g.b.Mul(g.b.Aux("a_"+p.Name, x.Shape(), false), x)))
		s.a = append(s.a, make([]float64, p.Size)...)
	}
	if len(s.vectors) == 0 {
		return nil
	}
	g.outputs = append(g.outputs, logDet)
	tape, err := graph.Compile(g.b, g.b.Add(total, logDet), g.outputs, graph.Options{})
	if err != nil {
		panic("models: a compiled prior does not compile: " + err.Error())
	}
	s.machine = graph.NewMachine(tape, 1)
	return s
}

// normalVectors is the prior mvn(loc, F) of parameter i where it names no parameter with such a prior, and
// no quantity, which may depend on one; nil: it is another one.
func (g *build) normalVectors(i int) *dist.Applied {
	p := &g.c.priors[i]
	if !p.isNormalVectors() || p.broken || len(p.elements) > 0 {
		return nil
	}
	density, errs := expr.LowerDensity(p.distribution, g.env, g.b)
	normal, is := density.(dist.Applied)
	if len(errs) > 0 || !is || len(normal.Args[1].Shape()) != 2 {
		return nil
	}
	for _, name := range expr.Names(p.distribution) {
		if slices.ContainsFunc(g.c.core.Let, func(d *core.Definition) bool { return d.Name.V == name }) {
			return nil
		}
		for k := range g.c.priors {
			if g.c.params[k].Name == name && g.c.priors[k].isNormalVectors() {
				return nil
			}
		}
	}
	return &normal
}

// isNormalVectors reports whether the prior is mvn(loc, F).
func (p *prior) isNormalVectors() bool {
	of, is := p.distribution.(*expr.Call)
	return is && of.Func == "mvn"
}

// ofStandard are the coordinates of x = origin + unit∘φ, where v is the leaf, and of loc, and F.
func (g *build) ofStandard(leaf *graph.Node, prior *dist.Applied, origin, unit []float64) (x, loc, factor *graph.Node) {
	shape := leaf.Shape()
	loc, factor = prior.Args[0], prior.Args[1]
	if loc.Shape().Index(dist.ListDim) >= 0 {
		loc = g.b.Rename(loc, dist.ListDim, shape[len(shape)-1].Name)
	}
	units := g.b.Consts(shape, unit)
	loc = g.b.Div(g.b.Sub(g.b.Expand(loc, shape), g.b.Consts(shape, origin)), units)
	moved := g.b.Expand(g.b.MatMul(leaf, g.b.Transpose(factor)), shape)
	return g.b.Add(loc, g.b.Div(moved, units)), loc, factor
}

// Theta sets dst (P) to the θ of v (P). dst may be v.
func (s *StandardNormal) Theta(dst, v []float64) {
	copy(dst, v)
	if s == nil {
		return
	}
	clear(s.a)
	s.machine.Globals(v, s.a)
	for i, x := range s.vectors {
		copy(dst[x.offset:x.offset+x.size], s.machine.Output(3*i))
	}
}

// Thetas sets draws (S×P) of v to their θ.
func (s *StandardNormal) Thetas(draws []float64) {
	if s == nil {
		return
	}
	for draw := range slices.Chunk(draws, len(s.theta)) {
		s.Theta(draw, draw)
	}
}

// Standard sets v (P) to the coordinates of theta (P), the inverse of Theta. v may be theta.
func (s *StandardNormal) Standard(v, theta []float64) {
	copy(v, theta)
	if s == nil {
		return
	}
	clear(s.a)
	s.machine.Globals(v, s.a)
	for i, x := range s.vectors {
		values, loc, factor := v[x.offset:x.offset+x.size], s.machine.Output(3*i+1), s.machine.Output(3*i+2)
		floats.Sub(values, loc)
		floats.Mul(values, x.unit)
		for row := range slices.Chunk(values, x.d) {
			for j := range row {
				row[j] = (row[j] - floats.Dot(factor[j*x.d:j*x.d+j], row[:j])) / factor[j*x.d+j]
			}
		}
	}
}

// Density is the log density of v of one of θ, with its gradient.
func (s *StandardNormal) Density(ofTheta func(gradient, theta []float64) (float64, error)) func(gradient, v []float64) (float64, error) {
	if s == nil {
		return ofTheta
	}
	return func(gradient, v []float64) (float64, error) {
		s.Theta(s.theta, v)
		value, err := ofTheta(s.of, s.theta)
		if err != nil {
			return 0, err
		}
		at := 0
		for _, x := range s.vectors {
			at += copy(s.a[at:], s.of[x.offset:x.offset+x.size])
			clear(s.of[x.offset : x.offset+x.size])
		}
		s.machine.Globals(v, s.a)
		s.machine.GlobalGradient(gradient)
		floats.Add(gradient, s.of)
		return value + s.machine.Output(3 * len(s.vectors))[0], nil
	}
}
