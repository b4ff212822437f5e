package posterior

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/noise"
)

// The standard deviation of the hospitals' effects is the only scale, and its effects
// are theirs.
func TestScalesAreFound(t *testing.T) {
	m, theta, q := cohort(t)
	list := findScales(m, q, theta)
	sd, z := param(t, m, "sd_hospital"), param(t, m, "z_hospital")
	if len(list) != 1 || list[0].at != sd.Offset || len(list[0].effects) != z.Size || list[0].effects[0] != z.Offset {
		t.Errorf("scales %+v, want that of the %d effects from %d on, at %d", list, z.Size, z.Offset, sd.Offset)
	}
}

// scale.estimate finds the standard deviation of measured effects from any fitted
// value, and keeps the products and their information. 11 effects drawn with standard
// deviation 0.3 and measured with 0.05 determine log sd to about 1/√(2·11); 1 of 10⁴
// draws misses it by 4 times that.
func TestScaleEstimate(t *testing.T) {
	m, _, _ := cohort(t)
	prior := m.NewPriorDensity()
	sd, z := param(t, m, "sd_hospital"), param(t, m, "z_hospital")
	effects := make([]float64, z.Size)
	noise.Insecure(4).Stream(noise.Initialisation).Normals(effects)
	s := scale{at: sd.Offset}
	for j := range z.Size {
		s.effects = append(s.effects, z.Offset+j)
	}
	const information = 1 / (0.05 * 0.05) // of an effect on the scale of the linear predictor
	for _, at := range []float64{0.1, 0.3, 1.5} {
		post := &Posterior{Mean: make([]float64, m.P), LogSD: make([]float64, m.P)}
		post.Mean[sd.Offset] = math.Log(at)
		c := curvatureOf(m.P, nil)
		c.Totals[0], c.Totals[1] = 1, 1e-12
		h, v := make([]float64, m.P), make([]float64, m.P)
		for i, j := range s.effects {
			h[j], v[j] = information*at*at, 1
			c.Place[j] = 0.3 * effects[i] / at
		}
		got := s.estimate(post, prior, c, h, v, offsets{})
		found := math.Exp(post.Mean[sd.Offset])
		if math.Abs(math.Log(found/0.3)) > 4/math.Sqrt(22) {
			t.Errorf("fitted at %g: sd %g, want 0.3", at, found)
		}
		if got.total < 1.0/30 || got.total > 1.0/14 || got.exact > got.total {
			t.Errorf("fitted at %g: variance of log sd %g with the noise, %g without, want about 1/22", at, got.total, got.exact)
		}
		for i, j := range s.effects {
			if r := found * post.Mean[j]; math.Abs(r-0.3*effects[i]) > 0.02 {
				t.Errorf("fitted at %g: effect %d is %g, want %g", at, i, r, 0.3*effects[i])
			}
			if want := information * found * found; math.Abs(h[j]-want) > 1e-9*want {
				t.Errorf("fitted at %g: information %g, want %g", at, h[j], want)
			}
		}
	}
}

// The intercept's variance includes the uncertainty of the sd of 30 groups. With a known
// sd it would be 1/Σ 1/(1/w + sd²).
func TestUnknownScaleWidens(t *testing.T) {
	const groups, w, sd, spread = 30, 40.0, 0.4, 0.6
	h, prior := mat.NewSymDense(groups+1, nil), mat.NewSymDense(groups+1, nil)
	h.SetSym(0, 0, groups*w)
	free, effects := []int{0}, []int{}
	for g := 1; g <= groups; g++ {
		h.SetSym(0, g, w*sd)
		h.SetSym(g, g, w*sd*sd)
		prior.SetSym(g, g, 1)
		free, effects = append(free, g), append(effects, g)
	}
	known := func(sd float64) float64 { return (1/w + sd*sd) / groups }
	x := widening{free: free, prior: prior, ratio: slices.Repeat([]float64{1}, groups+1), noise: 1e-9}
	for _, variance := range []float64{0, spread * spread} {
		x.scales = []scaleEstimate{{scale: scale{effects: effects}, exact: variance, total: variance}}
		exact, total := x.covariances(h, h)
		want, mass := 0.0, 0.0
		for z := -6.0; z <= 6; z += 0.01 {
			p := math.Exp(-z * z / 2)
			want, mass = want+p*known(sd*math.Exp(z*math.Sqrt(variance))), mass+p
		}
		for _, got := range []float64{exact.At(0, 0), total.At(0, 0)} {
			if want := want / mass; math.Abs(got-want) > 0.06*want {
				t.Errorf("log sd with variance %g: the intercept has variance %g, want %g", variance, got, want)
			}
		}
	}
}

func TestIntegrate(t *testing.T) {
	mean, variance := integrate(func(t float64) float64 { return -(t - 1.3) * (t - 1.3) / (2 * 0.04) })
	if math.Abs(mean-1.3) > 1e-9 || math.Abs(variance-0.04) > 1e-9 {
		t.Errorf("mean %g and variance %g, want 1.3 and 0.04", mean, variance)
	}
}

