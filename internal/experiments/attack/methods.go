package attack

import (
	"context"
	"math"
	"slices"
	"strings"

	"d3p/internal/cpu"
	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
)

const logisticModel = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    x: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}, source: expert}
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: y ~ 1 + x
  family: bernoulli
  priors:
    Intercept: normal(0, 1)
    b: normal(0, 1)
`

var (
	robust = strings.Replace(logisticModel, "model:", "likelihood: {divergence: beta, beta: 1.5}\nmodel:", 1)
	// the record's outcome is so improbable that its log likelihood is linear where draws lie
	improbable = strings.Replace(logisticModel, "b: normal(0, 1)", "b: normal(-5, 1)", 1)
	linear     = strings.NewReplacer(`y: {type: binary, levels: ["0", "1"]}`, "y: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}}", "bernoulli", "normal").Replace(logisticModel)
	// the record is at the bounds of its columns
	bounded = strings.Replace(linear, "y: {type: real, lower: -5, upper: 5", "y: {type: real, lower: -1, upper: 1", 1)
)

// Methods are the compared private fits.
var Methods = []Method{
	{"DP-SGD point estimate", logisticModel, Delta, iterates("delta")},
	{"variational inference", logisticModel, Delta, iterates("mean_field")},
	{"variational inference, beta divergence", robust, Delta, iterates("mean_field")},
	{"second moments", linear, Delta, moments},
	{"one draw, beta divergence", robust, 0, oneDraw},
	{"one exact draw", improbable, Delta, exactDraw(settings.MethodOneSample)},
	{"Gibbs posterior", improbable, Delta, exactDraw(settings.MethodGibbs)},
	{"output perturbation", improbable, Delta, optimum(settings.MethodOutput)},
	{"objective perturbation", improbable, Delta, optimum(settings.MethodObjective)},
	{"AdaSSP", bounded, Delta, squares},
}

// number of steps of the attacked fits, each with all records: sampling would hide the
// record
const steps, rate = 4, 1e-6

// iterates are those of a fit with a guide. Its steps are so short that the iterates show
// the noisy sums of gradients at the start, which are normal.
func iterates(guide string) func(*models.Model, float64) (method, error) {
	return func(m *models.Model, epsilon float64) (method, error) {
		plan, err := plan.New(m, plan.Config{
			Epsilon: epsilon, Delta: Delta, Sampling: "full", Steps: steps, Clipping: "flat", Guide: guide,
			Optimizer: "sgd", LearningRate: rate, Averaging: new(float64), NoiseAware: "none", Table1: "none", Records: 10,
		})
		if err != nil {
			return method{}, err
		}
		release := func(t tables, seed uint64) ([]float64, error) {
			curator, err := privacy.NewCurator(privacy.CuratorConfig{
				Table: t.table, Engine: cpu.New(cpu.Options{Threads: 1}), Root: noise.Insecure(seed), Budget: plan.Budget(), Relation: plan.Neighbours,
			})
			if err != nil {
				return nil, err
			}
			own := *plan
			result, err := fit.Run(context.Background(), &own, curator, nil)
			if err != nil {
				return nil, err
			}
			seen := result.Posterior.Trace.Mean
			moves := slices.Clone(seen)
			for i := m.P; i < len(seen); i++ {
				moves[i] -= seen[i-m.P]
			}
			for i := range moves {
				moves[i] /= rate
			}
			return moves, nil
		}
		return method{release: release}, nil
	}
}

// moments are the second moments of a linear regression, released by one Gaussian.
func moments(m *models.Model, epsilon float64) (method, error) {
	plan, err := plan.New(m, plan.Config{Epsilon: epsilon, Delta: Delta, Sampling: "full", Steps: 1, Clipping: "flat", NoiseAware: "none", Table1: "none", Records: 10})
	if err != nil {
		return method{}, err
	}
	number := func(column string) []privacy.Reading {
		return []privacy.Reading{{Column: column, Level: privacy.Number, By: 1}}
	}
	return ofMoments(plan, privacy.Design{Products: [][]privacy.Reading{nil, number("x"), number("y")}, Bound: 1, Noise: plan.NoiseMultiplier}), nil
}

// squares are the second moments from which AdaSSP computes all that it releases.
func squares(m *models.Model, epsilon float64) (method, error) {
	plan, err := plan.New(m, plan.Config{Method: settings.MethodAdaSSP, Epsilon: epsilon, Delta: Delta})
	if err != nil {
		return method{}, err
	}
	bounds, err := plan.AdaSSP()
	if err != nil {
		return method{}, err
	}
	return ofMoments(plan, bounds.Design(plan.NoiseMultiplier)), nil
}

// curator is that of a plan that reads columns, with noise of a seed.
func (t tables) curator(plan *plan.Plan, seed uint64) (*privacy.Curator, error) {
	return privacy.NewCurator(privacy.CuratorConfig{
		Columns: t.columns, Root: noise.Insecure(seed), Budget: plan.Budget(), Relation: plan.Neighbours,
	})
}

// ofMoments releases the second moments of a design.
func ofMoments(plan *plan.Plan, design privacy.Design) method {
	release := func(t tables, seed uint64) ([]float64, error) {
		curator, err := t.curator(plan, seed)
		if err != nil {
			return nil, err
		}
		return curator.Moments("second moments", design)
	}
	return method{release: release}
}

// oneDraw is a draw of the posterior with bounded scores. The log-likelihood ratio is the
// record's score at the draw times the weight, up to a constant.
func oneDraw(m *models.Model, epsilon float64) (method, error) {
	bound, err := m.ScoreRange()
	if err != nil {
		return method{}, err
	}
	draw := privacy.PosteriorDraw{Purpose: "fit", Model: m, Epsilon: epsilon, Range: bound, Chains: 1, Warmup: 150, Kept: 10}
	const beta = 1.5
	release := func(t tables, seed uint64) ([]float64, error) {
		curator, err := privacy.NewCurator(privacy.CuratorConfig{
			Table: t.table, Engine: cpu.New(cpu.Options{Threads: 1}), Root: noise.Insecure(seed), Budget: privacy.Budget{Epsilon: epsilon, Delta: Delta}, Relation: event.AddRemove,
		})
		if err != nil {
			return nil, err
		}
		theta, err := curator.DrawPosterior(context.Background(), draw)
		if err != nil {
			return nil, err
		}
		p := 1 / (1 + math.Exp(-theta[0]-5*theta[1])) // of the canary
		score := math.Pow(p, beta-1)/(beta-1) - (math.Pow(p, beta)+math.Pow(1-p, beta))/beta
		return []float64{draw.Weight(event.AddRemove) * score}, nil
	}
	return method{release: release, ratio: true}, nil
}

// exactDraw is an exact draw of the posterior, by a method. The weighted log likelihood of the
// record at the draw is the log-likelihood ratio, up to a constant.
func exactDraw(name string) func(*models.Model, float64) (method, error) {
	return func(m *models.Model, epsilon float64) (method, error) {
		plan, err := plan.New(m, plan.Config{Method: name, Epsilon: epsilon, Delta: Delta})
		if err != nil {
			return method{}, err
		}
		draw, _, err := plan.LogisticDraw()
		if err != nil {
			return method{}, err
		}
		slope, err := draw.Slope(1)
		if err != nil {
			return method{}, err
		}
		weight := min(draw.Most, slope/math.Hypot(draw.SD[0], 5*draw.SD[1]))
		release := func(t tables, seed uint64) ([]float64, error) {
			curator, err := t.curator(plan, seed)
			if err != nil {
				return nil, err
			}
			theta, err := curator.DrawLogistic(context.Background(), draw)
			if err != nil {
				return nil, err
			}
			return []float64{-weight * math.Log1p(math.Exp(-theta[0]-5*theta[1]))}, nil
		}
		return method{release: release, ratio: true}, nil
	}
}

// optimum is a perturbed optimum. Of a perturbed objective the tilt b follows from the optimum
// and the records, so its density is the likelihood.
func optimum(name string) func(*models.Model, float64) (method, error) {
	return func(m *models.Model, epsilon float64) (method, error) {
		plan, err := plan.New(m, plan.Config{Method: name, Epsilon: epsilon, Delta: Delta})
		if err != nil {
			return method{}, err
		}
		mechanism, _, err := plan.LogisticOptimum()
		if err != nil {
			return method{}, err
		}
		var sd float64 // of the tilt
		if mechanism.Objective {
			sd = mechanism.Tilt()
		}
		release := func(t tables, seed uint64) ([]float64, error) {
			curator, err := t.curator(plan, seed)
			if err != nil {
				return nil, err
			}
			theta, err := curator.MinimiseLogistic(context.Background(), mechanism)
			if err != nil || !mechanism.Objective {
				return theta, err
			}
			return []float64{tiltRatio(mechanism, sd, theta)}, nil
		}
		return method{release: release, ratio: mechanism.Objective}, nil
	}
}

// tiltRatio is the logarithm of the likelihood ratio of an optimum at theta, with the record
// against without it. An optimum of the terms f_i at φ has the tilt b = -λφ - Σ f_i'(φ), and
// the density of b there times the determinant of the curvature.
func tiltRatio(m privacy.LogisticOptimum, sd float64, theta []float64) float64 {
	phi := []float64{theta[0] - m.Mean[0], theta[1] - m.Mean[1]} // standard deviations are 1
	b, curvature := []float64{-m.Ridge * phi[0], -m.Ridge * phi[1]}, [3]float64{m.Ridge, 0, m.Ridge}
	logDensity := func() float64 {
		return math.Log(curvature[0]*curvature[2]-curvature[1]*curvature[1]) - (b[0]*b[0]+b[1]*b[1])/(2*sd*sd)
	}
	add := func(x, sign, count float64) {
		wrong := 1 / (1 + math.Exp(sign*(theta[0]+theta[1]*x))) // probability of the other outcome
		b[0], b[1] = b[0]+count*sign*wrong, b[1]+count*sign*wrong*x
		c := count * wrong * (1 - wrong)
		curvature[0], curvature[1], curvature[2] = curvature[0]+c, curvature[1]+c*x, curvature[2]+c*x*x
	}
	add(0, -1, 4)
	add(0, 1, 4)
	without := logDensity()
	add(5, 1, 1)
	return logDensity() - without
}
