package dist

import (
	"math"
	"sort"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/models/graph/graphtest"
	"d3p/internal/models/support"
)

// grid is the density of unconstrained coordinates u on a product grid, for
// integrals by the trapezoidal rule after u = sinh v (for one real number
// u = sinh(sinh v³), so that heavy tails fit and a logarithmic pole at 0 is
// resolved). The rule converges geometrically
// for smooth densities on the line. Trefethen and Weideman 2014, SIAM Review 56.
type grid struct {
	u, weight []float64   // one axis
	mass      []float64   // weight times density per cell, axis 0 slowest
	x         [][]float64 // the value per cell
	axes      int
	shape     graph.Shape // of the value
	transform *support.Transform
}

// axis is one coordinate's points and weights du.
func axis(points int, limit float64, twice bool) (u, weight []float64) {
	h := 2 * limit / float64(points-1)
	for i := range points {
		v := -limit + float64(i)*h
		w := h
		if twice {
			v, w = v*v*v, 3*v*v*h
		}
		at, w := math.Sinh(v), math.Cosh(v)*w
		if twice {
			at, w = math.Sinh(at), math.Cosh(at)*w
		}
		u, weight = append(u, at), append(weight, w)
	}
	return u, weight
}

// integrate prepares the grid of a continuous density of 1, 2 or 3 free
// coordinates.
func integrate(t *testing.T, b *graph.Builder, d Density, shape graph.Shape) *grid {
	t.Helper()
	s := d.Support()
	if s.Kind == support.ClosedUnit { // its ends are outcomes
		s.Kind = support.UnitInterval
	}
	g := &grid{transform: support.TransformFor(s), shape: shape}
	free, err := g.transform.FreeShape(shape)
	if err != nil {
		t.Fatal(err)
	}
	g.axes = free.Size()
	real := d.Support().Kind == support.Real
	switch g.axes {
	case 1:
		limit := 7.2
		if real {
			limit = math.Cbrt(6.4)
		}
		g.u, g.weight = axis(40001, limit, real)
	case 2:
		g.u, g.weight = axis(201, 5, false)
	case 3:
		g.u, g.weight = axis(49, 4, false)
	default:
		t.Fatalf("%d free coordinates are too many for a grid", g.axes)
	}
	n := len(g.u)
	cells := int(math.Pow(float64(n), float64(g.axes)) + 0.5)
	rows := make([]float64, 0, cells*g.axes)
	for c := range cells {
		for a := range g.axes {
			rows = append(rows, g.u[g.index(c, a)])
		}
	}
	u := b.Reshape(b.Columns(0, graph.Dim{Name: "u", Size: g.axes}), free)
	x, logDet := g.transform.Apply(b, u, shape)
	both := graphtest.EvaluateAll(t, b, []*graph.Node{b.Add(b.Sum(d.LogDensity(b, Observed{X: x})), b.Sum(logDet)), x}, rows, g.axes)
	log, values := both[0], both[1]
	g.mass = make([]float64, cells)
	g.x = make([][]float64, cells)
	for c := range g.mass {
		if math.IsNaN(log[c]) {
			t.Fatalf("the log density at u = %v is NaN", rows[c*g.axes:(c+1)*g.axes])
		}
		g.mass[c] = math.Exp(log[c])
		for a := range g.axes {
			if g.mass[c] != 0 {
				g.mass[c] *= g.weight[g.index(c, a)]
			}
		}
		for i := range shape.Size() {
			g.x[c] = append(g.x[c], values[i*cells+c])
		}
	}
	return g
}

// index is the place of cell c on axis a.
func (g *grid) index(c, a int) int {
	for range g.axes - 1 - a {
		c /= len(g.u)
	}
	return c % len(g.u)
}

// expect is the integral of f(u, x) p.
func (g *grid) expect(f func(u, x []float64) float64) float64 {
	var s float64
	u := make([]float64, g.axes)
	for c, m := range g.mass {
		if m == 0 {
			continue
		}
		for a := range u {
			u[a] = g.u[g.index(c, a)]
		}
		s += m * f(u, g.x[c])
	}
	return s
}

// cdf is the distribution function of coordinate a given that the value is on the grid.
func (g *grid) cdf(a int) func(u float64) float64 {
	marginal := make([]float64, len(g.u))
	for c, m := range g.mass {
		marginal[g.index(c, a)] += m
	}
	// Half of a point's mass lies below it.
	cumulated := make([]float64, len(g.u))
	var below float64
	for i, m := range marginal {
		cumulated[i] = below + m/2
		below += m
	}
	for i := range cumulated {
		cumulated[i] /= below
	}
	return func(u float64) float64 {
		i := sort.SearchFloat64s(g.u, u)
		switch {
		case i == 0:
			return cumulated[0]
		case i == len(g.u):
			return cumulated[i-1]
		}
		f := (u - g.u[i-1]) / (g.u[i] - g.u[i-1])
		return cumulated[i-1] + f*(cumulated[i]-cumulated[i-1])
	}
}

// outcome is a value of a discrete distribution and its probability.
type outcome struct {
	x []float64
	p float64
}

