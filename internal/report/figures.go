package report

import (
	"fmt"
	"html/template"
	"math"

	"d3p/internal/report/figure"
)

// figures are inline SVG: no script, no file of their own.
type figures struct {
	Tradeoff, Curve, Spending, Budget, Pipeline, Forest template.HTML
	Traces, Overlays                                    []template.HTML
}

// forestRows bounds the intervals in the figure.
const forestRows = 40

func figuresOf(p *Privacy, f Findings) (out figures) {
	out.Forest = forestFigure(Shown(f.Rows))
	out.Pipeline = pipelineFigure(p)
	if f.Trace != nil {
		for _, line := range f.Trace.Largest(6) {
			points := make([]figure.Point, len(line.Steps))
			for i := range points {
				points[i] = figure.Point{X: line.Steps[i], Y: line.Values[i]}
			}
			out.Traces = append(out.Traces, figure.Trace(line.Name, points))
		}
	}
	for _, o := range f.Overlays {
		out.Overlays = append(out.Overlays, figure.Overlay(o.Name, o.Prior, o.Posterior, o.From, o.To))
	}
	if p.Guarantee == nil {
		return out
	}
	claim := Point{p.Guarantee.Epsilon, p.Guarantee.Delta}
	out.Tradeoff = tradeoffFigure(p, claim)
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

func tradeoffFigure(p *Privacy, claim Point) template.HTML {
	var guess, one, gauss, run, marks []figure.Point
	for _, r := range p.Risk.Tradeoff {
		guess = append(guess, figure.Point{X: r.FPR, Y: r.FPR})
		one = append(one, figure.Point{X: r.FPR, Y: truePositives(claim, r.FPR)})
		gauss = append(gauss, figure.Point{X: r.FPR, Y: gaussianTruePositives(p.Guarantee.GDP.Mu, r.FPR)})
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
	z := math.Sqrt2 * math.Erfinv(2*fpr-1)
	return math.Erfc(-(z+mu)/math.Sqrt2) / 2
}

func forestFigure(rows []Summary) template.HTML {
	var intervals []figure.Interval
	for _, r := range rows[:min(len(rows), forestRows)] {
		i := figure.Interval{Name: r.Variable, Mean: r.Mean, Q5: r.Q5, Q25: r.Q25, Q75: r.Q75, Q95: r.Q95}
		if r.NoiseShare != nil {
			i.NoiseShare, i.NoiseShareModelled = *r.NoiseShare, true
		}
		intervals = append(intervals, i)
	}
	return figure.Forest(intervals)
}

// pipelineFigure draws the mechanism of section 5.
func pipelineFigure(p *Privacy) template.HTML {
	m := p.Mechanism
	batch := [2]string{"a batch of them", fmt.Sprintf("%s, rate %.4g, %d times", m.Sampler.Scheme, m.Sampler.Rate, m.Iterations)}
	if m.Sampler.Rate == 1 {
		batch = [2]string{"all of them", fmt.Sprintf("%d times", m.Iterations)}
	}
	bound := fmt.Sprintf("L2 norm at most %.3g", m.Clip.Norm)
	if m.Clip.Quantile > 0 {
		bound = fmt.Sprintf("L2 norm at most %.3g at first, then as released counts say", m.Clip.Norm)
	}
	records := [2]string{fmt.Sprintf("records, one %s each", p.Unit.Entity), "declared bounds and levels"}
	step := [2]string{"step of the posterior", fmt.Sprintf("%d numbers, scaled by public numbers only", m.ReleasedPerStep)}
	release := [2]string{"posterior, draws, this report", "computed from the steps alone"}
	if m.NoiseMultiplier == 0 {
		return figure.Pipeline([][2]string{records, batch, {"gradients", "neither clipped nor noisy"}, step, release}, 5)
	}
	return figure.Pipeline([][2]string{
		records, batch,
		{"gradients, each clipped", bound},
		{"their sum and Gaussian noise", fmt.Sprintf("standard deviation %.4g clip norms", m.GradientNoise)},
		step, release,
	}, 4)
}
