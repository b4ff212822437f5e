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
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// TestNetworkMAP checks that the guide delta of weights with a prior goes to the
// mode of the posterior: there the gradients of likelihood and prior cancel.
func TestNetworkMAP(t *testing.T) {
	const n = 300
	m := networkModel(t, "input: [features]", "input: [features]\n    prior: normal(0, 0.2)",
		"      - dense: {units: 16, activation: tanh}\n", "", "public: 4000", "public: 300")
	if m.P != 3 {
		t.Fatalf("%d parameters, want 3", m.P)
	}
	points, _ := ring(n)
	rows := make([]float64, 0, 3*n)
	var text strings.Builder
	text.WriteString("x1,x2,inside\n")
	for _, p := range points {
		y := 0
		if p[0]+0.5*p[1] > 0.3 {
			y = 1
		}
		fmt.Fprintf(&text, "%v,%v,%d\n", p[0], p[1], y)
		rows = append(rows, p[0], p[1], float64(y))
	}
	s := &study{model: m, data: filepath.Join(t.TempDir(), "line.csv")}
	if err := os.WriteFile(s.data, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p := s.plan(t, plan.Config{NonPrivate: true, Sampling: "full", Steps: 1500, LearningRate: 0.01})
	result, err := fit.Run(context.Background(), p, s.curator(t, p, 1, privacy.Ledger{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	post := result.Posterior
	likelihood, prior := graph.NewMachine(m.Likelihood, n), graph.NewMachine(m.Prior, 1)
	likelihood.Globals(post.Mean, nil)
	likelihood.Records(rows, 3, n, nil)
	ones, fromData, fromPrior := make([]float64, n), make([]float64, 3), make([]float64, 3)
	for i := range ones {
		ones[i] = 1
	}
	likelihood.AddGradients(ones, fromData)
	prior.Globals(post.Mean, nil)
	prior.GlobalGradient(fromPrior)
	// the table is float32
	for i := range fromData {
		if math.Abs(fromPrior[0]) < 1 || math.Abs(fromData[i]+fromPrior[i]) > 1e-3*(1+math.Abs(fromPrior[i])) {
			t.Errorf("gradient %d of the likelihood is %v, of the prior %v", i, fromData[i], fromPrior[i])
		}
	}
}
