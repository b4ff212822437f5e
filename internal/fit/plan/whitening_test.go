package plan

import (
	"math"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
)

// A prior of sd 1 keeps Adam's rate, one of 2 doubles it, one of 50 ends at the limit; a
// rate of the user stays, and so does the one of a checkpoint.
func TestWidePriorsRaiseTheRate(t *testing.T) {
	for _, test := range []struct {
		prior string
		cfg   Config
		want  float64
	}{
		{"normal(0, 1)", Config{Epsilon: 1}, 0.03},
		{"normal(0, 2)", Config{Epsilon: 1}, 0.06},
		{"normal(0, 50)", Config{Epsilon: 1}, widePriorRate},
		{"normal(0, 50)", Config{Epsilon: 1, LearningRate: 0.03}, 0.03},
		{"normal(0, 50)", Config{Epsilon: 1, Optimizer: "sgd", LearningRate: 1}, 1},
	} {
		text := rareOutcome + "  priors:\n    b: " + test.prior + "\n"
		m := modelstest.Compile(t, "wide.yaml", strings.ReplaceAll(text, "2000", "1000"))
		p, err := New(m, test.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Learn(m.DeclaredLaw()); err != nil {
			t.Fatal(err)
		}
		// 200 draws have an sd off by 5 %, and the whitened columns are a little narrower
		if got := p.LearningRate; math.Abs(got/test.want-1) > 0.25 {
			t.Errorf("b: %s, %+v: rate %v, want %v", test.prior, test.cfg, got, test.want)
		}
		p.LearningRate = 0.07
		if err := p.Bind(m); err != nil || p.LearningRate != 0.07 {
			t.Errorf("a checkpoint's rate 0.07 became %v (%v)", p.LearningRate, err)
		}
	}
}
