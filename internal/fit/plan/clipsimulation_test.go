package plan

import (
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/settings"
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
	m, err := models.Read("rare.yaml", []byte(rareOutcome), nil)
	if err != nil {
		t.Fatal(err)
	}
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

// Many parameters of few records have a low quantile; it stays one.
func TestLowQuantiles(t *testing.T) {
	m, err := models.Read("groups.yaml", []byte(strings.NewReplacer("    y: {", "    g: {type: category, levels: 1..150}\n    y: {", "u + v", "u + v + (1 | g)", "2000", "1000").Replace(rareOutcome)), nil)
	if err != nil {
		t.Fatal(err)
	}
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
