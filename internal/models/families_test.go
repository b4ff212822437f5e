package models_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/graph"
	"d3p/internal/models/predictive"
	"d3p/internal/stattest"
)

// TestFamilies compares log densities with formulas written out here, and the
// names and places of the parameters with what the manual promises.
func TestFamilies(t *testing.T) {
	data := dataBlock(1,
		"g: {type: category, levels: [a, b, c]}",
		"n: {type: integer, lower: 0, upper: 50}",
		"e: {type: real, lower: 1, upper: 9}",
		"y: {type: real, lower: -10, upper: 30, scale: {center: 10, by: 4}}",
		"d: {type: binary}")
	x, code, count, exposure, response, event := 0.7, 1.0, 3.0, 2.5, 16.0, 1.0
	raw := map[string]float64{"x1": x, "g": code, "n": count, "e": exposure, "y": response, "d": event}
	logNormal := func(z, mean, sd float64) float64 {
		return -0.5*math.Pow((z-mean)/sd, 2) - math.Log(sd) - 0.5*math.Log(2*math.Pi)
	}
	logHalfNormal := func(z, scale float64) float64 { return math.Ln2 + logNormal(z, 0, scale) }
	for _, c := range []struct {
		name, model string
		names       []string
		likelihood  func(u []float64) float64
		prior       func(u []float64) float64
	}{{
		"normal", "formula: y ~ 1 + x1\n  family: gaussian",
		[]string{"Intercept", "b[x1]", "sigma"},
		func(u []float64) float64 { return logNormal((response-10)/4, u[0]+u[1]*x, math.Exp(u[2])) },
		func(u []float64) float64 {
			return logNormal(u[0], 0, 2.5) + logNormal(u[1], 0, 1) + logHalfNormal(math.Exp(u[2]), 1) + u[2]
		},
	}, {
		"poisson", "formula: n ~ 0 + x1 + offset(log(e))\n  family: poisson\n  priors:\n    b: normal(1, 3)",
		[]string{"b[x1]"},
		func(u []float64) float64 {
			rate := exposure * math.Exp(u[0]*x)
			return count*math.Log(rate) - rate - math.Log(6)
		},
		func(u []float64) float64 { return logNormal(u[0], 1, 3) },
	}, {
		"non-centred group intercepts", "formula: d ~ 1 + (1 | g)\n  family: bernoulli\n  priors:\n    sd: half_normal(2)",
		[]string{"Intercept", "sd_g[Intercept]", "z_g[a,Intercept]", "z_g[b,Intercept]", "z_g[c,Intercept]"},
		func(u []float64) float64 { return -math.Log1p(math.Exp(-(u[0] + u[3]*math.Exp(u[1])))) },
		func(u []float64) float64 {
			sd := math.Exp(u[1])
			return logNormal(u[0], 0, 2.5) + logHalfNormal(sd, 2) + u[1] + logNormal(u[2], 0, 1) + logNormal(u[3], 0, 1) + logNormal(u[4], 0, 1)
		},
	}, {
		"centred group intercepts", "formula: d ~ 1 + (1 | g)\n  family: bernoulli\n  parametrisation: centred",
		[]string{"Intercept", "sd_g[Intercept]", "r_g[a,Intercept]", "r_g[b,Intercept]", "r_g[c,Intercept]"},
		func(u []float64) float64 { return -math.Log1p(math.Exp(-(u[0] + u[3]))) },
		func(u []float64) float64 {
			sd := math.Exp(u[1])
			return logNormal(u[0], 0, 2.5) + logHalfNormal(sd, 1) + u[1] + logNormal(u[2], 0, sd) + logNormal(u[3], 0, sd) + logNormal(u[4], 0, sd)
		},
	}, {
		"category", "formula: d ~ 1 + g\n  family: bernoulli\n  priors:\n    b[g=c]: normal(2, 3)",
		[]string{"Intercept", "b[g=b]", "b[g=c]"},
		func(u []float64) float64 { return -math.Log1p(math.Exp(-(u[0] + u[1]))) },
		func(u []float64) float64 {
			return logNormal(u[0], 0, 2.5) + logNormal(u[1], 0, 1) + logNormal(u[2], 2, 3)
		},
	}, {
		"category without intercept", "formula: d ~ 0 + g\n  family: bernoulli",
		[]string{"b[g=a]", "b[g=b]", "b[g=c]"},
		func(u []float64) float64 { return -math.Log1p(math.Exp(-u[1])) },
		func(u []float64) float64 {
			return logNormal(u[0], 0, 1) + logNormal(u[1], 0, 1) + logNormal(u[2], 0, 1)
		},
	}, {
		"predicted sigma", "formula: y ~ 0 + x1\n  family: normal\n  sigma: 1 + e",
		[]string{"b[x1]", "sigma_Intercept", "sigma_b[e]"},
		func(u []float64) float64 {
			scaled := (exposure - 5) / (8 / math.Sqrt(12))
			return logNormal((response-10)/4, u[0]*x, math.Exp(u[1]+u[2]*scaled))
		},
		func(u []float64) float64 {
			return logNormal(u[0], 0, 1) + logNormal(u[1], 0, 1) + logNormal(u[2], 0, 1)
		},
	}, {
		"predicted zeros", "formula: n ~ 0 + x1\n  family: zero_inflated_poisson\n  zi: 0 + x1",
		[]string{"b[x1]", "zi_b[x1]"},
		func(u []float64) float64 {
			zi, rate := 1/(1+math.Exp(-u[1]*x)), math.Exp(u[0]*x)
			return math.Log(1-zi) + count*math.Log(rate) - rate - math.Log(6)
		},
		func(u []float64) float64 { return logNormal(u[0], 0, 1) + logNormal(u[1], 0, 1) },
	}, {
		"curve and groups of sigma", "formula: y ~ 0 + x1\n  family: normal\n  sigma: 0 + poly(x1, 2) + (1 | g)\n  priors:\n    sd_sigma_g: half_normal(3)\n    s_sigma_x1: normal(1, 2)",
		[]string{"b[x1]", "s_sigma_x1[1]", "s_sigma_x1[2]", "sd_sigma_g[Intercept]", "z_sigma_g[a,Intercept]", "z_sigma_g[b,Intercept]", "z_sigma_g[c,Intercept]"},
		func(u []float64) float64 {
			return logNormal((response-10)/4, u[0]*x, math.Exp(u[1]*x+u[2]*x*x+u[5]*math.Exp(u[3])))
		},
		func(u []float64) float64 {
			return logNormal(u[0], 0, 1) + logNormal(u[1], 1, 2) + logNormal(u[2], 1, 2) + logHalfNormal(math.Exp(u[3]), 3) + u[3] +
				logNormal(u[4], 0, 1) + logNormal(u[5], 0, 1) + logNormal(u[6], 0, 1)
		},
	}, {
		"groups of both", "formula: n ~ 0 + (1 | g)\n  family: zero_inflated_poisson\n  zi: 0 + (1 | g)\n  parametrisation: centred",
		[]string{"sd_g[Intercept]", "r_g[a,Intercept]", "r_g[b,Intercept]", "r_g[c,Intercept]", "sd_zi_g[Intercept]", "r_zi_g[a,Intercept]", "r_zi_g[b,Intercept]", "r_zi_g[c,Intercept]"},
		func(u []float64) float64 {
			zi, rate := 1/(1+math.Exp(-u[6])), math.Exp(u[2])
			return math.Log(1-zi) + count*math.Log(rate) - rate - math.Log(6)
		},
		func(u []float64) float64 {
			sum := 0.0
			for _, v := range [][]float64{u[:4], u[4:]} {
				sd := math.Exp(v[0])
				sum += logHalfNormal(sd, 1) + v[0] + logNormal(v[1], 0, sd) + logNormal(v[2], 0, sd) + logNormal(v[3], 0, sd)
			}
			return sum
		},
	}, {
		"hurdle", "formula: n ~ 0 + x1\n  family: hurdle_poisson\n  hu: 0 + x1",
		[]string{"b[x1]", "hu_b[x1]"},
		func(u []float64) float64 {
			hu, rate := 1/(1+math.Exp(-u[1]*x)), math.Exp(u[0]*x)
			return math.Log(1-hu) + count*math.Log(rate) - rate - math.Log(6) - math.Log(1-math.Exp(-rate))
		},
		func(u []float64) float64 { return logNormal(u[0], 0, 1) + logNormal(u[1], 0, 1) },
	}, {
		"piecewise exponential", "formula: surv(e, d) ~ 1 + x1\n  family: piecewise_exponential\n  cuts: [1, 4]",
		[]string{"b[x1]", "baseline[0-1]", "baseline[1-4]", "baseline[4+]"},
		func(u []float64) float64 {
			by := 8 / math.Sqrt(12) // of e, whose value lies between the cuts
			first, second := math.Exp(u[0]*x+u[1])/by, math.Exp(u[0]*x+u[2])/by
			return math.Log(second) - first - (exposure-1)*second
		},
		func(u []float64) float64 {
			return logNormal(u[0], 0, 1) + logNormal(u[1], 0, 2.5) + logNormal(u[2], 0, 2.5) + logNormal(u[3], 0, 2.5)
		},
	}, {
		"categorical response", "formula: g ~ 1 + x1\n  family: categorical",
		[]string{"Intercept[b]", "Intercept[c]", "b[x1,b]", "b[x1,c]"},
		func(u []float64) float64 {
			b, c := u[0]+u[2]*x, u[1]+u[3]*x
			return b - math.Log(1+math.Exp(b)+math.Exp(c))
		},
		func(u []float64) float64 {
			return logNormal(u[0], 0, 2.5) + logNormal(u[1], 0, 2.5) + logNormal(u[2], 0, 1) + logNormal(u[3], 0, 1)
		},
	}, {
		"categorical response with groups and a curve", "formula: g ~ 1 + poly(x1, 2) + (1 | d)\n  family: categorical",
		[]string{"Intercept[b]", "Intercept[c]", "s_x1[1,b]", "s_x1[1,c]", "s_x1[2,b]", "s_x1[2,c]", "sd_d[Intercept,b]", "sd_d[Intercept,c]", "z_d[0,Intercept,b]", "z_d[0,Intercept,c]", "z_d[1,Intercept,b]", "z_d[1,Intercept,c]"},
		func(u []float64) float64 {
			b := u[0] + u[2]*x + u[4]*x*x + u[10]*math.Exp(u[6])
			c := u[1] + u[3]*x + u[5]*x*x + u[11]*math.Exp(u[7])
			return b - math.Log(1+math.Exp(b)+math.Exp(c))
		},
		func(u []float64) float64 {
			sum := logNormal(u[0], 0, 2.5) + logNormal(u[1], 0, 2.5)
			for _, v := range slices.Concat(u[2:6], u[8:]) {
				sum += logNormal(v, 0, 1)
			}
			for _, v := range u[6:8] {
				sum += logHalfNormal(math.Exp(v), 1) + v
			}
			return sum
		},
	}, {
		"interactions", "formula: d ~ 0 + x1:g + x1 * e\n  family: bernoulli",
		[]string{"b[x1:g=b]", "b[x1:g=c]", "b[x1]", "b[e]", "b[x1:e]"},
		func(u []float64) float64 {
			scaled := (exposure - 5) / (8 / math.Sqrt(12))
			return -math.Log1p(math.Exp(-(u[0]*x + u[2]*x + u[3]*scaled + u[4]*x*scaled)))
		},
		func(u []float64) float64 {
			sum := 0.0
			for _, v := range u {
				sum += logNormal(v, 0, 1)
			}
			return sum
		},
	}} {
		t.Run(c.name, func(t *testing.T) {
			m := compile(t, data+"model:\n  "+c.model+"\n")
			if !slices.Equal(m.Names(), c.names) {
				t.Fatalf("names %v, want %v", m.Names(), c.names)
			}
			rows := encodeOne(m, raw)
			u := []float64{0.3, -0.4, 0.5, 0.8, -1.1, 0.6, 0.2, -0.7, 0.9, -0.1, 0.4, -0.5}[:m.P]
			likelihood, prior := graph.NewMachine(m.Likelihood, 1), graph.NewMachine(m.Prior, 1)
			likelihood.Globals(u, nil)
			likelihood.Records(rows, m.Encoding.K, 1, nil)
			compare(t, "log likelihood", likelihood.Loss(), []float64{c.likelihood(u)})
			prior.Globals(u, nil)
			compare(t, "log prior", prior.Loss(), []float64{c.prior(u)})
		})
	}
}

