package fit_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/fit"
	"d3p/internal/fit/fittest"
	"d3p/internal/fit/plan"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
	"d3p/internal/stattest"
)

// twoParameters is a model of two parameters whose posterior is drawn from once.
type twoParameters struct {
	name    string
	columns string
	model   string
	table   string
	config  plan.Config
	// logDensity is the log density of a draw, up to a constant, by the definition of the
	// mechanism and without the model's graph. slope is that of a Gaussian with the plan's noise.
	logDensity func(a, b, slope float64) float64
}

// pairs are x and y of the records, each three times.
var pairs = slices.Repeat([][2]float64{{-1, 0.3}, {0.5, 1.4}, {2, 2.1}, {3, -4}}, 3)

// betaScore is the score of a beta divergence of 1.5 at a density, less the integral.
func betaScore(density float64) float64 { return 2 * math.Sqrt(density) }

func twoParameterModels() []twoParameters {
	normal := func(x, sd float64) float64 { return -x * x / (2 * sd * sd) }
	logistic := func(eta float64) float64 { return 1 / (1 + math.Exp(-eta)) }
	var numbers, labels strings.Builder
	for _, p := range pairs {
		fmt.Fprintf(&numbers, "%g,%g\n", p[0], p[1])
		fmt.Fprintf(&labels, "%g,%d\n", p[0], int(max(0, math.Copysign(1, p[1]))))
	}
	weighted := func(weight func(slope, x float64) float64) func(a, b, slope float64) float64 {
		return func(a, b, slope float64) float64 {
			log := normal(a, 2) + normal(b, 1)
			for _, p := range pairs {
				log += weight(slope, p[0]) * math.Log(logistic(math.Copysign(1, p[1])*(a+b*p[0])))
			}
			return log
		}
	}
	const formula = "model:\n  formula: y ~ 1 + x\n  family: bernoulli\n  priors:\n    Intercept: normal(0, 2)\n    b: normal(0, 1)\n"
	sample, exact, gibbs := plan.Config{Method: settings.MethodOneSample, Epsilon: 2}, plan.Config{Method: settings.MethodOneSample, Epsilon: 8, Delta: 1e-3}, plan.Config{Method: settings.MethodGibbs, Epsilon: 8, Delta: 1e-3}
	substituted := plan.Config{Method: settings.MethodOneSample, Epsilon: 12, Neighbours: "substitute"}
	number, binary := "{type: real, lower: -9, upper: 9, scale: {center: 0, by: 1}}", `{type: binary, levels: ["0", "1"]}`
	return []twoParameters{
		{"normal, beta divergence", number, "likelihood: {divergence: beta, beta: 1.5}\ncore:\n  params:\n    a: normal(0, 2)\n    b: normal(0, 1)\n  rows:\n    observe:\n      y: normal(a + b * x, 0.5)\n",
			numbers.String(), sample, func(a, b, _ float64) float64 {
				height := 1 / (0.5 * math.Sqrt(2*math.Pi))
				log := normal(a, 2) + normal(b, 1)
				for _, p := range pairs {
					log += 2 / betaScore(height) * betaScore(height*math.Exp(normal(p[1]-a-b*p[0], 0.5)))
				}
				return log
			}},
		{"logistic, beta divergence", binary, "likelihood: {divergence: beta, beta: 1.5}\n" + formula,
			labels.String(), substituted, func(a, b, _ float64) float64 {
				log := normal(a, 2) + normal(b, 1)
				for _, p := range pairs {
					one := logistic(a + b*p[0])
					of := one
					if p[1] < 0 {
						of = 1 - one
					}
					log += 12 / 2 / 2.0 * (betaScore(of) - (math.Pow(one, 1.5)+math.Pow(1-one, 1.5))/1.5)
				}
				return log
			}},
		{"logistic, exact", binary, formula,
			labels.String(), exact, weighted(func(slope, x float64) float64 { return min(1, slope/math.Hypot(2, x)) })},
		{"logistic, exact, weights of at most 0.2", binary, "likelihood: {gibbs: {weight: 0.2}}\n" + formula,
			labels.String(), exact, weighted(func(slope, x float64) float64 { return min(0.2, slope/math.Hypot(2, x)) })},
		{"logistic, Gibbs posterior", binary, formula,
			labels.String(), gibbs, weighted(func(slope, _ float64) float64 { return slope / math.Hypot(2, 9) })},
	}
}

