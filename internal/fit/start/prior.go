package start

import (
	"math"

	"d3p/internal/models"
)

// prior has what a draw from a model's prior needs.
type prior struct {
	logDensity func(theta []float64) float64 // log p(θ)
	// locations are the coordinates of parameters that are real numbers or distinguish the
	// components of a mixture. Scales and weights stay at zero, their neutral value.
	locations []int
}

// priorOf is the prior of m.
func priorOf(m *models.Model) prior {
	p := prior{logDensity: m.NewPriorDensity().LogDensity}
	components := componentParams(m)
	for i := range m.Params {
		q := &m.Params[i]
		if q.Weight || q.Transform.Name != "identity" && !components[q.Name] {
			continue
		}
		for j := range q.Size {
			p.locations = append(p.locations, q.Offset+j)
		}
	}
	return p
}

// priorSweeps is the number of sweeps after which the coordinate-wise sampler has forgotten
// its start, if the locations depend on each other in a few layers.
const priorSweeps = 20

// drawPrior sets the locations among m0 to a draw from the prior, given zero for
// all others, by slice sampling one coordinate after the other with stepping
// out. It needs no scale and no gradient. Neal 2003, Annals of Statistics 31,
// 705-767, section 4.
func drawPrior(m0 []float64, p prior, rng Random) {
	clear(m0)
	for range priorSweeps {
		for _, j := range p.locations {
			sliceStep(m0, j, p.logDensity, rng)
		}
	}
}

// sliceStep moves coordinate j of x. The interval grows until both of its ends are outside
// the slice. This is exact if the conditional density has one mode, because the slice is
// then an interval.
func sliceStep(x []float64, j int, logDensity func([]float64) float64, rng Random) {
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