// encodeOne encodes one record.
func encodeOne(m *models.Model, raw map[string]float64) []float64 {
	row := make([]float64, m.Encoding.K)
	m.Encoding.Encode(row, func(header string) float64 { return raw[header] })
	return row
}

// TestConstrain checks the values and quantities that are reported.
func TestConstrain(t *testing.T) {
	m := compile(t, dataBlock(0, "g: {type: category, levels: [a, b]}", "d: {type: binary}")+
		"model:\n  formula: d ~ 1 + (1 | g)\n  family: bernoulli\n")
	theta := []float64{0.5, math.Log(2), 3, -1}
	got := make([]float64, m.Constrained)
	m.Constrain(got, theta)
	compare(t, "constrained", got, []float64{0.5, 2, 3, -1})
	quantities := make([]float64, m.Quantity)
	m.Quantities(quantities, theta)
	compare(t, "quantities", quantities, []float64{6, -2})
	if names := m.Derived[0].Elements(); !slices.Equal(names, []string{"r_g[a,Intercept]", "r_g[b,Intercept]"}) {
		t.Errorf("quantities are named %v", names)
	}
}

// TestPredictive checks means and draws in the unit of the file.
func TestPredictive(t *testing.T) {
	m := compile(t, dataBlock(1, "y: {type: real, lower: -10, upper: 30, scale: {center: 10, by: 4}}")+
		"model:\n  formula: y ~ 1 + x1\n  family: normal\n")
	if k := m.Encoding.Predictors().K; k != 1 {
		t.Fatalf("predictors have %d columns, want 1", k)
	}
	p := predictive.New(m, 2)
	p.Set([]float64{0.25, 0.5, math.Log(0.125)})
	p.Records([]float64{1, -1}, 1, 2)
	mean := make([]float64, 2)
	if !p.Mean(mean, 0) {
		t.Fatal("no mean")
	}
	compare(t, "mean", mean, []float64{10 + 4*0.75, 10 + 4*-0.25})
	rng := testRand{rand.New(rand.NewPCG(1, 1))}
	draws := make([]float64, 2)
	var sum, square float64
	const n = 20000
	for range n {
		p.Draw(draws, 0, rng)
		sum += draws[0] - mean[0]
		square += (draws[0] - mean[0]) * (draws[0] - mean[0])
	}
	// The standard deviation is 4/8; that of the mean square is √(2/n) of it.
	stattest.Require(t, "mean of draws", stattest.Normal(sum/n/(0.5/math.Sqrt(n))))
	stattest.Require(t, "variance of draws", stattest.Normal((square/n/0.25-1)/math.Sqrt(2.0/n)))
}

