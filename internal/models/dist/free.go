package dist

import (
	"fmt"
	"math"

	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// Free is a number whose log density is an expression. Its law is known only at Points,
// between the bounds of the number: means and draws come from these. The log density counts
// as written, whether or not it integrates to 1.
type Free struct {
	// At is the log density at numbers.
	At func(x *graph.Node) *graph.Node
	// Points are equally spaced, along the dim FreeDim. Log is the log density there.
	Points, Log *graph.Node
	// Whole: the number is one of the points.
	Whole bool
}

// FreeDim is the dim of the points of a free density; no name of the language can clash
// with it.
const FreeDim = "(points)"

// LogDensity is the expression.
func (f Free) LogDensity(_ *graph.Builder, x Observed) *graph.Node { return f.At(x.X) }

// Mean is the mean over the points.
func (f Free) Mean(b *graph.Builder) *graph.Node {
	return b.Sum(b.Mul(b.Softmax(f.Log, FreeDim), f.Points), FreeDim)
}

// Support is every number.
func (f Free) Support() support.Support { return support.Real.Whole() }

// Fits reports a value that is no single number.
func (f Free) Fits(shape graph.Shape) error {
	if len(shape) > 0 {
		return fmt.Errorf("log_density is of one number, not of %v", shape)
	}
	return nil
}

// Inputs are the points and the log density there.
func (f Free) Inputs() []*graph.Node { return []*graph.Node{f.Points, f.Log} }

// Sampler draws a point, and a number in the cell around it unless the number is whole.
func (f Free) Sampler(graph.Shape) Sampler {
	weights := make([]float64, f.Points.Size())
	return func(dst []float64, values [][]float64, rng Rand) {
		points, log := values[0], values[1]
		most, total := math.Inf(-1), 0.0
		for _, l := range log {
			most = math.Max(most, l)
		}
		for i, l := range log {
			weights[i] = math.Exp(l - most)
			total += weights[i]
		}
		left, k := rng.Uniform()*total, 0
		for left >= weights[k] && k < len(points)-1 {
			left -= weights[k]
			k++
		}
		dst[0] = points[k]
		if !f.Whole {
			width := points[1] - points[0]
			dst[0] = min(max(dst[0]+width*(rng.Uniform()-0.5), points[0]), points[len(points)-1])
		}
	}
}
