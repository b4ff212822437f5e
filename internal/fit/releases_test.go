package fit

import "testing"

// Before the averaging begins, the posterior has the current iterate as its location, and
// the variance of that iterate's noise.
func TestPosteriorBeforeAveraging(t *testing.T) {
	d := simulated(4, 100, []float64{0.5, -1})
	loop := newTestLoop(t, testPlan(100, 2, 100, 5))
	driveUntil(t, loop, d, 3, 10)
	post, state := posteriorOf(t, loop), loop.state
	sameVector(t, "mean", post.Mean, state.Lambda[:2])
	sameVector(t, "var_dp", post.VarDP, state.Noise.Variance)
	if post.Steps != 10 || !(post.VarDP[0] > 0) {
		t.Errorf("steps %d, var_dp %v", post.Steps, post.VarDP)
	}
}