// testRand is the Rand of the tests.
type testRand struct{ *rand.Rand }

func (r testRand) Normal() float64  { return r.NormFloat64() }
func (r testRand) Uniform() float64 { return r.Float64() }

// TestEveryFamily compiles a model of every family of the formula front end,
// and checks its gradients and that a prediction has a mean or is a level.
func TestEveryFamily(t *testing.T) {
	data := dataBlock(1,
		"g: {type: category, levels: [a, b, c]}",
		"n: {type: integer, lower: 0, upper: 50}",
		"m: {type: integer, lower: 20, upper: 50}",
		"e: {type: real, lower: 1, upper: 9}",
		"y: {type: real, lower: -10, upper: 30, scale: {center: 10, by: 4}}",
		"t: {type: real, lower: 0.5, upper: 30}",
		"f: {type: real, lower: 0.01, upper: 0.99}",
		"o: {type: ordinal, levels: [I, II, III, IV]}",
		"d: {type: binary}")
	for _, model := range []string{
		"formula: d ~ x1\n  family: bernoulli\n  link: probit",
		"formula: d ~ x1\n  family: bernoulli\n  link: cloglog",
		"formula: n | trials(m) ~ x1\n  family: binomial",
		"formula: n | trials(m) ~ x1\n  family: binomial\n  link: probit",
		"formula: n | trials(m) ~ x1\n  family: binomial\n  link: cloglog",
		"formula: n | trials(50) ~ x1\n  family: binomial",
		"formula: n | trials(m) ~ x1\n  family: beta_binomial",
		"formula: n | trials(50) ~ x1\n  family: beta_binomial\n  link: probit\n  kappa: 1 + x1",
		"formula: y ~ x1\n  family: normal",
		"formula: y ~ x1\n  family: normal\n  link: log",
		"formula: y ~ x1\n  family: skew_normal",
		"formula: y ~ x1\n  family: skew_normal\n  alpha: 1 + x1",
		"formula: n ~ x1\n  family: poisson\n  link: identity",
		"formula: t ~ x1\n  family: gamma\n  link: identity",
		"formula: t ~ x1\n  family: inverse_gaussian",
		"formula: t ~ x1\n  family: log_logistic",
		"formula: surv(t, d) ~ x1\n  family: log_logistic",
		"formula: t ~ x1\n  family: gompertz",
		"formula: surv(t, d) ~ x1\n  family: gompertz",
		"formula: surv(e, t, d) ~ x1\n  family: weibull",
		"formula: m | trunc(lb = 1) ~ x1\n  family: negative_binomial",
		"formula: o ~ x1\n  family: cumulative\n  link: probit",
		"formula: o ~ x1\n  family: cumulative\n  link: cloglog",
		"formula: o ~ x1\n  family: sratio",
		"formula: o ~ x1\n  family: acat",
		"formula: y ~ x1\n  family: normal\n  link: tan_half",
		"formula: y ~ x1\n  family: student_t\n  link: tan_half",
		"formula: y ~ x1\n  family: laplace\n  link: tan_half",
		"formula: n ~ x1\n  family: poisson\n  link: softplus",
		"formula: n ~ x1\n  family: poisson\n  link: sqrt",
		"formula: n ~ x1\n  family: negative_binomial\n  link: softplus",
		"formula: n ~ x1\n  family: negative_binomial\n  link: sqrt",
		"formula: t ~ x1\n  family: gamma\n  link: softplus",
		"formula: t ~ 1 + x1\n  family: gamma\n  link: inverse",
		"formula: t ~ 1 + x1\n  family: gamma\n  link: inverse_squared",
		"formula: surv(t, d) ~ 1 + x1\n  family: gamma\n  link: inverse",
		"formula: t ~ x1\n  family: exponential\n  link: softplus",
		"formula: t ~ x1\n  family: exponential\n  link: inverse",
		"formula: f ~ x1\n  family: beta\n  link: probit",
		"formula: f ~ x1\n  family: zero_one_inflated_beta\n  coi: 1 + x1",
		"formula: y ~ x1\n  family: student_t\n  nu: gamma(2, 0.1)",
		"formula: y ~ x1\n  family: laplace",
		"formula: n ~ x1\n  family: poisson",
		"formula: n ~ x1 + (1 | g)\n  family: negative_binomial",
		"formula: t ~ x1\n  family: gamma",
		"formula: t ~ x1\n  family: exponential",
		"formula: t ~ x1\n  family: log_normal",
		"formula: t ~ x1\n  family: weibull",
		"formula: surv(t, d) ~ x1\n  family: weibull",
		"formula: n ~ x1\n  family: zero_inflated_poisson",
		"formula: n ~ x1\n  family: zero_inflated_poisson\n  zi: 1 + e\n  priors:\n    zi_b[e]: normal(0, 2)",
		"formula: n ~ x1\n  family: zero_inflated_negative_binomial\n  zi: beta(2, 2)",
		"formula: n ~ x1\n  family: hurdle_poisson\n  hu: 0 + x1",
		"formula: n ~ x1\n  family: hurdle_negative_binomial\n  phi: 1 + x1",
		"formula: t ~ x1\n  family: piecewise_exponential\n  cuts: [1, 2.5, 10]",
		"formula: surv(t, d) ~ x1 + (1 | g)\n  family: piecewise_exponential\n  cuts: [1, 20]\n  priors:\n    baseline: normal(-1, 1)\n    baseline[1-20]: normal(-2, 1)",
		"formula: f ~ x1\n  family: beta",
		"formula: o ~ x1 + g\n  family: cumulative",
		"formula: y ~ x1\n  family: student_t\n  sigma: 1 + g\n  nu: gamma(2, 0.1)\n  priors:\n    sigma_b[g=c]: normal(0, 2)",
		"formula: n ~ x1\n  family: negative_binomial\n  phi: 0 + x1",
		"formula: g ~ x1 + e\n  family: categorical\n  priors:\n    b[x1,c]: normal(1, 2)\n    Intercept[b]: normal(0, 3)",
		"formula: g ~ spline(x1, -1, 0, 1) + (1 + e || d)\n  family: categorical\n  priors:\n    sd_d[e,c]: half_normal(2)",
	} {
		t.Run(model, func(t *testing.T) {
			m := compile(t, data+"model:\n  "+model+"\n")
			rng := rand.New(rand.NewPCG(3, 4))
			rows := simulated(m.Encoding, 6, rng)
			theta := normals(m.P, 0.3, rng)
			checkGradients(t, m, rows, theta)
			checkDensityTape(t, m, rows, theta)
			p := predictive.New(m, 6)
			p.Set(normals(m.P, 0.3, rng))
			p.Records(rows, m.Encoding.K, 6)
			draws := make([]float64, 6)
			p.Draw(draws, 0, testRand{rng})
			for _, v := range draws {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("draws %v", draws)
				}
			}
			if !p.Mean(draws, 0) && m.Observed[0].Columns[0].Numeric() {
				t.Error("no mean")
			}
		})
	}
}