// The law of one-sample fits is that of quadrature, jointly in two parameters. F(a) and F(b | a)
// of a draw (a, b) are uniform, so the test counts draws in cells of equal probability. A right
// program fails one of the 15 checks in 6e7 runs.
func TestOneSampleFitsFollowTheirLaw(t *testing.T) {
	stattest.SkipNumerics(t)
	for _, c := range twoParameterModels() {
		t.Run(c.name, func(t *testing.T) {
			m := modelstest.Compile(t, "two.yaml", "d3p: 1\ndata:\n  unit: {entity: person, rows_per_unit: 1}\n  rows: {public: 12}\n  columns:\n    x: {type: real, lower: -9, upper: 9, scale: {center: 0, by: 1}}\n    y: "+c.columns+"\n"+c.model)
			path := filepath.Join(t.TempDir(), "two.csv")
			if err := os.WriteFile(path, []byte("x,y\n"+c.table), 0o600); err != nil {
				t.Fatal(err)
			}
			p := fittest.Plan(t, m, c.config)
			law := newSquareLaw(10, 400, func(a, b float64) float64 { return c.logDensity(a, b, 1/p.NoiseMultiplier) })
			var first, second []float64
			cells := make([]int, 4)
			for i := range 1000 {
				theta := oneSample(t, p, path, uint64(i+1))
				u, v := law.uniform(theta[0], theta[1])
				first, second = append(first, u), append(second, v)
				cells[2*min(1, int(2*u))+min(1, int(2*v))]++
			}
			identity := func(x float64) float64 { return x }
			stattest.Require(t, "the first parameter", stattest.KolmogorovSmirnov(first, identity))
			stattest.Require(t, "the second given the first", stattest.KolmogorovSmirnov(second, identity))
			stattest.Require(t, "both", stattest.Uniform(cells))
		})
	}
}

// oneSample is the draw of a fit. A chain of the No-U-Turn sampler is shorter than the plan's,
// and stands alone: the others are for its diagnosis.
func oneSample(t *testing.T, p *plan.Plan, data string, seed uint64) []float64 {
	t.Helper()
	encoding, root := p.Model().Encoding, noise.Insecure(seed)
	config := privacy.CuratorConfig{Engine: cpu.New(cpu.Options{Threads: 1}), Root: root}
	if p.DrawsExactly() {
		config.Columns = privacy.NewColumns(privacy.TableConfig{Data: data, Encoding: encoding, Root: root})
		result, err := fit.Run(context.Background(), p, fittest.Curator(t, p, config), nil)
		if err != nil {
			t.Fatal(err)
		}
		return result.Posterior.Lambda
	}
	draw, err := p.PosteriorDraw()
	if err != nil {
		t.Fatal(err)
	}
	draw.Chains, draw.Warmup, draw.Kept = 1, 150, 30
	likelihood := p.Model().Likelihood
	config.Table = privacy.NewTable(privacy.TableConfig{Data: data, Encoding: encoding, Precision: privacy.Float64, Spare: likelihood.K - likelihood.K0, Root: root})
	theta, err := fittest.Curator(t, p, config).DrawPosterior(context.Background(), draw)
	if err != nil {
		t.Fatal(err)
	}
	return theta
}

// squareLaw is a law on the square from -reach to reach, by a midpoint rule.
type squareLaw struct {
	reach float64
	n     int
	// first is the distribution function of a at the edges of n cells; given[i] that of b in
	// column i.
	first []float64
	given [][]float64
}

func newSquareLaw(reach float64, n int, log func(a, b float64) float64) squareLaw {
	l := squareLaw{reach: reach, n: n}
	at := func(i int) float64 { return reach * (2*(float64(i)+0.5)/float64(n) - 1) }
	columns := make([]float64, n)
	for i := range n {
		density := make([]float64, n)
		for j := range n {
			density[j] = math.Exp(log(at(i), at(j)))
			columns[i] += density[j]
		}
		l.given = append(l.given, cumulated(density))
	}
	l.first = cumulated(columns)
	return l
}

// cumulated are the shares of a sum below each edge.
func cumulated(x []float64) []float64 {
	sums := make([]float64, len(x)+1)
	for i, v := range x {
		sums[i+1] = sums[i] + v
	}
	for i := range sums {
		sums[i] /= sums[len(x)]
	}
	return sums
}

// uniform is F(a) and F(b | a), of the column of a.
func (l squareLaw) uniform(a, b float64) (u, v float64) {
	place := func(x float64) (int, float64) {
		at := (x/l.reach + 1) / 2 * float64(l.n)
		i := int(min(max(at, 0), float64(l.n-1)))
		return i, at - float64(i)
	}
	i, part := place(a)
	j, rest := place(b)
	below := func(f []float64, k int, part float64) float64 { return f[k] + part*(f[k+1]-f[k]) }
	return below(l.first, i, part), below(l.given[i], j, rest)
}
