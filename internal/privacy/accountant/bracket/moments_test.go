package bracket

import (
	"math"
	"testing"

	"d3p/internal/privacy/accountant/pairs"
)

// The tilt of Chernoff's bound on Laplace noise lies at the largest loss: the quadrature
// resolves the density below it. δ of four steps near the largest sum is that of the
// largest sum alone and of the sums with one loss below it.
func TestQuadratureAtTheLargestLoss(t *testing.T) {
	const b, theta = 5.0, 6249.0
	n := Quadrature(pairs.NewLaplace(b), 1, 0, 1)
	// E[e^{θ(L-1/b)}] = 1/2 + ∫ e^{-u/2} e^{-θu}/4 du over losses 1/b - u, and the lower atom
	want := 0.5 + 0.25/(theta+0.5)
	if got := math.Exp(n.LogMoment(theta) - theta/b); math.Abs(got-want) > 1e-12 {
		t.Errorf("E[e^{θ(L-1/b)}] = %v, want %v", got, want)
	}
}
