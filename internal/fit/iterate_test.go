package fit

import (
	"context"
	"errors"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
)

// recorder is an oracle that answers zero and keeps what it was asked.
type recorder struct {
	params [][]float64
	fail   error
}

func (r *recorder) Step(dst, params []float64, _ float64) (float64, error) {
	clear(dst)
	r.params = append(r.params, append([]float64(nil), params...))
	return 0, r.fail
}

// flat is a prior without any pull.
type flat struct{}

func (flat) Gradient(dst, _ []float64) { clear(dst) }

func runRecorded(ctx context.Context, t *testing.T, p *plan.Plan, r *recorder) (*Loop, error) {
	t.Helper()
	loop := newTestLoop(t, p)
	return loop, loop.iterate(ctx, r, flat{}, noise.Public(1).Stream(noise.Reparameterisation), func(int) {})
}

// A pair of draws is antithetic: the two θ lie opposite each other around m.
func TestDrawsAreAntithetic(t *testing.T) {
	p := testPlan(10, 2, 1, 1)
	p.Draws = 2
	r := &recorder{}
	if _, err := runRecorded(context.Background(), t, p, r); err != nil {
		t.Fatal(err)
	}
	if len(r.params) != 2 || r.params[0][0] == 0 {
		t.Fatalf("asked at %v", r.params)
	}
	for j, x := range r.params[0] {
		if x+r.params[1][j] != 0 { // m = 0 in the first step
			t.Errorf("draws %v are not opposite", r.params)
		}
	}
}

// The oracle is asked at θ for aligned gradients and at λ for vanilla ones.
func TestQueries(t *testing.T) {
	for gradient, size := range map[string]int{settings.GradientAligned: 3, settings.GradientVanilla: 6} {
		p := testPlan(10, 3, 2, 1)
		p.Gradient, p.Release = gradient, size
		r := &recorder{}
		if _, err := runRecorded(context.Background(), t, p, r); err != nil {
			t.Fatal(err)
		}
		if len(r.params) != 2 || len(r.params[0]) != size {
			t.Errorf("%s: asked with %d parameters, want %d", gradient, len(r.params[0]), size)
		}
	}
}

func TestRunStopsOnError(t *testing.T) {
	broken := errors.New("engine failed")
	loop, err := runRecorded(context.Background(), t, testPlan(10, 2, 5, 1), &recorder{fail: broken})
	if !errors.Is(err, broken) || loop.state.Step != 0 {
		t.Errorf("step %d, error %v", loop.state.Step, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := runRecorded(ctx, t, testPlan(10, 2, 5, 1), &recorder{}); !errors.Is(err, ErrStopped) {
		t.Errorf("error %v, want ErrStopped", err)
	}
}

// A vanilla release is the gradient of λ itself; an aligned one is pulled back by
// the guide's Jacobian, with prior and entropy. Both ways give λ the same gradient
// when the vanilla release has prior and entropy inside.
func TestVanillaAgreesWithAligned(t *testing.T) {
	eta, sum, prior := []float64{0.5, -1.5}, []float64{3, -2}, []float64{0.7, 0.2}
	gradient := func(kind string, release, prior []float64) []float64 {
		p := testPlan(10, 2, 5, 1)
		p.Gradient, p.SamplingRate = kind, 0.25
		loop := newTestLoop(t, p)
		loop.Propose(eta)
		loop.Absorb(release, prior)
		return loop.grad
	}
	s := 0.1 // testPlan's initial scale
	want := []float64{sum[0]/0.25 + prior[0], sum[1]/0.25 + prior[1], 0, 0}
	for j := range 2 {
		want[2+j] = s*eta[j]*want[j] + 1
	}
	inside := make([]float64, 4)
	for j, w := range want {
		inside[j] = 0.25 * w
	}
	sameVector(t, "aligned", gradient(settings.GradientAligned, sum, prior), want)
	sameVector(t, "vanilla", gradient(settings.GradientVanilla, inside, nil), want)
}
