package dist

import (
	"fmt"
	"math"
	"testing"

	G "gorgonia.org/gorgonia"

	"d3p/internal/models/graph"
	"d3p/internal/models/graph/graphtest"
)

// Gorgonia is an independent second opinion on gradients: every density is
// written again, in scalars and from its textbook form, and differentiated by
// Gorgonia's Grad. One graph is built for each case, because a second Grad on
// one graph is wrong, and not in parallel, because building two graphs at once
// is a data race.

type node = *G.Node

// oracle builds scalar expressions; a mistake fails the test.
type oracle struct {
	t *testing.T
	g *G.ExprGraph
}

func (o oracle) must(n node, err error) node {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
	return n
}

func (o oracle) c(v float64) node             { return G.NewConstant(v) }
func (o oracle) sub(x, y node) node           { return o.must(G.Sub(x, y)) }
func (o oracle) div(x, y node) node           { return o.must(G.HadamardDiv(x, y)) }
func (o oracle) exp(x node) node              { return o.must(G.Exp(x)) }
func (o oracle) log(x node) node              { return o.must(G.Log(x)) }
func (o oracle) square(x node) node           { return o.must(G.Square(x)) }
func (o oracle) times(v float64, x node) node { return o.must(G.HadamardProd(o.c(v), x)) }
func (o oracle) plus(v float64, x node) node  { return o.must(G.Add(o.c(v), x)) }

func (o oracle) add(xs ...node) node {
	s := xs[0]
	for _, x := range xs[1:] {
		s = o.must(G.Add(s, x))
	}
	return s
}

func (o oracle) mul(xs ...node) node {
	s := xs[0]
	for _, x := range xs[1:] {
		s = o.must(G.HadamardProd(s, x))
	}
	return s
}

// sigmoid is 1/(1+exp(-x)) for moderate x.
func (o oracle) sigmoid(x node) node { return o.div(o.c(1), o.plus(1, o.exp(o.times(-1, x)))) }

// lgamma is Stirling's series at x+9, shifted down by the recurrence; its
// derivative is good to 1e-12 for x > 0.
func (o oracle) lgamma(x node) node {
	y := o.plus(9, x)
	s := o.add(o.mul(o.plus(-0.5, y), o.log(y)), o.times(-1, y))
	r := o.div(o.c(1), y)
	r2 := o.square(r)
	tail := o.mul(r, o.plus(1./12, o.mul(r2, o.plus(-1./360, o.mul(r2, o.plus(1./1260, o.times(-1./1680, r2)))))))
	s = o.add(s, tail)
	for i := range 9 {
		s = o.sub(s, o.log(o.plus(float64(i), x)))
	}
	return o.plus(0.5*math.Log(2*math.Pi), s)
}

func (o oracle) normal(x, loc, scale node) node {
	z := o.div(o.sub(x, loc), scale)
	return o.plus(-0.5*math.Log(2*math.Pi), o.sub(o.times(-0.5, o.square(z)), o.log(scale)))
}

func (o oracle) cauchy(x, loc, scale node) node {
	z := o.div(o.sub(x, loc), scale)
	return o.times(-1, o.log(o.times(math.Pi, o.mul(scale, o.plus(1, o.square(z))))))
}

func (o oracle) student(x, df, loc, scale node) node {
	z := o.div(o.sub(x, loc), scale)
	half := o.times(0.5, o.plus(1, df))
	kernel := o.mul(half, o.log(o.plus(1, o.div(o.square(z), df))))
	constant := o.sub(o.lgamma(half), o.lgamma(o.times(0.5, df)))
	return o.sub(o.sub(constant, o.log(scale)), o.add(o.times(0.5, o.log(o.times(math.Pi, df))), kernel))
}

func (o oracle) gammaDensity(x, shape, rate node) node {
	return o.add(o.mul(shape, o.log(rate)), o.times(-1, o.lgamma(shape)), o.mul(o.plus(-1, shape), o.log(x)), o.times(-1, o.mul(rate, x)))
}

// ordered is the difference of a distribution function at the ends of a level.
func (o oracle) ordered(a map[string][]node, at float64, cdf func(node) node) node {
	cuts, level := a["cutpoints"], int(at)
	above, below := o.c(1), o.c(0)
	if level < len(cuts) {
		above = cdf(o.sub(cuts[level], a["eta"][0]))
	}
	if level > 0 {
		below = cdf(o.sub(cuts[level-1], a["eta"][0]))
	}
	return o.log(o.sub(above, below))
}

// normalCDF is Φ by its power series, for |z| < 6: Φ(z) = 1/2 + φ(z) Σ z^(2n+1)/(2n+1)!!.
func (o oracle) normalCDF(z node) node {
	sum, term := z, z
	for n := range 60 {
		term = o.times(1/float64(2*n+3), o.mul(term, o.square(z)))
		sum = o.add(sum, term)
	}
	return o.plus(0.5, o.times(1/math.Sqrt(2*math.Pi), o.mul(sum, o.exp(o.times(-0.5, o.square(z))))))
}

// success is probs or sigmoid(logits).
func (o oracle) success(a map[string][]node) node {
	if p, ok := a["probs"]; ok {
		return p[0]
	}
	return o.sigmoid(a["logits"][0])
}

