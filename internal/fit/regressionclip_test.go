package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/simd"
	"d3p/internal/sufficient"
)

// A step from a wrong place, whose residuals are six times as large as it expected, clips
// nearly every record. By a belief at the truth its sums are again those without clipping;
// by the belief of the step itself, half of the squares is missing.
func TestStepFromAWrongPlace(t *testing.T) {
	const n, k = 20000, 3
	rng := rand.New(rand.NewPCG(5, 6))
	draw := func() []float64 {
		rows := make([]float64, 0, n*k)
		for range n {
			rows = append(rows, 1, rng.NormFloat64(), rng.NormFloat64())
		}
		return rows
	}
	base := mat.NewDense(k, k, nil)
	for j := range k {
		base.Set(j, j, 1)
	}
	r := &regression{Regression: &plan.Regression{Moments: &sufficient.Moments{P: k, Records: n}, Base: base, Inverse: base,
		Places: []int{0, 1, 2}, Sigma: 3, Rows: draw()}, plan: &plan.Plan{InitSeed: 4}}
	truth, wrong := []float64{0.3, -0.2, 0.4, math.Log(0.2)}, []float64{0.32, -0.2, 0.38, math.Log(0.035)}
	s := regressionStep{Theta: wrong, ClipNorm: 100, Sum: make([]float64, k+1)}
	variance, whole, square, over := math.Exp(2*wrong[k]), make([]float64, k), 0.0, 0
	rows, g := draw(), make([]float64, k+1)
	for i := range n {
		x := rows[i*k : (i+1)*k]
		e := 0.2 * rng.NormFloat64()
		for j := range k {
			e += x[j] * (truth[j] - wrong[j])
		}
		for j := range k {
			g[j] = x[j] * e / variance
			whole[j] += x[j] * e
		}
		g[k] = e*e/variance - 1
		square += e * e
		f := math.Min(1, s.ClipNorm/math.Sqrt(simd.Dot(g, g)))
		if f < 1 {
			over++
		}
		simd.Axpy(s.Sum, f, g)
	}
	if over < n/20 {
		t.Fatalf("%d of %d records are clipped: the test shows nothing", over, n)
	}
	tiny := mat.NewSymDense(k+1, nil)
	for j := range k + 1 {
		tiny.SetSym(j, j, 1e-8)
	}
	got := r.step(s, r.simulate(normalApproximation{truth, tiny}))
	// each record changes a sum by 0.2, so chance by 28
	for j := range k {
		if math.Abs(got.Slope[j]-whole[j]) > 40 {
			t.Errorf("Σx(y − xγ) in %d is %.4g, want %.4g", j, got.Slope[j], whole[j])
		}
	}
	if math.Abs(got.Square/square-1) > 0.03 {
		t.Errorf("Σ(y − xγ)² is %.4g, want %.4g", got.Square, square)
	}
	if got := r.step(s, r.simulate(normalApproximation{wrong, tiny})); got.Square > 0.9*square {
		t.Errorf("by the step's own belief Σ(y − xγ)² is %.4g of %.4g: the test shows nothing", got.Square, square)
	}
}

// Candidates get chains by their weights.
func TestShared(t *testing.T) {
	list := []candidate{{score: 3}, {score: 3 - math.Log(3)}, {score: -9}}
	var scores []float64
	for _, c := range shared(list, 4) {
		scores = append(scores, c.score)
	}
	if want := []float64{3, 3, 3, list[1].score}; !slices.Equal(scores, want) {
		t.Errorf("chains by candidates with scores %v, want %v", scores, want)
	}
}
