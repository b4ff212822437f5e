package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"d3p/internal/fit/plan"
	"d3p/internal/models/naming"
	"d3p/internal/models/special"
	"d3p/internal/outputs"
	"d3p/internal/privacy/accountant"
	"d3p/internal/report/figure"
	"d3p/internal/stats"
)

// figures are the figures of the report's page.
type figures struct {
	Tradeoff, Curve, Spending, Budget, Pipeline, Forest figure.Figure
	Traces, Overlays                                    []figure.Figure
}

const forestRows = 40 // the most intervals in the figure

// Panels is the most parameters in figures with a panel for each.
const Panels = 6

func figuresOf(p *Privacy, f Findings) (out figures) {
	out.Forest, out.Traces, out.Overlays = f.Intervals(400), f.Iterates(), f.BeforeAndAfter()
	out.Pipeline = pipelineFigure(p)
	if p.Guarantee == nil {
		return out
	}
	claim := Point{p.Guarantee.Epsilon, p.Guarantee.Delta}
	out.Tradeoff = tradeoffFigure(p.Risk.Tradeoff, claim, p.Guarantee.GDP.Mu)
	var curve, spent []figure.Point
	for _, c := range p.Guarantee.Curve {
		curve = append(curve, figure.Point{X: c.Delta, Y: c.Epsilon})
	}
	out.Curve = figure.EpsilonOfDelta(curve, figure.Point{X: claim.Delta, Y: claim.Epsilon}, p.Neighbours.NPublic)
	for _, s := range p.PerIteration {
		spent = append(spent, figure.Point{X: float64(s.T), Y: s.Epsilon})
	}
	out.Spending = figure.Spending(spent, p.Guarantee.Target.Epsilon)
	out.Budget = figure.Budget([]figure.Part{{Name: "this fit", Value: claim.Epsilon}}, p.Guarantee.Target.Epsilon, "target")
	if b := p.Budget; b != nil {
		out.Budget = figure.Budget([]figure.Part{
			{Name: "other runs", Value: b.Before.Epsilon}, {Name: "this fit adds", Value: b.After - b.Before.Epsilon},
		}, b.Limit.Epsilon, "limit")
	}
	return out
}

// tradeoffFigure draws the trade-off of a run, of its claim, and of mu-Gaussian
// differential privacy.
func tradeoffFigure(tradeoff []Rates, claim Point, mu float64) figure.Figure {
	var guess, one, gauss, run, marks []figure.Point
	for _, r := range tradeoff {
		guess = append(guess, figure.Point{X: r.FPR, Y: r.FPR})
		one = append(one, figure.Point{X: r.FPR, Y: truePositives(claim, r.FPR)})
		gauss = append(gauss, figure.Point{X: r.FPR, Y: gaussianTruePositives(mu, r.FPR)})
		run = append(run, figure.Point{X: r.FPR, Y: 1 - r.FNR})
		if r.FPR == 0.001 || r.FPR == 0.01 || r.FPR == 0.1 {
			marks = append(marks, run[len(run)-1])
		}
	}
	return figure.Tradeoff(guess, one, gauss, run, marks)
}

// gaussianTruePositives is the true positive rate that mu-Gaussian differential
// privacy allows: Phi(Phi^-1(fpr) + mu).
func gaussianTruePositives(mu, fpr float64) float64 {
	if fpr <= 0 || fpr >= 1 {
		return fpr
	}
	return special.NormalCDF(special.NormalQuantile(fpr) + mu)
}

// Intervals shows the posterior of the first parameters, in a figure of a width.
func (f Findings) Intervals(width float64) figure.Figure {
	rows := outputs.WithoutRepetitions(f.Rows)
	var intervals []figure.Interval
	for _, r := range rows[:min(len(rows), forestRows)] {
		i := figure.Interval{Name: r.Variable, Mean: r.Mean, Q5: r.Q5, Q25: r.Q25, Q75: r.Q75, Q95: r.Q95}
		if r.NoiseShare != nil {
			i.NoiseShare, i.NoiseShareModelled = *r.NoiseShare, true
		}
		intervals = append(intervals, i)
	}
	return figure.Forest(intervals, width)
}

// Iterates shows the iterates of the parameters that end farthest from zero; none
// without a trace.
func (f Findings) Iterates() (list []figure.Figure) {
	if f.Trace == nil {
		return nil
	}
	for _, line := range f.Trace.Largest(Panels) {
		points := make([]figure.Point, len(line.Steps))
		for i := range points {
			points[i] = figure.Point{X: line.Steps[i], Y: line.Values[i]}
		}
		list = append(list, figure.Trace(line.Name, points))
	}
	return list
}

// Overlay holds the densities of one parameter before and after the fit, over
// the range of the latter.
type Overlay struct {
	Name             string
	Prior, Posterior []figure.Point
	From, To         float64 // of the axis
}

