package outputs

import (
	"math"
	"slices"

	"d3p/internal/models/naming"
)

// coefficients are the parameters of a formula's linear predictor, except the effects of
// groups and curves: on the declared scales and in the unit of the file.
var coefficients = []string{
	naming.Intercept, naming.Slopes, naming.Baseline, naming.Raw(naming.Intercept), naming.Raw(naming.Slopes),
}

// Ratios are the draws of exp of the coefficients of a formula alone: odds ratios for the
// logit link, rate ratios for the logarithm. A coefficient keeps its noise share: to first
// order, exp does not change it.
func (d Draws) Ratios() Draws {
	ratios := Draws{S: d.S}
	for _, g := range d.Groups {
		if !slices.Contains(coefficients, g.Name) {
			continue
		}
		for v := g.First; v < g.First+g.Size; v++ {
			ratios.Variables = append(ratios.Variables, d.Variables[v])
			for _, x := range d.Of(v) {
				ratios.Values = append(ratios.Values, math.Exp(x))
			}
		}
	}
	return ratios
}
