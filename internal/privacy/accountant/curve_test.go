package accountant

import (
	"errors"
	"math"
	"testing"

	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/event"
	"d3p/internal/stattest"
)

func mnist(sigma float64) event.Event {
	return event.SelfComposed{Of: event.PoissonSampled{Rate: 128.0 / 60000, Of: event.Gaussian{NoiseMultiplier: sigma}}, Count: 9380}
}

func mustCurve(t testing.TB, ev event.Event, rel event.Relation) *Curve {
	t.Helper()
	c, err := NewCurve(ev, rel)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The Gaussian's trade-off is known: f(α) = Φ(Φ⁻¹(1-α) - μ), advantage
// 2Φ(μ/2)-1, its own smallest dominating μ, no regret.
func TestCurveOfGaussian(t *testing.T) {
	const mu = 0.8
	c := mustCurve(t, event.Gaussian{NoiseMultiplier: 1 / mu}, event.AddRemove)
	near(t, "advantage", c.Advantage(), 1-2*numeric.NormalTail(mu/2), 1e-9)
	for _, alpha := range []float64{0.001, 0.01, 0.1, 0.5, 0.9} {
		want := gaussianTradeoff(mu, alpha)
		got := c.Tradeoff(alpha)
		if got > want*(1+1e-9) || got < want-2e-4 {
			t.Errorf("f(%v) = %v, want at most and near %v", alpha, got, want)
		}
	}
	got, regret := c.DominatingMu()
	near(t, "mu", got, mu, 1e-6)
	if regret > 1e-3 {
		t.Errorf("regret of a Gaussian: %v", regret)
	}
	near(t, "belief", c.Belief(0.5, 0.01), c.TPR(0.01)/(c.TPR(0.01)+0.01), 1e-12)
}

// The curve is never below the certified answers and close to them.
func TestCurveCoversAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		ev  event.Event
		rel event.Relation
	}{
		"add_remove": {mnist(1.5), event.AddRemove},
		"substitute": {mnist(1.5), event.Substitute},
		"few steps":  {event.SelfComposed{Of: event.PoissonSampled{Rate: 0.05, Of: event.Gaussian{NoiseMultiplier: 0.7}}, Count: 3}, event.AddRemove},
		"laplace":    {event.SelfComposed{Of: event.Laplace{NoiseMultiplier: 5}, Count: 4}, event.AddRemove},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "few steps" {
				stattest.SkipNumerics(t)
			}
			curve := mustCurve(t, c.ev, c.rel)
			for _, delta := range []float64{1e-2, 1e-5, 1e-9} {
				a := mustEpsilon(t, c.ev, c.rel, delta)
				if got := curve.Epsilon(delta); got < a.Lower || got > a.Upper*(1+3e-3)+1e-9 {
					t.Errorf("epsilon(%v) = %v, certified [%v, %v]", delta, got, a.Lower, a.Upper)
				}
			}
			last := 1.0
			for alpha := 0.0; alpha <= 1; alpha += 0.05 {
				f := curve.Tradeoff(alpha)
				if f > last || f > 1-alpha+1e-12 || f < 0 {
					t.Errorf("trade-off at %v: %v after %v", alpha, f, last)
				}
				last = f
			}
			mu, regret := curve.DominatingMu()
			for _, alpha := range []float64{0.01, 0.1, 0.5} {
				// the knots make the curve's own trade-off up to 1e-3 too pessimistic
				if f, g := curve.Tradeoff(alpha), gaussianTradeoff(mu, alpha); g > f+1e-3 || curve.Tradeoff(alpha+regret)-regret > g+1e-3 {
					t.Errorf("mu %v, regret %v: f(%v) = %v, Gaussian %v", mu, regret, alpha, f, g)
				}
			}
		})
	}
}

