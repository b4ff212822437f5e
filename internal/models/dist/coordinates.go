package dist

import (
	"fmt"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// CoordinatesOf splits a density of a value of this shape into densities of the
// unconstrained numbers u. It refuses families whose numbers depend on each other, or have
// no distribution function.
func CoordinatesOf(b *graph.Builder, density Density, u *graph.Node, shape graph.Shape) (family.Coordinates, error) {
	a, ok := density.(Applied)
	switch {
	case !ok:
		return family.Coordinates{}, fmt.Errorf("a combination of distributions has no coordinates")
	case a.Coordinates != nil:
		return a.Coordinates(b, a.Args, u, shape), nil
	case a.EventRank > 0 || a.LogCDF == nil || a.LogCCDF == nil:
		return family.Coordinates{}, fmt.Errorf("%s has no independent coordinates", a.Name)
	}
	t := support.TransformFor(a.Support())
	x, logDet := t.Apply(b, u, shape)
	return family.Coordinates{
		LogDensity: b.Add(b.Expand(a.LogDensity(b, Observed{X: x}), u.Shape()), logDet),
		LogBelow:   b.Expand(a.LogCDF(b, x, a.Args), u.Shape()),
		LogAbove:   b.Expand(a.LogCCDF(b, x, a.Args), u.Shape()),
	}, nil
}
