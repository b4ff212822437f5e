package dist

import (
	"fmt"
	"math"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"d3p/internal/models/graph"
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

// oracles holds one density for every line of Table. at are the numbers of x.
var oracles = map[string]func(o oracle, a map[string][]node, x []node, at []float64) node{
	"bernoulli": func(o oracle, a map[string][]node, _ []node, at []float64) node {
		p := o.success(a)
		if at[0] == 1 {
			return o.log(p)
		}
		return o.log(o.sub(o.c(1), p))
	},
	"beta": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		var p, q node
		if m, ok := a["mean"]; ok {
			p = o.mul(m[0], a["kappa"][0])
			q = o.mul(o.sub(o.c(1), m[0]), a["kappa"][0])
		} else {
			p, q = a["alpha"][0], a["beta"][0]
		}
		return o.add(o.lgamma(o.add(p, q)), o.times(-1, o.lgamma(p)), o.times(-1, o.lgamma(q)),
			o.mul(o.plus(-1, p), o.log(x[0])), o.mul(o.plus(-1, q), o.log(o.sub(o.c(1), x[0]))))
	},
	"binomial": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		p, n := o.success(a), a["trials"][0]
		failures := o.sub(n, x[0])
		return o.add(o.lgamma(o.plus(1, n)), o.times(-1, o.lgamma(o.plus(1, x[0]))), o.times(-1, o.lgamma(o.plus(1, failures))),
			o.mul(x[0], o.log(p)), o.mul(failures, o.log(o.sub(o.c(1), p))))
	},
	"categorical": func(o oracle, a map[string][]node, _ []node, at []float64) node {
		return o.log(o.levels(a)[int(at[0])])
	},
	"cauchy": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.cauchy(x[0], a["loc"][0], a["scale"][0])
	},
	"dirichlet": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		c := slices.Clone(a["concentration"])
		for len(c) < len(x) {
			c = append(c, c[0])
		}
		s := o.lgamma(o.add(c...))
		for k := range x {
			s = o.add(s, o.times(-1, o.lgamma(c[k])), o.mul(o.plus(-1, c[k]), o.log(x[k])))
		}
		return s
	},
	"exponential": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.sub(o.log(a["rate"][0]), o.mul(a["rate"][0], x[0]))
	},
	"gamma": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.gammaDensity(x[0], a["shape"][0], a["rate"][0])
	},
	"half_cauchy": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.plus(math.Ln2, o.cauchy(x[0], o.c(0), a["scale"][0]))
	},
	"half_normal": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.plus(math.Ln2, o.normal(x[0], o.c(0), a["scale"][0]))
	},
	"half_student_t": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.plus(math.Ln2, o.student(x[0], a["df"][0], o.c(0), a["scale"][0]))
	},
	"horseshoe": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		// One vector over the nodes; scalars broadcast.
		var lambda, weight []float64
		for t := -16.0; t <= 16; t += 0.25 {
			lambda = append(lambda, math.Exp(t))
			weight = append(weight, 0.25/math.Pi/math.Cosh(t))
		}
		constant := func(v []float64) node {
			return G.NewConstant(tensor.New(tensor.WithShape(len(v)), tensor.WithBacking(v)))
		}
		local := o.mul(a["scale"][0], constant(lambda))
		scale := o.div(local, o.exp(o.times(0.5, o.log(o.plus(1, o.square(o.div(local, a["slab"][0])))))))
		s := o.must(G.Sum(o.mul(constant(weight), o.exp(o.normal(x[0], o.c(0), scale)))))
		return o.log(s)
	},
	"hurdle_negative_binomial": func(o oracle, a map[string][]node, x []node, at []float64) node {
		return o.hurdle(a, at[0], o.negativeBinomial(a, x[0]), o.negativeBinomial(a, o.times(0, x[0])))
	},
	"hurdle_poisson": func(o oracle, a map[string][]node, x []node, at []float64) node {
		return o.hurdle(a, at[0], o.poisson(a, x[0]), o.poisson(a, o.times(0, x[0])))
	},
	"inverse_gamma": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		// The density of y = 1/x, and dy/dx = 1/x².
		return o.sub(o.gammaDensity(o.div(o.c(1), x[0]), a["shape"][0], a["scale"][0]), o.times(2, o.log(x[0])))
	},
	"laplace": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		z := o.div(o.sub(x[0], a["loc"][0]), a["scale"][0])
		return o.times(-1, o.add(o.must(G.Abs(z)), o.log(o.times(2, a["scale"][0]))))
	},
	"lkj_cholesky": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		d, eta := side(len(x)), a["concentration"][0]
		s := o.times(0, eta)
		for k := 1; k < d; k++ {
			// A beta(b, b) on (-1, 1) for each partial correlation of tree k.
			b := o.plus(0.5*float64(d-1-k), eta)
			logBeta := o.sub(o.times(2, o.lgamma(b)), o.lgamma(o.times(2, b)))
			width := o.times(math.Ln2, o.plus(-1, o.times(2, b)))
			s = o.sub(s, o.times(float64(d-k), o.add(width, logBeta)))
			s = o.add(s, o.mul(o.plus(float64(d-k-3), o.times(2, eta)), o.log(x[k*d+k])))
		}
		return s
	},
	"log_normal": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		l := o.log(x[0])
		return o.sub(o.normal(l, a["loc"][0], a["scale"][0]), l)
	},
	"multinomial": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		s := o.lgamma(o.plus(1, a["trials"][0]))
		for k, p := range o.levels(a) {
			s = o.add(s, o.mul(x[k], o.log(p)), o.times(-1, o.lgamma(o.plus(1, x[k]))))
		}
		return s
	},
	"mvn": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		L := a["cholesky"]
		z0 := o.div(o.sub(x[0], a["loc"][0]), L[0])
		z1 := o.div(o.sub(o.sub(x[1], a["loc"][len(a["loc"])-1]), o.mul(L[2], z0)), L[3])
		return o.plus(-math.Log(2*math.Pi), o.sub(o.times(-0.5, o.add(o.square(z0), o.square(z1))), o.log(o.mul(L[0], L[3]))))
	},
	"negative_binomial": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.negativeBinomial(a, x[0])
	},
	"normal": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.normal(x[0], a["loc"][0], a["scale"][0])
	},
	"ordered_logistic": func(o oracle, a map[string][]node, _ []node, at []float64) node {
		cuts, level := a["cutpoints"], int(at[0])
		above, below := o.c(1), o.c(0)
		if level < len(cuts) {
			above = o.sigmoid(o.sub(cuts[level], a["eta"][0]))
		}
		if level > 0 {
			below = o.sigmoid(o.sub(cuts[level-1], a["eta"][0]))
		}
		return o.log(o.sub(above, below))
	},
	"ordered_normal": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		var s []node
		for _, v := range x {
			s = append(s, o.normal(v, a["loc"][0], a["scale"][0]))
		}
		return o.add(s...)
	},
	"piecewise_exponential": func(o oracle, a map[string][]node, x []node, at []float64) node {
		hazard, total, start, open := o.times(0, x[0]), o.times(0, x[0]), o.times(0, x[0]), true
		for j, l := range a["log_hazard"] {
			last := j == len(a["cuts"]) || at[0] <= a["cuts"][j].Value().Data().(float64)
			end := x[0]
			if !last {
				end = a["cuts"][j]
			}
			if !open {
				continue
			}
			total = o.add(total, o.mul(o.exp(l), o.sub(end, start)))
			if last {
				hazard, open = l, false
			}
			start = end
		}
		return o.sub(hazard, total)
	},
	"poisson": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.poisson(a, x[0])
	},
	"student_t": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		return o.student(x[0], a["df"][0], a["loc"][0], a["scale"][0])
	},
	"uniform": func(o oracle, a map[string][]node, _ []node, _ []float64) node {
		return o.times(-1, o.log(o.sub(a["upper"][0], a["lower"][0])))
	},
	"weibull": func(o oracle, a map[string][]node, x []node, _ []float64) node {
		z := o.log(o.div(x[0], o.positive(a, "scale", "log_scale")))
		k := a["shape"][0]
		return o.sub(o.sub(o.add(o.log(k), o.mul(k, z)), o.log(x[0])), o.exp(o.mul(k, z)))
	},
	"zero_inflated_negative_binomial": func(o oracle, a map[string][]node, x []node, at []float64) node {
		return o.zeroInflated(a, at[0], o.negativeBinomial(a, x[0]))
	},
	"zero_inflated_poisson": func(o oracle, a map[string][]node, x []node, at []float64) node {
		return o.zeroInflated(a, at[0], o.poisson(a, x[0]))
	},
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
			x = leaf("x", shapeOf(d.EventRank, len(p.X.values)), p.X.values)
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
			if !near(got[i], want, 1e-8) {
				t.Errorf("element %d of the gradient is %.12g, Gorgonia has %.12g", i, got[i], want)
			}
		}
	})
}