// enumerate lists the outcomes of a discrete distribution, counts without a
// bound up to 4000.
func enumerate(t *testing.T, d *Distribution, p point) []outcome {
	t.Helper()
	b := graph.NewBuilder()
	a := p.applied(b, d)
	var rows []float64
	width := 1
	switch s := a.Support(); s.Kind {
	case support.Binary, support.ClosedUnit:
		rows = []float64{0, 1}
	case support.Category:
		for _, arg := range d.Args {
			if v, ok := p.Args[arg.Name]; ok && arg.Rank == 1 {
				levels := len(v.values)
				if arg.Name == "cutpoints" { // between levels
					levels++
				}
				for x := range levels {
					rows = append(rows, float64(x))
				}
			}
		}
	case support.Count:
		upper := 4000.0
		if s.Upper > 0 {
			upper = s.Upper
		}
		for x := 0.0; x <= upper; x++ {
			rows = append(rows, x)
		}
	case support.Counts:
		width = len(p.X.values)
		rows = compositions(nil, nil, width, support.Sum(p.X.values))
	}
	log := graphtest.Evaluate(t, b, a.LogDensity(b, Observed{X: p.column(b, d)}), rows, width)
	out := make([]outcome, len(log))
	for i, l := range log {
		out[i] = outcome{rows[i*width : (i+1)*width], math.Exp(l)}
	}
	return out
}

// compositions appends every way to write total as width counts.
func compositions(rows, prefix []float64, width int, total float64) []float64 {
	if width == 1 {
		return append(append(rows, prefix...), total)
	}
	for x := 0.0; x <= total; x++ {
		rows = compositions(rows, append(prefix[:len(prefix):len(prefix)], x), width-1, total-x)
	}
	return rows
}

// law is what a case's density says: its outcomes, a grid of it, or both.
type law struct {
	outcomes []outcome
	grid     *grid
}

// expect is the expectation of f(u, x); u is nil for discrete values.
func (l law) expect(f func(u, x []float64) float64) float64 {
	var s float64
	if l.grid != nil {
		s = l.grid.expect(f)
	}
	for _, o := range l.outcomes {
		s += o.p * f(nil, o.x)
	}
	return s
}

// TestLaws compares each density, on one grid of it, with all that the family
// says elsewhere: it is normalised, its mean is the first moment, its
// distribution functions are its integrals, and draws follow it.
func TestLaws(t *testing.T) {
	eachCase(t, func(t *testing.T, d *Distribution, p point) {
		b := graph.NewBuilder()
		a := p.applied(b, d)
		var l law
		if a.Support().Discrete() {
			l.outcomes = enumerate(t, d, p)
		}
		if !a.Support().Discrete() || a.Support().Kind == support.ClosedUnit {
			l.grid = integrate(t, b, a, graphtest.Shape(d.EventRank, len(p.X.values)))
		}
		t.Run("normalisation", func(t *testing.T) { requireNormalised(t, l, p) })
		t.Run("mean", func(t *testing.T) { requireMean(t, b, a, l, p) })
		t.Run("distribution functions", func(t *testing.T) { requireDistributionFunctions(t, b, a, l, p) })
		t.Run("sampler", func(t *testing.T) { requireSampler(t, a, l, p) })
	})
}

// Every density integrates, or sums up, to 1. The grids' errors are far below
// the tolerances; kinks and jumps of densities set those in one dimension.
func requireNormalised(t *testing.T, l law, p point) {
	tolerance := 1e-9
	if l.grid != nil {
		tolerance = map[int]float64{1: p.integral, 2: 1e-6, 3: 1e-3}[l.grid.axes]
	}
	if total := l.expect(func(_, _ []float64) float64 { return 1 }); !graphtest.Near(total, 1, tolerance) {
		t.Errorf("the total probability is %.12g", total)
	}
}

// Mean is the first moment, element by element.
func requireMean(t *testing.T, b *graph.Builder, a Applied, l law, p point) {
	node := a.Mean(b)
	if node == nil {
		t.Skip("has no mean")
	}
	shape := graphtest.Shape(a.EventRank, len(p.X.values))
	got := graphtest.Evaluate(t, b, b.Expand(node, shape), []float64{0}, 1)
	for i := range shape.Size() {
		if want := l.expect(func(_, x []float64) float64 { return x[i] }); !graphtest.Near(got[i], want, p.integral) {
			t.Errorf("element %d of the mean is %.9g, the first moment %.9g", i, got[i], want)
		}
	}
}

// LogCDF and LogCCDF are the integrals, or sums, of the density, on both sides.
func requireDistributionFunctions(t *testing.T, b *graph.Builder, a Applied, l law, p point) {
	d := a.Distribution
	if d.LogCDF == nil || d.LogCCDF == nil {
		t.Skip("has no distribution function")
	}
	var rows, want []float64
	total := 0.0
	for _, o := range l.outcomes {
		total += o.p
		rows, want = append(rows, o.x[0]), append(want, total)
	}
	if g := l.grid; g != nil {
		cdf := g.cdf(0)
		for i := 0; i < len(g.u); i += 50 {
			if x := g.x[i][0]; cdf(g.u[i]) > p.integral && cdf(g.u[i]) < 1-p.integral {
				rows, want = append(rows, x), append(want, cdf(g.u[i]))
			}
		}
	}
	if len(rows) < 2 {
		t.Fatalf("%d points", len(rows))
	}
	tails := graphtest.EvaluateAll(t, b, []*graph.Node{d.LogCDF(b, b.Column(0), a.Args), d.LogCCDF(b, b.Column(0), a.Args)}, rows, 1)
	for i, x := range rows {
		below, above := math.Exp(tails[0][i]), math.Exp(tails[1][i])
		if !graphtest.Near(below, want[i], p.integral) || !graphtest.Near(above, 1-want[i], p.integral) {
			t.Errorf("at %g: P(X<=x) = %.9g, P(X>x) = %.9g, the integral is %.9g", x, below, above, want[i])
		}
	}
}