// Along a direction without gradients the mean ends where the prior is largest.
func TestSettleNull(t *testing.T) {
	m, theta, q := cohort(t)
	prior := m.NewPriorDensity()
	free := realValued(m)
	null := q.of(free).null()
	post := &Posterior{Mean: slices.Clone(theta), LogSD: make([]float64, m.P)}
	for i, j := range free {
		post.Mean[j] += 1.7 * null.At(i, 0) / null.At(0, 0)
	}
	settleNull(post, prior, free, null)
	gradient := make([]float64, m.P)
	prior.Gradient(gradient, post.Mean)
	slope, size := 0.0, 0.0
	for i, j := range free {
		slope += gradient[j] * null.At(i, 0)
		size += math.Abs(gradient[j] * null.At(i, 0))
	}
	if math.Abs(slope) > 1e-6*size {
		t.Errorf("the prior still rises along a direction without gradients: %g of %g", slope, size)
	}
}

// Beside the effects of groups all cutpoints move together, as an intercept does: among the
// real-valued coordinates is a direction without gradients, in which the effects rise as
// far as the lowest cutpoint.
func TestCutpointsBesideGroups(t *testing.T) {
	m := modelstest.Compile(t, "ordinal.yaml", ordinal)
	theta := make([]float64, m.P)
	m.NewPriorSampler().Draw(theta, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
	cuts, sd, z := param(t, m, "thresholds"), param(t, m, "sd_ward"), param(t, m, "z_ward")
	free := realValued(m)
	null := newScores(m, theta, m.DeclaredLaw(), noise.NewRandom(noise.Public(2).Stream(noise.Simulation))).of(free).null()
	if null == nil {
		t.Fatal("no direction without gradients")
	}
	cut := null.At(slices.Index(free, cuts.Offset), 0)
	for j := z.Offset; j < z.Offset+z.Size; j++ {
		if rise := null.At(slices.Index(free, j), 0) * math.Exp(theta[sd.Offset]); math.Abs(rise-cut) > 1e-6*math.Abs(cut) {
			t.Errorf("the effect of ward %d rises by %g, the cutpoint by %g", j-z.Offset, rise, cut)
		}
	}
}

const ordinal = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    ward: {type: category, levels: [a, b, c, d]}
    y: {type: ordinal, levels: [low, middle, high]}
model:
  formula: y ~ 1 + (1 | ward)
  family: cumulative
  thresholds: ordered_normal(0, 2)
  priors:
    sd: half_normal(1)
`

// Coefficients are the intercept and the slopes, not the effects of levels.
func TestCoefficients(t *testing.T) {
	m, theta, q := cohort(t)
	list := realValuedAlone(m, findScales(m, q, theta))
	for _, p := range m.Params {
		want := p.Name == "Intercept" || p.Name == "b"
		for j := p.Offset; j < p.Offset+p.Size; j++ {
			if list[j] != want {
				t.Errorf("%s: %v, want %v", p.Name, list[j], want)
			}
		}
	}
}

// A scale is found where one effect has no record at all.
func TestScaleOfRareGroups(t *testing.T) {
	theta := []float64{0.5, 0.3, -0.2, 0.7, -1.1, 0.4, 0.9}
	effects := []int{1, 2, 3, 4, 5, 6} // the last one is empty
	q := scores{latent: 7, records: 2000}
	rng := noise.NewRandom(noise.Public(3).Stream(noise.Simulation))
	for r := range q.records {
		row, g := make([]float64, q.latent), 1+r%5
		row[g] = rng.Normal()
		row[0] = theta[g] * row[g]
		q.gradients = append(q.gradients, row...)
	}
	if !q.scales(theta, 0, effects) {
		t.Error("the scale is not found")
	}
	q.gradients[0] += 1
	if q.scales(theta, 0, effects) {
		t.Errorf("what has a gradient of its own is a scale")
	}
}

// Effects have the scale of their label, however many groups there are, and next to 0, too.
func TestScalesOfManyEffects(t *testing.T) {
	groups := make([]string, 40)
	for g := range groups {
		groups[g] = fmt.Sprint("w", g)
	}
	m := modelstest.Compile(t, "wards.yaml", strings.NewReplacer("(1 | ward)", "(1 + beds || ward)", "within: ward", "within: none",
		"[a, b, c, d, e, f, g, h]", "["+strings.Join(groups, ", ")+"]").Replace(byWards))
	theta := make([]float64, m.P)
	m.NewPriorSampler().Draw(theta, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
	sd, z := param(t, m, "sd_ward"), param(t, m, "z_ward")
	theta[z.Offset+7] = 0.0003
	list := findScales(m, newScores(m, theta, m.DeclaredLaw(), noise.NewRandom(noise.Public(5).Stream(noise.Simulation))), theta)
	if len(list) != 2 {
		t.Fatalf("%d scales, want 2", len(list))
	}
	for k, s := range list {
		if s.at != sd.Offset+k || len(s.effects) != 40 || s.effects[0] != z.Offset+k || s.effects[39] != z.Offset+78+k {
			t.Errorf("scale %d: at %d with the effects %v", k, s.at, s.effects)
		}
	}
}
