package dist

import (
	"fmt"
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
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
	if p.Scale == nil {
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
		return 0, fmt.Errorf("the density of %s is not bounded while its scale is a parameter: write a number for it", a.Name)
	}
	return math.Exp((beta-1)*(p.LogHeight-math.Log(scale))) / (beta - 1), nil
}

// slopeCells is the number of intervals of probabilities that BetaSlope bounds.
const slopeCells = 10_000

// BetaSlope bounds the derivative of BetaScore of a binary outcome in its log odds. With p the
// probability of the outcome it is (1−p)(p^(β−1)(1−p) + p(1−p)^(β−1)), where p and 1−p are at
// most those at the ends of an interval.
func BetaSlope(beta float64) float64 {
	most := 0.0
	for i := range slopeCells {
		p, rest := float64(i+1)/slopeCells, 1-float64(i)/slopeCells
		most = max(most, rest*(math.Pow(p, beta-1)*rest+p*math.Pow(rest, beta-1)))
	}
	return most
}
