package fit_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/fit/start"
	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/predictive"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
	"d3p/internal/stattest"
)

// networkModel compiles the example of a network, with changes.
func networkModel(t *testing.T, changes ...string) *models.Model {
	t.Helper()
	return modelstest.Read(t, "../../configs/mlp.yaml", changes...)
}

// ring returns n points of the square and whether they are inside a circle,
// which a line tells apart for 70 % of them at best.
func ring(n int) (points [][2]float64, inside []bool) {
	rng := noise.Insecure(3).Stream(noise.Initialisation)
	for range n {
		p := [2]float64{4*rng.Float64() - 2, 4*rng.Float64() - 2}
		points = append(points, p)
		inside = append(inside, math.Hypot(p[0], p[1]) < 1.3)
	}
	return points, inside
}

// A private fit of the example network at ε = 2 tells new points apart with at
// least 93 % accuracy; 97.5 % is typical.
func TestNetworkClassifies(t *testing.T) {
	m := networkModel(t)
	points, inside := ring(4000)
	var text strings.Builder
	text.WriteString("x1,x2,inside\n")
	for i, p := range points {
		fmt.Fprintf(&text, "%.6f,%.6f,%d\n", p[0], p[1], map[bool]int{true: 1}[inside[i]])
	}
	s := &study{model: m, data: filepath.Join(t.TempDir(), "ring.csv")}
	if err := os.WriteFile(s.data, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p := s.plan(t, plan.Config{Epsilon: 2, Delta: 1e-5, Steps: 400})
	if p.Guide != "delta" || p.Averaging != 0.25 {
		t.Errorf("guide %s, average of %g", p.Guide, p.Averaging)
	}
	result, err := fit.Run(context.Background(), p, s.curator(t, p, 11, privacy.Ledger{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	post := result.Posterior
	points, inside = ring(8000)
	points, inside = points[4000:], inside[4000:]
	predictive := predictive.New(m, 1)
	predictive.Set(post.Mean)
	right, mean := 0, make([]float64, 1)
	for i, x := range points {
		predictive.Records(x[:], 2, 1)
		predictive.Mean(mean, 0)
		if (mean[0] > 0.5) == inside[i] {
			right++
		}
	}
	if accuracy := float64(right) / float64(len(points)); accuracy < 0.93 {
		t.Errorf("accuracy %.3f", accuracy)
	} else {
		t.Logf("accuracy %.3f", accuracy)
	}
}

// Weights start at normal draws of the initialiser's variance: the sum of
// squares of 10000 is chi-square; |χ²/n − 1| > 6.2√(2/n) has probability below
// 1e-8. More weights than records change the defaults.
func TestWideNetwork(t *testing.T) {
	m := networkModel(t, "units: 16, activation: tanh}\n      - dense: {units: 16", "units: 100, activation: tanh, init: {normal: 0.2}}\n      - dense: {units: 100",
		"public: 4000", "public: 20000")
	p, err := plan.New(m, plan.Config{Records: 8000, Epsilon: 1})
	if err != nil {
		t.Fatal(err)
	}
	if p.Clipping != settings.ClippingFlat || p.ClipNorm != 1 || math.Abs(p.LearningRate-0.00568) > 1e-5 || p.SamplingRate != 512.0/8000 || p.Steps != 1000 {
		t.Errorf("clipping %s at %g, learning rate %g, rate %g, %d steps", p.Clipping, p.ClipNorm, p.LearningRate, p.SamplingRate, p.Steps)
	}
	plain, err := plan.New(m, plan.Config{Records: 8000, NonPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	if plain.Draws != 1 || plain.LearningRate != p.LearningRate || plain.SamplingRate != p.SamplingRate || plain.Steps != 1000 {
		t.Errorf("without privacy %d draws, learning rate %g, rate %g, %d steps", plain.Draws, plain.LearningRate, plain.SamplingRate, plain.Steps)
	}
	first, err := start.Point(p.Init, m, noise.Public(p.InitSeed).Stream(noise.Initialisation))
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Params {
		w := &m.Params[i]
		square := 0.0
		for _, x := range first[w.Offset : w.Offset+w.Size] {
			square += x * x
		}
		want := w.StartSD * w.StartSD * float64(w.Size)
		if math.Abs(square-want) > 6.2*want*math.Sqrt(2/float64(w.Size)) {
			t.Errorf("%s: sum of squares %g, want about %g", w.Name, square, want)
		}
	}
}

// The rate falls with the products that an output sums: 784 in nearly all weights of one
// example, none in another, in which records pick rows, and a mixture of both.
func TestNetworkRate(t *testing.T) {
	stattest.SkipNumerics(t)
	for config, want := range map[string]float64{"mlp-mnist": 0.00201, "cnn-mnist": 0.00277, "imdb-embedding": 0.03, "tabular-transformer": 0.01282} {
		m := modelstest.Read(t, "../../configs/"+config+".yaml")
		p, err := plan.New(m, plan.Config{Records: 1000, Epsilon: 1, Delta: 1e-5})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(p.LearningRate-want) > 1e-5 {
			t.Errorf("%s: rate %.5f, want %g", config, p.LearningRate, want)
		}
		p, err = plan.New(m, plan.Config{Records: 1000, Epsilon: 1, Delta: 1e-5, Optimizer: "adam_corrected"})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(p.LearningRate-want/2) > 1e-5 {
			t.Errorf("%s: rate %.5f of corrected steps, want %g", config, p.LearningRate, want/2)
		}
	}
}

// A guide with scales needs a prior on every weight.
func TestLatentWeightsNeedAPrior(t *testing.T) {
	m := networkModel(t)
	_, err := plan.New(m, plan.Config{Epsilon: 1, Guide: "mean_field"})
	if err == nil || !strings.HasPrefix(err.Error(), "--guide: mean_field needs a prior for the weights of net net (type ") {
		t.Errorf("error %v", err)
	}
	m = networkModel(t, "input: [features]", "input: [features]\n    prior: normal(0, 1)")
	if _, err := plan.New(m, plan.Config{Epsilon: 1, Guide: "mean_field"}); err != nil {
		t.Error(err)
	}
}
