package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"d3p/internal/outputs"
	"d3p/internal/report/figure"
)

// Overlay holds the densities of one parameter before and after the fit, over
// the range of the latter.
type Overlay struct {
	Name             string
	Prior, Posterior []DensityPoint
	From, To         float64 // of the axis
}

// DensityPoint is a point of a density.
type DensityPoint = figure.Point

// Overlays compares prior and posterior of the n parameters, not derived
// quantities, whose posterior mean is farthest from zero;
// standardised effects of groups, and what does not vary, are left out.
func Overlays(posterior outputs.Draws, prior *outputs.Draws, n int) (list []Overlay) {
	if prior == nil || prior.S < 2 || posterior.S < 2 {
		return nil
	}
	rows := posterior.Summarise()
	var order []int
	for v, variable := range posterior.Variables {
		if variable.Transform != "" && rows[v].SD > 0 && !rows[v].Fixed() && !strings.HasPrefix(variable.Name, "z_") {
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

// density estimates the density of x at 81 points from lo to hi, with a Gaussian
// kernel of Silverman's width, reflected at the variable's bounds: no mass lies beyond
// them. A thousand draws are enough for a line.
func density(x []float64, bounds outputs.Variable, lo, hi float64) []DensityPoint {
	x = x[:min(len(x), 1000)]
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	n := float64(len(x))
	spread := (sorted[int(0.75*(n-1))] - sorted[int(0.25*(n-1))]) / 1.349
	width := 1.06 * spread * math.Pow(n, -0.2)
	points := make([]DensityPoint, 81)
	for i := range points {
		at, sum := lo+(hi-lo)*float64(i)/80, 0.0
		for _, xi := range x {
			for _, from := range [...]float64{xi, 2*bounds.Lower - xi, 2*bounds.Upper - xi} {
				if z := (at - from) / width; math.Abs(z) < 6 {
					sum += math.Exp(-z * z / 2)
				}
			}
		}
		points[i] = DensityPoint{X: at}
		if width > 0 && at >= bounds.Lower && at <= bounds.Upper {
			points[i].Y = sum / (n * width * math.Sqrt(2*math.Pi))
		}
	}
	return points
}
