package fit

import (
	"fmt"
	"math"
	"strings"
)

// initZero and initPrior name starting points.
const (
	initZero  = "zero"
	initPrior = "prior"
)

// uniforms gives independent draws from U[0, 1).
type uniforms interface{ Float64() float64 }

// start is one line of the table of starting points: locate sets m0 (P) to the
// guide's first location on the unconstrained scale. It sees the prior's log
// density and public randomness, never a record.
type start struct {
	name   string
	locate func(m0 []float64, logPrior func(theta []float64) float64, rng uniforms)
}

// starts returns the table. Models with exchangeable parts, such as mixtures,
// need a start that tells the parts apart: from the same place they never
// separate.
func starts() []start {
	return []start{
		{initZero, func(m0 []float64, _ func([]float64) float64, _ uniforms) { clear(m0) }},
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
// started when the prior's scalars depend on each other in a few layers.
const priorSweeps = 20

// drawPrior sets m0 to a draw from the prior by slice sampling, one coordinate
// after the other with stepping out, from zero. It needs no scale and no
// gradient. Neal 2003, Annals of Statistics 31, 705-767, section 4.
func drawPrior(m0 []float64, logPrior func(theta []float64) float64, rng uniforms) {
	clear(m0)
	for range priorSweeps {
		for j := range m0 {
			sliceStep(m0, j, logPrior, rng)
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
