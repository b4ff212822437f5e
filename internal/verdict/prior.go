package verdict

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"d3p/internal/models/naming"
	"d3p/internal/outputs"
	"d3p/internal/stats"
)

const (
	priorWidth = 0.9  // of the prior's interval: the posterior is the prior
	mixedWidth = 0.71 // the prior has at least as much information as the data
	pulledFar  = 1    // posterior standard deviations
	pulledSome = 0.5
)

// besidePrior is the verdict on variable v by its prior.
func (d *judged) besidePrior(v int) (verdict outputs.Verdict) {
	if d.prior == nil || d.isPoint(v) {
		return verdict
	}
	low, high := stats.Central(slices.Sorted(slices.Values(d.Of(v))), 0.9)
	lowPrior, highPrior := stats.Central(slices.Sorted(slices.Values(d.prior.Of(v))), 0.9)
	switch ratio := (high - low) / (highPrior - lowPrior); {
	case ratio > priorWidth:
		verdict = worse(verdict, outputs.Not, "the posterior is the prior")
	case ratio > mixedWidth:
		verdict = worse(verdict, outputs.Partly, "the prior has more information than the data")
	case (slices.Contains(spreads, d.Variables[v].Name) || naming.IsSpread(d.Variables[v].Name)) && math.Log(high/low) > mixedWidth*math.Log(highPrior/lowPrior):
		verdict = worse(verdict, outputs.Partly, "the data tell how large it may be, and hardly how small")
	}
	switch pull := d.pull(v); {
	case isEffect(d.Variables[v].Name):
	case pull > pulledFar:
		verdict = worse(verdict, outputs.Not, "the prior moves it by %.1f sds: widen the prior, or declare the scale of its column", pull)
	case pull > pulledSome:
		verdict = worse(verdict, outputs.Partly, "the prior moves it by %.1f sds", pull)
	}
	return verdict
}

// pull is how far the prior moves variable v, in standard deviations s of the posterior. It takes prior and likelihood for
// normal. The likelihood's mean is then m/(1 − r), with r = s²/τ²; m is the posterior's mean less the prior's, and τ the
// prior's standard deviation. Where they cannot be two normals it is 0.
func (d *judged) pull(v int) float64 {
	mean, variance := stat.MeanVariance(d.Of(v), nil)
	priorMean, priorVariance := stat.MeanVariance(d.prior.Of(v), nil)
	r := variance / priorVariance
	if !(r > 0 && r < 1) || math.IsInf(priorMean, 0) {
		return 0
	}
	return math.Abs(mean-priorMean) / math.Sqrt(variance) * r / (1 - r)
}

// judgeBesidePulled caps the verdicts of a linear predictor by its coefficient that the prior
// moves farthest. The others take up a part of what it lacks, and where a response is not
// linear in the predictor, all of them are too small (Gail, Wieand and Piantadosi 1984,
// doi:10.1093/biomet/71.3.431).
func (d *judged) judgeBesidePulled() {
	if d.prior == nil {
		return
	}
	most, at := 0.0, -1
	for v := range d.Variables {
		if base, _ := naming.Split(d.Variables[v].Name); base != naming.Slopes || d.isPoint(v) {
			continue
		}
		if pull := d.pull(v); pull > most {
			most, at = pull, v
		}
	}
	if most <= pulledFar {
		return
	}
	for v := range d.Variables {
		switch base, _ := naming.Split(d.Variables[v].Name); base {
		case naming.Slopes, naming.Raw(naming.Slopes), naming.Intercept, naming.Raw(naming.Intercept), naming.Thresholds:
			d.cap(v, outputs.Partly, "the prior moves %s by %.1f sds, and others with it", d.Variables[at].Name, most)
		}
	}
}

// isEffect reports whether a variable is an effect of a group, which is shrunk by design.
func isEffect(name string) bool {
	_, ok := naming.GroupOf(name)
	return ok
}