// levels are probs or softmax(logits).
func (o oracle) levels(a map[string][]node) []node {
	if p, ok := a["probs"]; ok {
		return p
	}
	var e []node
	for _, l := range a["logits"] {
		e = append(e, o.exp(l))
	}
	total := o.add(e...)
	for i := range e {
		e[i] = o.div(e[i], total)
	}
	return e
}

// positive is an argument or the exponential of its alternative.
func (o oracle) positive(a map[string][]node, name, log string) node {
	if v, ok := a[name]; ok {
		return v[0]
	}
	return o.exp(a[log][0])
}

func (o oracle) poisson(a map[string][]node, x node) node {
	r := o.positive(a, "rate", "log_rate")
	return o.sub(o.sub(o.mul(x, o.log(r)), r), o.lgamma(o.plus(1, x)))
}

func (o oracle) negativeBinomial(a map[string][]node, x node) node {
	m, phi := o.positive(a, "mean", "log_mean"), a["phi"][0]
	total := o.add(m, phi)
	return o.add(o.lgamma(o.add(x, phi)), o.times(-1, o.lgamma(phi)), o.times(-1, o.lgamma(o.plus(1, x))),
		o.mul(x, o.log(o.div(m, total))), o.mul(phi, o.log(o.div(phi, total))))
}

// gate is the probability of an extra zero.
func (o oracle) gate(a map[string][]node) node {
	if p, ok := a["zi"]; ok {
		return p[0]
	}
	return o.sigmoid(a["zi_logits"][0])
}

func (o oracle) zeroInflated(a map[string][]node, at float64, base node) node {
	p := o.gate(a)
	s := o.mul(o.sub(o.c(1), p), o.exp(base))
	if at == 0 {
		s = o.add(s, p)
	}
	return o.log(s)
}

func (o oracle) hurdle(a map[string][]node, at float64, base, baseAtZero node) node {
	p := o.gate(a)
	if at == 0 {
		return o.log(p)
	}
	return o.sub(o.add(o.log(o.sub(o.c(1), p)), base), o.log(o.sub(o.c(1), o.exp(baseAtZero))))
}

// gradients are Gorgonia's, in the order of the arguments, then of x if it is
// continuous.
func (o oracle) gradients(d *Distribution, p point, continuous bool) []float64 {
	write, ok := oracles[d.Name]
	if !ok {
		o.t.Fatalf("%s has no second opinion: add it to oracles", d.Name)
	}
	scalar := func(name string, i int, v float64) node {
		return G.NewScalar(o.g, G.Float64, G.WithName(fmt.Sprintf("%s%d", name, i)), G.WithValue(v))
	}
	args := map[string][]node{}
	var wrt, x []node
	for _, a := range d.Args {
		for i, v := range p.Args[a.Name].values {
			args[a.Name] = append(args[a.Name], scalar(a.Name, i, v))
		}
		wrt = append(wrt, args[a.Name]...)
	}
	for i, v := range p.X.values {
		x = append(x, scalar("x", i, v))
	}
	if continuous {
		wrt = append(wrt, x...)
	}
	cost := write(o, args, x, p.X.values)
	for _, n := range wrt { // Grad refuses what the cost does not depend on
		cost = o.add(cost, o.times(0, n))
	}
	grads, err := G.Grad(cost, wrt...)
	if err != nil {
		o.t.Fatal(err)
	}
	vm := G.NewTapeMachine(o.g)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		o.t.Fatal(err)
	}
	var out []float64
	for _, g := range grads {
		out = append(out, g.Value().Data().(float64))
	}
	return out
}

func TestGradientsAgainstGorgonia(t *testing.T) {
	eachCase(t, func(t *testing.T, d *Distribution, p point) {
		for _, name := range []string{"logits", "cutpoints"} {
			if v := p.Args[name].values; len(v) > 0 && math.Abs(v[0]) >= 30 && d.Name != "categorical" {
				t.Skip("the textbook form of the density cancels there")
			}
		}
		b := graph.NewBuilder()
		var theta []float64
		leaf := func(name string, s graph.Shape, v []float64) *graph.Node {
			theta = append(theta, v...)
			return b.Param(name, s)
		}
		args := p.nodes(b, d, leaf)
		x := p.column(b, d)
		continuous := !p.applied(b, d).Support().Discrete()
		if continuous {
			x = leaf("x", graphtest.Shape(d.EventRank, len(p.X.values)), p.X.values)
		}
		tape, err := graph.Compile(b, Apply(b, d, args).LogDensity(b, Observed{X: x}), nil, graph.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := graph.NewMachine(tape, 1)
		m.Globals(theta, nil)
		m.Records(p.X.values, len(p.X.values), 1, nil)
		got := make([]float64, tape.P)
		m.Gradient(0, got)
		for i, want := range (oracle{t, G.NewGraph()}).gradients(d, p, continuous) {
			if !graphtest.Near(got[i], want, 1e-8) {
				t.Errorf("element %d of the gradient is %.12g, Gorgonia has %.12g", i, got[i], want)
			}
		}
	})
}