// Overlays compares prior and posterior of the n parameters (no derived quantities) whose
// posterior mean is farthest from zero. It leaves out standardised effects of groups and
// constants. Rows is the summary of the posterior.
func Overlays(posterior outputs.Draws, rows []outputs.Summary, prior *outputs.Draws, n int) (list []Overlay) {
	if prior == nil || prior.S < 2 || posterior.S < 2 {
		return nil
	}
	var order []int
	for v, variable := range posterior.Variables {
		if variable.Transform != "" && rows[v].SD > 0 && !rows[v].Fixed() && !naming.IsStandardised(variable.Name) {
			order = append(order, v)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(math.Abs(rows[b].Mean), math.Abs(rows[a].Mean))
	})
	for _, v := range order[:min(n, len(order))] {
		variable := posterior.Variables[v]
		o := Overlay{
			Name: rows[v].Variable,
			From: max(rows[v].Mean-5*rows[v].SD, variable.Lower), To: min(rows[v].Mean+5*rows[v].SD, variable.Upper),
		}
		o.Prior, o.Posterior = density(prior.Of(v), variable, o.From, o.To), density(posterior.Of(v), variable, o.From, o.To)
		list = append(list, o)
	}
	return list
}

// density is the density of x at 81 points.
func density(x []float64, bounds outputs.Variable, lo, hi float64) []figure.Point {
	points := make([]figure.Point, 81)
	at, height := stats.Density(x, bounds.Lower, bounds.Upper, lo, hi, len(points))
	for i := range points {
		points[i] = figure.Point{X: at[i], Y: height[i]}
	}
	return points
}

// BeforeAndAfter shows prior and posterior of some parameters.
func (f Findings) BeforeAndAfter() (list []figure.Figure) {
	for _, o := range f.Overlays {
		list = append(list, figure.Overlay(o.Name, o.Prior, o.Posterior, o.From, o.To))
	}
	return list
}

// CurvePage shows a privacy curve at its claim: the trade-off, and epsilon against delta.
func CurvePage(c *accountant.Curve, claim Point) (figure.Page, error) {
	if math.IsInf(claim.Epsilon, 1) {
		return figure.Page{}, fmt.Errorf("no figure: epsilon is infinite at delta %g", claim.Delta)
	}
	mu, _ := c.DominatingMu()
	var curve []figure.Point
	for power := math.Min(-9, math.Floor(math.Log10(claim.Delta))); power <= -1; power += 0.125 {
		delta := math.Pow(10, power)
		if epsilon := c.Epsilon(delta); !math.IsInf(epsilon, 1) {
			curve = append(curve, figure.Point{X: delta, Y: epsilon})
		}
	}
	return figure.Page{Figures: []figure.Figure{
		tradeoffFigure(RiskOf(c).Tradeoff, claim, mu),
		figure.EpsilonOfDelta(curve, figure.Point{X: claim.Delta, Y: claim.Epsilon}, 0),
	}}, nil
}

// pipelineFigure draws the mechanism of section 5.
func pipelineFigure(p *Privacy) figure.Figure {
	m := p.Mechanism
	batch := [2]string{"a batch of them", fmt.Sprintf("%s, %s, %d times", m.Sampler.Scheme, m.Sampler.rateWords(), m.Iterations)}
	if m.Sampler.Rate == 1 {
		batch = [2]string{"all of them", fmt.Sprintf("%d times", m.Iterations)}
	}
	bound := fmt.Sprintf("L2 norm at most %.3g", m.Clip.Norm)
	if m.Clip.Quantile > 0 {
		bound = fmt.Sprintf("L2 norm at most %.3g at first, then adapted by released counts", m.Clip.Norm)
	}
	if m.Clip.Schedule != nil {
		least, most := m.Clip.Schedule.Range()
		bound = fmt.Sprintf("L2 norm at most %.3g to %.3g, by a public schedule", least*m.Clip.Norm, most*m.Clip.Norm)
	}
	if m.Clip.Groups != nil {
		bound += fmt.Sprintf(", in %d groups", len(m.Clip.Groups))
	}
	if m.Clip.Mode == plan.ClippingByMoments {
		bound = "in L2 norm, by earlier releases"
	}
	records := [2]string{fmt.Sprintf("records, one %s each", p.Unit.Entity), "declared bounds and levels"}
	step := [2]string{"step of the posterior", fmt.Sprintf("%d numbers, scaled by public numbers only", m.ReleasedPerStep)}
	release := [2]string{"posterior, draws, this report", "computed from the steps alone"}
	if m.NoiseMultiplier == 0 {
		return figure.Pipeline([][2]string{records, batch, {"gradients", "neither clipped nor noisy"}, step, release}, 5)
	}
	noise := fmt.Sprintf("standard deviation %.4g clip norms", m.GradientNoise)
	if m.NoiseSchedule != nil {
		least, most := m.NoiseSchedule.Range()
		noise = fmt.Sprintf("standard deviation from %.4g to %.4g clip norms", least*m.GradientNoise, most*m.GradientNoise)
	}
	return figure.Pipeline([][2]string{
		records, batch,
		{"gradients, each clipped", bound},
		{"their sum and Gaussian noise", noise},
		step, release,
	}, 4)
}
