package models

import (
	"math"
	"slices"

	"d3p/internal/models/core"
	"d3p/internal/models/dist"
	"d3p/internal/models/dist/family"
	"d3p/internal/models/expr"
	"d3p/internal/models/graph"
	"d3p/internal/models/guide"
	"d3p/internal/models/spec"
	"d3p/internal/models/support"
	"d3p/internal/spell"
)

// Words in a guide that are no free parameters.
const (
	guideOfPrior = "prior"
	startZeros   = "zeros"
	startOnes    = "ones"
)

// ownScale is the standard deviation at which the normal of a parameter starts
// that a custom guide does not mention.
const ownScale = 0.1

// CustomGuide is a new guide with the model file's own law; nil if the file has none. Its λ
// are the free parameters in order of declaration.
func (m *Model) CustomGuide() guide.Guide {
	if m.custom == nil {
		return nil
	}
	return m.custom.Guide()
}

// guideBuild is the graph of a law in the making. Its parameters are θ, then
// the free ones.
type guideBuild struct {
	*build
	start       []float64
	place       map[*graph.Node]int  // of a free parameter in λ
	coordinates []family.Coordinates // of every parameter of the model, in order
	located     []int                // of every number in θ: the free parameter that is its location, or -1
}

// customGuide checks and compiles a guide of type custom; nil for other types
// and after mistakes.
func (c *compiler) customGuide() *guide.Tapes {
	own := &c.spec.Guide
	if c.spec.Settings.Word("guide") != guide.CustomName {
		return nil
	}
	mistakes := len(c.errs)
	g := &guideBuild{build: &build{c: c, b: graph.NewBuilder(), env: c.environment()}, place: make(map[*graph.Node]int)}
	g.scales()
	g.tables()
	theta := make([]*graph.Node, len(c.params))
	for i := range c.params {
		theta[i] = g.b.Param(c.params[i].Name, c.priors[i].free)
	}
	for _, d := range own.Free {
		g.free(d)
	}
	laws := g.laws(own)
	for i := range c.params {
		if !c.priors[i].broken {
			g.parameter(i, theta[i], laws[c.params[i].Name])
		}
	}
	if len(c.errs) > mistakes || len(g.located) < c.size {
		return nil
	}
	return g.compile()
}

// free declares a free parameter, `alpha: zeros [k]`.
func (g *guideBuild) free(d *core.Definition) {
	name := d.Name.V
	if _, twice := g.env.Values[name]; twice {
		g.c.errs.Add(d.Name.At, "give it another name", "%s is declared already", name)
		return
	}
	e, sign := d.Expr, 1.0
	if minus, ok := e.(*expr.Unary); ok && minus.Op == "-" { // brackets bind closer
		e, sign = minus.X, -1
	}
	value, dims, errs := expr.SplitDims(e)
	shape, more := g.env.Shape(dims)
	start := 0.0
	if word, ok := value.(*expr.Name); ok && (word.ID == startZeros || word.ID == startOnes) {
		if word.ID == startOnes {
			start = 1
		}
	} else if n, bad := expr.Lower(value, &expr.Env{}, g.b); len(bad) > 0 {
		more.Add(value.Pos(), "write zeros, ones or a number", "a free parameter cannot start from %s", value)
	} else {
		start, _ = n.Value()
	}
	g.c.errs = append(append(g.c.errs, errs...), more...)
	g.leaf(name, shape, sign*start)
}

// leaf is a new free parameter.
func (g *guideBuild) leaf(name string, shape graph.Shape, start float64) *graph.Node {
	n := g.b.Param("free "+name, shape)
	g.place[n] = len(g.start)
	for range shape.Size() {
		g.start = append(g.start, start)
	}
	g.env.Values[name] = expr.Value{Node: n, Support: &support.Support{Kind: support.Real}}
	return n
}

