package dist

import (
	"errors"
	"fmt"
	"math"

	"d3p/internal/models/dist/continuous"
	"d3p/internal/models/dist/counts"
	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/special"
	"d3p/internal/models/support"
)

// BetaScore takes the place of a log density f in a likelihood that is robust against
// outliers, for beta > 1:
//
//	f(x)^(β-1)/(β-1) − (1/β) ∫ f(z)^β dz
//
// It is bounded above where the density is, so a record far from the model has hardly any
// gradient: at most .45 |x| for a logit and β = 1.5. It tends to log f(x) − 1, up to a
// constant, as β tends to 1. Basu, Harris, Hjort and Jones 1998, Biometrika 85(3),
// doi:10.1093/biomet/85.3.549; Jewson, Ghalebikesabi and Holmes 2023, arXiv:2307.05194. For
// a sum over levels, levels is their number. The error is the reason if the family has no
// closed form.
func BetaScore(b *graph.Builder, d Density, x Observed, beta float64, levels int) (*graph.Node, error) {
	a, ok := d.(Applied)
	if !ok {
		return nil, fmt.Errorf("a beta divergence is of one family, not of a mixture or of a censored, truncated or missing value")
	}
	integral, err := a.powerIntegral(b, beta, levels)
	if err != nil {
		return nil, err
	}
	power := b.Exp(b.Mul(b.Const(beta-1), a.LogDensity(b, x)))
	return b.Sub(b.Mul(b.Const(1/(beta-1)), power), b.Mul(b.Const(1/beta), integral)), nil
}

// powerIntegral is ∫ f(z)^β dz, or the sum over the levels of a category.
func (a Applied) powerIntegral(b *graph.Builder, beta float64, levels int) (*graph.Node, error) {
	switch kind := a.Support().Kind; {
	case kind == support.Binary, kind == support.Category:
		terms := make([]*graph.Node, levels)
		for k := range terms {
			terms[k] = b.Exp(b.Mul(b.Const(beta), a.LogDensity(b, Observed{X: b.Const(float64(k))})))
		}
		return b.AddAll(terms...), nil
	}
	p := a.power(beta)
	switch {
	case p.Scale == nil && a.Name == continuous.StudentT.Name:
		return nil, errors.New("the beta divergence of student_t has no closed form while its df is a parameter: write a core model with a number as df (`d3p render --core` prints one, without `likelihood:`)")
	case p.Scale == nil:
		return nil, fmt.Errorf("the beta divergence of %s has no closed form (bernoulli, normal, laplace, student_t with a number as df, and the families of levels have one)", a.Name)
	}
	return b.Exp(b.Add(b.Const(p.LogIntegral), b.Mul(b.Const(1-beta), family.LogOf(b, p.Scale)))), nil
}

// power is the family's power; its Scale is nil if it has none.
func (a Applied) power(beta float64) family.Power {
	if a.Distribution.Power == nil {
		return family.Power{}
	}
	return a.Distribution.Power(a.Args, beta)
}

// BetaRange is the length of the interval that contains BetaScore for every record and all
// parameters: 1/(β−1) for levels, M^(β−1)/(β−1) for a density that is at most M. For levels
// the score grows with the level's probability p, from −1/β at 0, where another level has
// probability 1, to 1/(β−1) − 1/β at 1: its derivative is at least p^(β−2)(1−p). Of a
// family with a location and a fixed scale the integral is a constant. The error is the
// reason if there is no bound.
func BetaRange(d Density, beta float64) (float64, error) {
	a, ok := d.(Applied)
	if !ok {
		return 0, fmt.Errorf("the density is not of one family")
	}
	if kind := a.Support().Kind; kind == support.Binary || kind == support.Category {
		return 1 / (beta - 1), nil
	}
	p := a.power(beta)
	if p.Scale == nil {
		return 0, fmt.Errorf("the density of %s has no bound that is known", a.Name)
	}
	scale, known := p.Scale.Value()
	if !known {
		return 0, fmt.Errorf("the density of %s is not bounded while its scale is a parameter: write a number for it in a core model (`d3p render --core` prints one)", a.Name)
	}
	return math.Exp((beta-1)*(p.LogHeight-math.Log(scale))) / (beta - 1), nil
}

