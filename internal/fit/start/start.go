// Package start chooses the initial location of a fit, from the model and public draws,
// never from a record.
//
// Shapes: P latent scalars θ on the unconstrained scale.
package start

import (
	"fmt"

	"d3p/internal/models"
	"d3p/internal/models/core"
	"d3p/internal/models/expr"
	"d3p/internal/settings"
)

// Random is a source of public draws.
type Random interface {
	Float64() float64      // from U[0, 1)
	Normals(dst []float64) // from N(0, 1)
}

// Point is the first location (P) of a fit of m: that of the start called name, then the
// initial weights of networks and the initial values in the model file.
func Point(name string, m *models.Model, rng Random) ([]float64, error) {
	begin, err := lookup(name)
	if err != nil {
		return nil, err
	}
	m0 := make([]float64, m.P)
	begin.locate(m0, priorOf(m), rng)
	centreThresholds(m0, m)
	initialiseWeights(m0, m, rng)
	for _, s := range m.Starts {
		copy(m0[s.Offset:], s.Values)
	}
	return m0, nil
}

// Default is InitPrior for models with a mixture in their rows, whose components are
// exchangeable and never separate from a common start. Otherwise it is InitZero.
func Default(m *models.Model) string {
	name := settings.InitZero
	for _, list := range [][]*core.Definition{m.Core.RowsLet, m.Core.Observe} {
		for _, d := range list {
			expr.Walk(d.Expr, func(e expr.Expr) bool {
				if call, ok := e.(*expr.Call); ok && call.Func == "mixture" {
					name = settings.InitPrior
				}
				return true
			})
		}
	}
	return name
}

// method is one line of the table of starting points: locate sets m0 (P).
type method struct {
	name   string
	locate func(m0 []float64, prior prior, rng Random)
}

// methods returns the table of starting points.
func methods() []method {
	return []method{
		{settings.InitZero, func(m0 []float64, _ prior, _ Random) { clear(m0) }},
		{settings.InitPrior, drawPrior},
	}
}

// lookup returns the line of the table called name.
func lookup(name string) (method, error) {
	for _, s := range methods() {
		if s.name == name {
			return s, nil
		}
	}
	return method{}, fmt.Errorf("--init: unknown start %q", name)
}