// laws lists the definitions under params by the parameter that they guide,
// and reports free parameters that none of them uses.
func (g *guideBuild) laws(own *spec.Guide) map[string]*core.Definition {
	laws, used := make(map[string]*core.Definition), make(map[string]bool)
	var names []string
	for i := range g.c.params {
		names = append(names, g.c.params[i].Name)
	}
	for _, d := range own.Params {
		if !slices.Contains(names, d.Name.V) {
			g.c.errs.Add(d.Name.At, spell.Question(d.Name.V, names, ""), "no parameter %s to guide", d.Name.V)
		}
		laws[d.Name.V] = d
		for _, name := range expr.Names(d.Expr) {
			used[name] = true
		}
	}
	for _, d := range own.Free {
		if !used[d.Name.V] {
			g.c.errs.Add(d.Name.At, "use it under params, or remove it", "nothing uses the free parameter %s", d.Name.V)
		}
	}
	return laws
}

// parameter adds the law of one parameter: as written, its prior, or a normal
// of its unconstrained numbers when the guide does not mention it.
func (g *guideBuild) parameter(i int, u *graph.Node, law *core.Definition) {
	p, name := &g.c.priors[i], g.c.params[i].Name
	if law == nil {
		normal, _ := dist.Lookup("normal")
		loc, logScale := g.leaf("location of "+name, p.free, 0), g.leaf("log scale of "+name, p.free, math.Log(ownScale))
		g.c.graphError(g.add(dist.Apply(g.b, normal, []*graph.Node{loc, g.b.Exp(logScale)}), u, p.free))
		return
	}
	e := law.Expr
	if word, ok := e.(*expr.Name); ok && word.ID == guideOfPrior {
		e = p.distribution
	}
	density, errs := expr.LowerDensity(e, g.env, g.b)
	switch {
	case e != law.Expr && (len(errs) > 0 || len(p.elements) > 0):
		g.c.errs.Add(law.Text.At, "write a distribution of free parameters", "the prior of %s is not one distribution of constants", name)
		return
	case len(errs) > 0:
		g.c.errs = append(g.c.errs, errs...)
		return
	case density.Support() != p.support:
		g.c.errs.Add(law.Text.At, "", "the guide of %s must be %s, not %s", name, p.support, density.Support())
		return
	}
	err := density.Fits(p.shape)
	if err == nil {
		err = g.add(density, u, p.shape)
	}
	if err != nil {
		g.c.errs.Add(law.Text.At, "leave "+name+" out: it then has a normal of its own", "%v", err)
	}
}

// add appends the law of the unconstrained numbers u behind a value.
func (g *guideBuild) add(density dist.Density, u *graph.Node, shape graph.Shape) error {
	laws, err := dist.CoordinatesOf(g.b, density, u, shape)
	if err != nil {
		return err
	}
	g.coordinates = append(g.coordinates, laws)
	g.locate(density, u)
	return nil
}

// locate notes which free parameters are the locations of the numbers u.
func (g *guideBuild) locate(density dist.Density, u *graph.Node) {
	at := -1
	if a, ok := density.(dist.Applied); ok && support.TransformFor(a.Support()).Name == "identity" {
		for i, arg := range a.Distribution.Args {
			if place, free := g.place[a.Args[i]]; free && arg.Name == "loc" && slices.Equal(a.Args[i].Shape(), u.Shape()) {
				at = place
			}
		}
	}
	for range u.Size() {
		g.located = append(g.located, at)
		if at >= 0 {
			at++
		}
	}
}

// compile makes the tapes.
func (g *guideBuild) compile() *guide.Tapes {
	var density, tails, weighted []*graph.Node
	for i, laws := range g.coordinates {
		name, shape := g.c.params[i].Name, laws.LogBelow.Shape()
		upper, weight := g.b.Aux("upper "+name, shape, false), g.b.Aux("weight "+name, shape, false)
		tail := g.b.Where(upper, laws.LogAbove, laws.LogBelow)
		tails, weighted = append(tails, tail), append(weighted, sumAll(g.b, g.b.Mul(weight, tail)))
		density = append(density, sumAll(g.b, laws.LogDensity))
	}
	out := &guide.Tapes{Start: g.start, Located: g.located}
	var err error
	out.Density, err = graph.Compile(g.b, g.b.AddAll(density...), nil, graph.Options{})
	g.c.graphError(err)
	out.Weighted, err = graph.Compile(g.b, g.b.AddAll(weighted...), nil, graph.Options{GradientOnly: true})
	g.c.graphError(err)
	out.Tails, err = graph.Compile(g.b, nil, tails, graph.Options{})
	g.c.graphError(err)
	return out
}
