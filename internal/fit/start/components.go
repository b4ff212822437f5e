package start

import (
	"math"

	"d3p/internal/models"
	"d3p/internal/models/core"
	"d3p/internal/models/dist"
	"d3p/internal/models/expr"
	"d3p/internal/models/support"
)

// componentParams names the parameters that distinguish a mixture's components and have no
// neutral value at zero: those of densities on part of the line, of counts and of levels,
// and the probabilities of missing values. It leaves out the widths of densities on the
// whole line.
func componentParams(m *models.Model) map[string]bool {
	found := make(map[string]bool)
	for _, list := range [][]*core.Definition{m.Core.RowsLet, m.Core.Observe} {
		for _, d := range list {
			expr.Walk(d.Expr, func(e expr.Expr) bool {
				call, ok := e.(*expr.Call)
				if !ok || call.Func != "mixture" || len(call.Args) < 2 {
					return true
				}
				noteComponent(call.Args[1].Value, found)
				return false
			})
		}
	}
	return found
}

// noteComponent notes the names in a component other than widths.
func noteComponent(component expr.Expr, found map[string]bool) {
	expr.Walk(component, func(e expr.Expr) bool {
		switch e := e.(type) {
		case *expr.Name:
			found[e.ID] = true
		case *expr.Call:
			d, ok := dist.Lookup(e.Func)
			return !ok || d.Support(unknownArguments(d)).Kind != support.Real
		}
		return true
	})
}

// unknownArguments replace arguments that are not constant.
func unknownArguments(d *dist.Distribution) []float64 {
	values := make([]float64, len(d.Args))
	for i := range values {
		values[i] = math.NaN()
	}
	return values
}
