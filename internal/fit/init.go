package fit

import (
	"fmt"
	"math"
	"strings"

	"d3p/internal/models"
	"d3p/internal/models/expr"
	"d3p/internal/models/spec"
)

// initZero and initPrior name starting points.
const (
	initZero  = "zero"
	initPrior = "prior"
)

// startModel is what a starting point may look at: public facts of the model,
// never a record.
type startModel struct {
	// logPrior is log p(θ) on the unconstrained scale.
	logPrior func(theta []float64) float64
	// locations are the coordinates of θ whose parameters are real numbers, or
	// tell the components of a mixture apart; the others are scales, weights and
	// the like, for which zero is neutral.
	locations []int
}

// startOf describes m to the starting points.
func startOf(m *models.Model, logPrior func(theta []float64) float64) startModel {
	s := startModel{logPrior: logPrior}
	components := componentParams(m)
	for _, p := range m.Params {
		if p.Weight || p.Transform.Name != "identity" && !components[p.Name] {
			continue
		}
		for j := range p.Size {
			s.locations = append(s.locations, p.Offset+j)
		}
	}
	return s
}

// defaultInit is prior for models with a mixture in their rows: its components
// are exchangeable, and from the same place they never separate. Otherwise it
// is zero.
func defaultInit(m *models.Model) string {
	init := initZero
	for _, list := range [][]*spec.Definition{m.Core.RowsLet, m.Core.Observe} {
		for _, d := range list {
			expr.Walk(d.Expr, func(e expr.Expr) bool {
				if call, ok := e.(*expr.Call); ok && call.Func == "mixture" {
					init = initPrior
				}
				return true
			})
		}
	}
	return init
}

// uniforms gives independent draws from U[0, 1).
type uniforms interface{ Float64() float64 }

// start is one line of the table of starting points: locate sets m0 (P) to the
// guide's first location on the unconstrained scale.
type start struct {
	name   string
	locate func(m0 []float64, m startModel, rng uniforms)
}

// starts returns the table of starting points.
func starts() []start {
	return []start{
		{initZero, func(m0 []float64, _ startModel, _ uniforms) { clear(m0) }},
		{initPrior, drawPrior},
	}
}

func initNames() []string {
	var names []string
	for _, s := range starts() {
		names = append(names, s.name)
	}
	return names
}

// lookupStart returns the line of the table called name.
func lookupStart(name string) (start, error) {
	for _, s := range starts() {
		if s.name == name {
			return s, nil
		}
	}
	return start{}, fmt.Errorf("--init: unknown start %q (choose one of %s)", name, strings.Join(initNames(), ", "))
}

// priorSweeps is enough for the coordinate-wise sampler to forget where it
// started when the locations depend on each other in a few layers.
const priorSweeps = 20

// drawPrior sets the locations among m0 to a draw from the prior, given zero for
// all others, by slice sampling one coordinate after the other with stepping
// out. It needs no scale and no gradient. Neal 2003, Annals of Statistics 31,
// 705-767, section 4.
func drawPrior(m0 []float64, m startModel, rng uniforms) {
	clear(m0)
	for range priorSweeps {
		for _, j := range m.locations {
			sliceStep(m0, j, m.logPrior, rng)
		}
	}
}

// sliceStep moves coordinate j of x. The interval grows until both of its ends
// are outside the slice, which is exact when the conditional density has one
// mode: the slice is then an interval.
func sliceStep(x []float64, j int, logDensity func([]float64) float64, rng uniforms) {
	const width, doublings = 1.0, 40
	at := func(v float64) float64 {
		x[j] = v
		return logDensity(x)
	}
	current := x[j]
	level := logDensity(x) + math.Log(1-rng.Float64())
	lo := current - width*rng.Float64()
	hi := lo + width
	for i := 0; i < doublings && at(lo) > level; i++ {
		lo -= math.Ldexp(width, i)
	}
	for i := 0; i < doublings && at(hi) > level; i++ {
		hi += math.Ldexp(width, i)
	}
	for {
		v := lo + (hi-lo)*rng.Float64()
		if at(v) > level || v == current {
			x[j] = v
			return
		}
		if v < current {
			lo = v
		} else {
			hi = v
		}
	}
}
