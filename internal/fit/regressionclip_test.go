package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/fit/plan"
	"d3p/internal/simd"
	"d3p/internal/stats"
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
	var normals []float64
	for range n {
		normals = append(normals, rng.NormFloat64())
	}
	base := mat.NewDense(k, k, nil)
	for j := range k {
		base.Set(j, j, 1)
	}
	r := &regression{Regression: &plan.Regression{Base: base, Inverse: base,
		Places: []int{0, 1, 2}, Sigma: 3, Rows: draw(), Errors: []plan.ShapeErrors{plan.ErrorsOf(stats.Shapes[0], normals)}},
		moments: &sufficient.Moments{P: k, Records: n}, plan: &plan.Plan{}}
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
	got := r.step(s, r.simulate(belief{mode: truth, covariance: tiny}))
	// each record changes a sum by 0.2, so chance by 28
	for j := range k {
		if math.Abs(got.Slope[j]-whole[j]) > 40 {
			t.Errorf("Σx(y − xγ) in %d is %.4g, want %.4g", j, got.Slope[j], whole[j])
		}
	}
	if math.Abs(got.Square/square-1) > 0.03 {
		t.Errorf("Σ(y − xγ)² is %.4g, want %.4g", got.Square, square)
	}
	if got := r.step(s, r.simulate(belief{mode: wrong, covariance: tiny})); got.Square > 0.9*square {
		t.Errorf("by the step's own belief Σ(y − xγ)² is %.4g of %.4g: the test shows nothing", got.Square, square)
	}
}

// Of errors with a long tail on one side, sums at two clip norms tell that they are not normal,
// and with the right shape they tell the intercept and s; with normal errors both are too small.
func TestStepsTellTheShape(t *testing.T) {
	const n, k, right = 20000, 2, 6
	rng := rand.New(rand.NewPCG(7, 8))
	var rows, normals []float64
	for range n {
		rows, normals = append(rows, 1, rng.NormFloat64()), append(normals, rng.NormFloat64())
	}
	base := mat.NewDense(k, k, []float64{1, 0, 0, 1})
	r := &regression{Regression: &plan.Regression{Base: base, Inverse: base, Places: []int{0, 1}, Sigma: 2, Rows: rows},
		plan: &plan.Plan{GradientNoise: 2}, moments: &sufficient.Moments{P: k, Records: n}}
	for _, shape := range stats.Shapes {
		r.Errors = append(r.Errors, plan.ErrorsOf(shape, normals))
	}
	steps := []regressionStep{{ClipNorm: 4, Sum: make([]float64, k+1)}, {ClipNorm: 8, Sum: make([]float64, k+1)}}
	for range n {
		e, _ := stats.Shapes[right].At(rng.NormFloat64())
		g := []float64{e, rng.NormFloat64() * e, e*e - 1}
		for i := range steps {
			steps[i].Theta = make([]float64, k+1)
			simd.Axpy(steps[i].Sum, math.Min(1, steps[i].ClipNorm/math.Sqrt(simd.Dot(g, g))), g)
		}
	}
	scores := make([]float64, len(stats.Shapes))
	for shape := range scores {
		r.by = belief{make([]float64, k+1), mat.NewSymDense(k+1, nil), shape}
		scores[shape] = r.misses(r.by, steps)
		step := r.step(steps[0], r.simulate(r.by))
		// each record changes Slope by 1 and Square by 2, so chance by 141 and 400
		off, ofSquare := math.Abs(step.Slope[0]) > 600, math.Abs(step.Square-n) > 1600
		if shape == right && (off || ofSquare) {
			t.Errorf("with the right shape Σe is %.4g and Σe² %.6g, want 0 and %d", step.Slope[0], step.Square, n)
		}
		if shape == 0 && !(off && ofSquare) {
			t.Errorf("with normal errors Σe is %.4g and Σe² %.6g: the test shows nothing", step.Slope[0], step.Square)
		}
	}
	for _, shape := range []int{0, 1, 7} { // the normal, short tails, the tail on the other side
		if score := scores[shape]; score > scores[right]-3 {
			t.Errorf("shape %d scores %.4g, the right one %.4g", shape, score, scores[right])
		}
	}
}

// A chain has draws of each candidate by its weight.
func TestDrawsByWeights(t *testing.T) {
	list := []candidate{{score: 3}, {score: 3 - math.Log(3)}}
	if got := weights(list); math.Abs(got[0]-0.75) > 1e-12 || math.Abs(got[1]-0.25) > 1e-12 {
		t.Errorf("weights %v, want .75 and .25", got)
	}
	for _, none := range []float64{math.Inf(-1), math.NaN()} { // the steps' squares have no limit
		if got := weights([]candidate{{score: none}, {score: none}, {score: none}}); !slices.Equal(got, []float64{1, 0, 0}) {
			t.Errorf("weights %v of scores %g, want the first", got, none)
		}
	}
}