func TestCalibrateRisk(t *testing.T) {
	stattest.SkipNumerics(t)
	t.Parallel()
	risk := Risk{TPR: 0.05, FPR: 0.01}
	sigma, c, err := CalibrateRisk(risk, event.AddRemove, mnist)
	if err != nil {
		t.Fatal(err)
	}
	if c.TPR(risk.FPR) > risk.TPR {
		t.Errorf("sigma %v: true-positive rate %v", sigma, c.TPR(risk.FPR))
	}
	if less := mustCurve(t, mnist(sigma*0.999), event.AddRemove); less.TPR(risk.FPR) <= risk.TPR {
		t.Errorf("sigma %v is not the smallest: 0.1%% less gives %v", sigma, less.TPR(risk.FPR))
	}
	// one Gaussian: TPR = Φ(μ - Φ⁻¹(0.99)) gives μ = Φ⁻¹(0.05) - Φ⁻¹(0.01)
	sigma, _, err = CalibrateRisk(risk, event.AddRemove, func(s float64) event.Event { return event.Gaussian{NoiseMultiplier: s} })
	if err != nil {
		t.Fatal(err)
	}
	near(t, "sigma of one Gaussian", sigma, 1/(2.3263478740408408-1.6448536269514722), 1e-3)
	var infeasible *InfeasibleError
	if _, _, err := CalibrateRisk(Risk{0.01, 0.01}, event.AddRemove, mnist); !errors.As(err, &infeasible) {
		t.Errorf("a risk below chance: %v", err)
	}
}

func TestMaxSteps(t *testing.T) {
	stattest.SkipNumerics(t)
	t.Parallel()
	mechanism := func(steps int64) event.Event {
		return event.SelfComposed{Of: event.PoissonSampled{Rate: 128.0 / 60000, Of: event.Gaussian{NoiseMultiplier: 1.5}}, Count: steps}
	}
	target := Target{Epsilon: 0.535, Delta: 1.0 / 60000}
	steps, a, err := MaxSteps(target, event.AddRemove, 1e8, mechanism)
	if err != nil {
		t.Fatal(err)
	}
	// epsilon is 0.53509 at 9360 steps and 0.53571 at 9380 (reference file)
	if a.Upper > target.Epsilon || steps < 9350 || steps > 9360 {
		t.Errorf("%d steps, certified %v", steps, a.Upper)
	}
	if steps, _, err := MaxSteps(target, event.AddRemove, 100, mechanism); err != nil || steps != 100 {
		t.Errorf("limit 100: %d, %v", steps, err)
	}
	var infeasible *InfeasibleError
	if _, _, err := MaxSteps(Target{Epsilon: 1e-9, Delta: 1e-12}, event.AddRemove, 1e8, mechanism); !errors.As(err, &infeasible) {
		t.Errorf("an impossible target: %v", err)
	}
}

func TestCalibrationIsInfeasible(t *testing.T) {
	one := func(sigma float64) event.Event {
		return event.PoissonSampled{Rate: 1e-6, Of: event.Gaussian{NoiseMultiplier: sigma}}
	}
	var infeasible *InfeasibleError
	if _, err := CalibrateNoise(Target{Epsilon: 1, Delta: 1e-5}, event.AddRemove, one); !errors.As(err, &infeasible) {
		t.Errorf("sampling alone meets the target: %v", err)
	}
	never := func(float64) event.Event { return event.EpsilonDelta{Epsilon: 2} }
	if _, err := CalibrateNoise(Target{Epsilon: 1, Delta: 1e-5}, event.AddRemove, never); !errors.As(err, &infeasible) {
		t.Errorf("no noise meets the target: %v", err)
	}
	var input *InputError
	if _, err := CalibrateNoise(Target{Epsilon: math.NaN(), Delta: 1e-5}, event.AddRemove, one); !errors.As(err, &input) {
		t.Errorf("NaN: %v", err)
	}
	zero, err := CalibrateNoise(Target{Epsilon: 0, Delta: 0.01}, event.AddRemove, func(s float64) event.Event { return event.Gaussian{NoiseMultiplier: s} })
	if err != nil || zero.Certified.Upper != 0 {
		t.Errorf("epsilon 0: %+v, %v", zero, err)
	}
}
