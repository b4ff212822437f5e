package survival

import (
	"fmt"
	"math"

	"d3p/internal/models/dist/family"
	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// PiecewiseExponential is a waiting time whose hazard is constant between the
// cuts, which are increasing times: exp(log_hazard_j) between cut j-1 and cut
// j, from 0 before the first and without end after the last.
//
//	log p(x) = log_hazard_j(x) - Σ_j exp(log_hazard_j) (time spent in j up to x)
//
// With censored() and log_hazard = baseline + eta it is a proportional hazards
// model that factorises over records, which Cox's partial likelihood does not.
// Friedman 1982, Annals of Statistics 10(1).
var PiecewiseExponential = family.Distribution{
	Name:    "piecewise_exponential",
	Summary: "waiting time with hazard exp(log_hazard_j) between cut j-1 and cut j",
	Args: []family.Arg{
		{Name: "log_hazard", Rank: 1},
		{Name: "cuts", Rank: 1, Support: support.Ordered},
	},
	Support: family.Always(support.Positive),
	Check: func(args []*graph.Node) error {
		if intervals, cuts := support.LastDim(args[0]).Size, support.LastDim(args[1]).Size; intervals != cuts+1 {
			return fmt.Errorf("piecewise_exponential with %d cuts has %d intervals, but log_hazard has %d", cuts, cuts+1, intervals)
		}
		return nil
	},
	LogDensity: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		_, inside := timeInIntervals(b, x, args)
		hazard := b.Sum(b.Mul(inside, args[0]), support.LastDim(args[0]).Name)
		return b.Sub(hazard, cumulativeHazard(b, x, args))
	},
	// The mean is the integral of the survival function, interval by interval.
	Mean: func(b *graph.Builder, args []*graph.Node) *graph.Node {
		interval, cut := support.LastDim(args[0]), support.LastDim(args[1])
		mean, survival, start := b.Const(0), b.Const(1), b.Const(0)
		for j := range interval.Size {
			logHazard := b.Slice(args[0], interval.Name, j)
			if j == cut.Size {
				return b.Add(mean, b.Mul(survival, b.Exp(b.Neg(logHazard))))
			}
			end := b.Slice(args[1], cut.Name, j)
			risk := b.Mul(b.Sub(end, start), b.Exp(logHazard))
			mean = b.Add(mean, b.Mul(b.Mul(survival, b.Neg(b.Expm1(b.Neg(risk)))), b.Exp(b.Neg(logHazard))))
			survival, start = b.Mul(survival, b.Exp(b.Neg(risk))), end
		}
		return mean
	},
	LogCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return family.Log1mExp(b, cumulativeHazard(b, x, args))
	},
	LogCCDF: func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
		return b.Neg(cumulativeHazard(b, x, args))
	},
	Sample: func(dst []float64, args [][]float64, rng family.Rand) {
		left, start := family.DrawExponential(rng), 0.0
		for j, logHazard := range args[0] {
			reach := left / math.Exp(logHazard)
			if j == len(args[1]) || start+reach < args[1][j] {
				dst[0] = start + reach
				return
			}
			left -= (args[1][j] - start) * math.Exp(logHazard)
			start = args[1][j]
		}
	},
}

// timeInIntervals is the time up to x in each interval, and 1 for the interval
// that x lies in; both along the dim of log_hazard.
func timeInIntervals(b *graph.Builder, x *graph.Node, args []*graph.Node) (time, inside *graph.Node) {
	interval, cut := support.LastDim(args[0]), support.LastDim(args[1])
	times := make([]*graph.Node, interval.Size)
	insides := make([]*graph.Node, interval.Size)
	start, after := b.Const(0), b.Const(1)
	for j := range times {
		times[j], insides[j] = b.Relu(b.Sub(x, start)), after
		if j < cut.Size {
			end := b.Slice(args[1], cut.Name, j)
			times[j] = b.Relu(b.Sub(b.Min(x, end), start))
			past := b.Less(end, x)
			insides[j] = b.Sub(after, past)
			start, after = end, past
		}
	}
	return b.Stack(interval, times...), b.Stack(interval, insides...)
}

func cumulativeHazard(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node {
	time, _ := timeInIntervals(b, x, args)
	return b.Sum(b.Mul(time, b.Exp(args[0])), support.LastDim(args[0]).Name)
}
