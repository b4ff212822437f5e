package plan

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"d3p/internal/models/modelstest"
	"d3p/internal/settings"
	"d3p/internal/stats"
)

const rareOutcome = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 2000}
  columns:
    u: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}}
    v: {type: real, lower: -4, upper: 4, scale: {center: 0, by: 1}}
    y: {type: binary}
model:
  formula: y ~ u + v
  family: bernoulli
`

// A quantile of the norms would clip an outcome of 2 % to a few percent of its
// gradient. There the clip norm is fixed where outcomes keep most of theirs; the joint
// noise stays. An outcome of 50 % and a quantile of the user's keep adaptive clipping.
func TestRareOutcomesAreNotClippedAway(t *testing.T) {
	m := modelstest.Compile(t, "rare.yaml", rareOutcome)
	for _, test := range []struct {
		share float64
		cfg   Config
		flat  bool
	}{
		{0.02, Config{Epsilon: 1}, true},
		{0.5, Config{Epsilon: 1}, false},
		{0.02, Config{Epsilon: 1, ClipQuantile: 0.9}, false},
	} {
		p, err := New(m, test.cfg)
		if err != nil {
			t.Fatal(err)
		}
		l := m.DeclaredLaw()
		l.Columns[2].Shares = []float64{1 - test.share, test.share}
		before := *p
		if err := p.Learn(l); err != nil {
			t.Fatal(err)
		}
		if flat := p.Clipping == settings.ClippingFlat; flat != test.flat {
			t.Errorf("outcome of %v, %+v: clipping is %s", test.share, test.cfg, p.Clipping)
		}
		if !test.flat {
			if p.ClipNorm != before.ClipNorm || p.ClipQuantile != before.ClipQuantile {
				t.Errorf("outcome of %v: C %v and quantile %v changed", test.share, p.ClipNorm, p.ClipQuantile)
			}
			continue
		}
		if p.ClipNorm < 1.2 || p.ClipNorm > 3 { // outcomes have norms of about √(1 + u² + v²)
			t.Errorf("C = %v", p.ClipNorm)
		}
		if p.NoiseMultiplier != before.NoiseMultiplier || p.GradientNoise != p.NoiseMultiplier || p.CountNoise != 0 {
			t.Errorf("noise %v (gradient %v, count %v), want %v", p.NoiseMultiplier, p.GradientNoise, p.CountNoise, before.NoiseMultiplier)
		}
	}
}

// Two of 1000 records lie 22 sds away in a direction of their own, and a tenth of the outcomes are 1.
// To clip no gradient would give nine other parameters four times the noise, though a sum of squared
// errors is least so.
func TestFewLongGradientsDoNotSetTheClipNorm(t *testing.T) {
	p := &Plan{Latent: 10, Records: 57000, Mu: 0.26}
	rng := rand.New(rand.NewPCG(1, 1))
	var rows [][]float64
	for i := range 4000 {
		residual := -0.1
		if i%10 == 0 {
			residual = 0.9
		}
		row := make([]float64, p.Latent)
		for j := range p.Latent - 1 {
			row[j] = residual * rng.NormFloat64()
		}
		if rng.IntN(500) == 0 {
			row[p.Latent-1] = residual * 22
		}
		rows = append(rows, row)
	}
	prior := slices.Repeat([]float64{0.1}, p.Latent)
	g := sorted(rows)
	norms := []float64{20, stats.Quantile(g.norms, 0.99), 0.3}
	got := p.informations(g, nil, prior, norms)
	for i, c := range norms {
		if want := p.information(rows, prior, c); math.Abs(got[i]-want) > 1e-6*math.Abs(want) {
			t.Errorf("C = %v: information %v, want %v", c, got[i], want)
		}
	}
	if got[1] < got[0]+muchMore || got[1] < got[2]+muchMore {
		t.Errorf("informations %v at the clip norms %v", got, norms)
	}
}

// information is that of informations by its definition.
func (p *Plan) information(rows [][]float64, prior []float64, c float64) float64 {
	a, v, n := mat.NewSymDense(p.Latent, nil), mat.NewSymDense(p.Latent, nil), float64(p.Records)/float64(len(rows))
	bias := make([]float64, p.Latent)
	for _, row := range rows {
		f := min(1, c/normOf(row))
		x := mat.NewVecDense(p.Latent, row)
		a.SymRankOne(a, n*f, x)
		v.SymRankOne(v, n*f*f, x)
		for j := range bias {
			bias[j] += n * (f - 1) * row[j]
		}
	}
	for j, b := range bias {
		v.SetSym(j, j, v.At(j, j)+b*b+c*c/(p.Mu*p.Mu))
	}
	return informationOf(a, v, prior)
}

// Many parameters of few records have a low quantile; it stays one.
func TestLowQuantiles(t *testing.T) {
	m := modelstest.Compile(t, "groups.yaml", strings.NewReplacer("    y: {", "    g: {type: category, levels: 1..150}\n    y: {", "u + v", "u + v + (1 | g)", "2000", "1000").Replace(rareOutcome))
	p, err := New(m, Config{Epsilon: 1, ClipNorm: 1, ClipQuantile: 0})
	if err != nil {
		t.Fatal(err)
	}
	p.Clipping, p.ClipQuantile = settings.ClippingAdaptive, p.defaultQuantile()
	if 1-gap*(1-p.ClipQuantile) > 0 {
		t.Fatalf("quantile %v is not low", p.ClipQuantile)
	}
	l := m.DeclaredLaw()
	l.Columns[3].Shares = []float64{0.5, 0.5}
	if err := p.Learn(l); err != nil {
		t.Fatal(err)
	}
}

// Counts that differ more than the model's have gradients that a clip norm for the model's would cut, on
// one side. The fit follows them, or clips few of them.
func TestOverdispersedCountsAreNotClippedLikePoisson(t *testing.T) {
	text := strings.NewReplacer("2000", "10000", "{type: binary}", "{type: integer, lower: 0, upper: 100}", "bernoulli", "poisson").Replace(rareOutcome)
	m := modelstest.Compile(t, "counts.yaml", text)
	planOf := func(epsilon, overdispersion float64) *Plan { // the negative binomial's 1/φ
		p, err := New(m, Config{Epsilon: epsilon})
		if err != nil {
			t.Fatal(err)
		}
		l, rng := m.DeclaredLaw(), rand.New(rand.NewPCG(1, 2))
		y := &l.Columns[2]
		y.Shares, y.Edges = make([]float64, 101), make([]float64, 102)
		for i := range y.Edges {
			y.Edges[i] = float64(i) - 0.5
		}
		const draws = 100000
		for range draws {
			rate := 3.0
			if overdispersion > 0 {
				rate = distuv.Gamma{Alpha: 1 / overdispersion, Beta: 1 / (3 * overdispersion), Src: rng}.Rand()
			}
			y.Shares[min(100, int(distuv.Poisson{Lambda: rate, Src: rng}.Rand()))] += 1.0 / draws
		}
		if err := p.Learn(l); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, epsilon := range []float64{1, 3} {
		poisson, counts := planOf(epsilon, 0), planOf(epsilon, 2)
		t.Logf("epsilon %v: %s %v, %s %v", epsilon, poisson.Clipping, poisson.ClipNorm, counts.Clipping, counts.ClipNorm)
		if counts.Clipping == settings.ClippingFlat && (poisson.Clipping != settings.ClippingFlat || counts.ClipNorm < 2*poisson.ClipNorm) {
			t.Errorf("epsilon %v: clipping is %s at %v, for counts of a Poisson model %s at %v", epsilon, counts.Clipping, counts.ClipNorm, poisson.Clipping, poisson.ClipNorm)
		}
	}
}