// BetaLocation is the number that a density depends on alone, a location or log odds, and a
// bound on the derivative of BetaScore in it, over all numbers and outcomes. At scale s the slope
// of a location is s^(−β) times that at scale 1. ok is false if there is more to the density, as a
// scale that is a parameter.
func BetaLocation(d Density, beta float64) (location *graph.Node, slope float64, ok bool) {
	a, ok := d.(Applied)
	if !ok {
		return nil, 0, false
	}
	if a.Name == counts.Bernoulli.Name {
		location = counts.LogitsOf(a.Args[0], a.Args[1])
		return location, BetaSlope("logit", beta), location != nil
	}
	p := a.power(beta)
	if p.Scale == nil {
		return nil, 0, false
	}
	scale, known := p.Scale.Value()
	return p.Location, math.Exp(p.LogSlope - beta*math.Log(scale)), known
}

// slopeCells is the number of intervals of probabilities that BetaSlope bounds.
const slopeCells = 10_000

// BetaSlope bounds the derivative of BetaScore of a binary outcome in its linear predictor, over
// all predictors and both outcomes, and for softmax the L2 norm of the gradient in the linear
// predictors of three or more levels; infinite for other links. With p the probability of the
// outcome and h(p) the derivative of log p it is
//
//	h(p) (p^(β−1)(1−p) + p(1−p)^(β−1))
//
// where h is 1−p for log odds, φ(z)/Φ(z) at p = Φ(z) for probit, and −log p for outcome 0 of
// cloglog, for outcome 1 less than 1−p/2. All fall with p, so that an interval has the largest of
// each factor at one of its ends.
//
// The gradient g in all logits of softmax sums to 0, so that |g| is at most √2 times the sum of its
// positive parts, which is ±Σ g over some set with outcome y. With P the set's probability
//
//	Σ g = (1−P) (p_y^(β−1) − Σ_set p^β) + P Σ_rest p^β ≤ (1−P) p_y^(β−1)(1−p_y) + P(1−P)^β
//
// with p_y ≤ P. −Σ g is at most (1−P) P^β, the last term at 1−P. The reference has no predictor.
func BetaSlope(link string, beta float64) float64 {
	within := func(low, high, rate float64) float64 {
		rest := 1 - low
		return rate * (math.Pow(high, beta-1)*rest + high*math.Pow(rest, beta-1))
	}
	most := 0.0
	switch link {
	case "logit":
		for i := range slopeCells {
			low := float64(i) / slopeCells
			most = max(most, within(low, low+1./slopeCells, 1-low))
		}
	case "softmax":
		for i := range slopeCells {
			low, high := float64(i)/slopeCells, float64(i+1)/slopeCells
			p := min(high, (beta-1)/beta) // has the largest p^(β−1)(1−p)
			most = max(most, (1-low)*(math.Pow(p, beta-1)*(1-p)+high*math.Pow(1-low, beta-1)))
		}
		most *= math.Sqrt2
	case "cloglog":
		for i := range slopeCells {
			low := float64(i) / slopeCells
			most = max(most, within(low, low+1./slopeCells, 1-low/2))
		}
		// p falls to where the bound does: −log p is below 40/(β−1)
		last := 40 * max(1, 1/(beta-1))
		step, rate := math.Pow(last*1e6, 1./slopeCells), 1e-6
		most = max(most, within(math.Exp(-rate), 1, rate))
		for ; rate < last; rate *= step {
			most = max(most, within(math.Exp(-rate*step), math.Exp(-rate), rate*step))
		}
		return max(most, within(0, math.Exp(-last), last))
	case "probit":
		const far = 30.0 // standard deviations
		for i := range slopeCells {
			z := far * (2*float64(i)/slopeCells - 1)
			low, high := special.NormalCDF(z), special.NormalCDF(z+2*far/slopeCells)
			most = max(most, within(low, high, math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)/low))
		}
		// below −far h is at most |z| + 1/far and p at most exp(−z²/2)
		at := max(far, 1/math.Sqrt(beta-1))
		most = max(most, within(0, math.Exp(-at*at/2), at)+1/far)
	default:
		return math.Inf(1)
	}
	return most
}
