package dist

import (
	"fmt"
	"math"
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/models/support"
)

// A Density is a distribution with its arguments, or a combination of densities: the
// right side of a prior or an observation.
type Density interface {
	// LogDensity of a value: event dims are summed, batch dims kept.
	LogDensity(b *graph.Builder, x Observed) *graph.Node
	// Mean of a value, nil if it has none.
	Mean(b *graph.Builder) *graph.Node
	// Support of a value.
	Support() support.Support
	// Fits reports why the density cannot describe a value of this shape: an
	// argument has a dim that the value lacks, or a size differs.
	Fits(shape graph.Shape) error
	// Inputs are the nodes whose numbers a Sampler reads, in its order.
	Inputs() []*graph.Node
	// Sampler prepares draws of a value of this shape, which it must fit.
	Sampler(shape graph.Shape) Sampler
}

// Observed is a value as nodes: its numbers and, for data that may be missing, 1 if they
// are (the numbers are then arbitrary but finite). A nil Missing means that the value is
// never missing.
type Observed struct{ X, Missing *graph.Node }

// A Sampler sets dst, row-major, to one draw; values are those of the
// density's Inputs, row-major.
type Sampler func(dst []float64, values [][]float64, rng Rand)

// Applied is a distribution with its arguments, in the order of Args; the
// absent one of two alternatives is nil.
type Applied struct {
	*Distribution
	Args []*graph.Node
}

// Apply gives a distribution its arguments; absent optional ones are filled
// with their defaults. It panics when their number is wrong.
func Apply(b *graph.Builder, d *Distribution, args []*graph.Node) Applied {
	if len(args) != len(d.Args) {
		panic(fmt.Sprintf("dist: %s with %d arguments, want %d", d.Name, len(args), len(d.Args)))
	}
	filled := make([]*graph.Node, len(args))
	for i, a := range args {
		filled[i] = a
		if a == nil && d.Args[i].Optional {
			filled[i] = b.Const(d.Args[i].Default)
		}
	}
	return Applied{d, filled}
}

// ListDim is the dim of an argument that was written as a list of numbers. It replaces
// the dim of the event.
const ListDim = "(list)"

// LogDensity is the log density of x; that x may be missing is left to Missing.
func (a Applied) LogDensity(b *graph.Builder, x Observed) *graph.Node {
	args := a.Args
	for i, arg := range args {
		if arg == nil || a.EventRank != 1 || a.Distribution.Args[i].Rank != 1 || arg.Shape().Index(ListDim) < 0 {
			continue
		}
		args = slices.Clone(args)
		args[i] = b.Rename(arg, ListDim, support.LastDim(x.X).Name)
	}
	return a.Distribution.LogDensity(b, x.X, args)
}

// Mean is the family's mean, nil if it has none.
func (a Applied) Mean(b *graph.Builder) *graph.Node {
	if a.Distribution.Mean == nil {
		return nil
	}
	return a.Distribution.Mean(b, a.Args)
}

// Support is the family's support for these arguments.
func (a Applied) Support() support.Support {
	values := make([]float64, len(a.Args))
	for i, arg := range a.Args {
		values[i] = math.NaN()
		if arg == nil {
			continue
		}
		if v, ok := arg.Value(); ok {
			values[i] = v
		}
	}
	return a.Distribution.Support(values)
}

// Fits checks that the batch dims of every argument are dims of the value, that
// the event dims agree, and that bounds leave something between them.
func (a Applied) Fits(shape graph.Shape) error {
	if len(shape) < a.EventRank {
		return fmt.Errorf("a value of %s needs %d dims, not %v", a.Name, a.EventRank, shape)
	}
	switch s := a.Support(); {
	case s.Kind != support.Interval:
	case math.IsNaN(s.Lower) || math.IsNaN(s.Upper):
		return fmt.Errorf("the bounds of %s must be numbers", a.Name)
	case s.Lower >= s.Upper:
		return fmt.Errorf("%s between %g and %g leaves nothing", a.Name, s.Lower, s.Upper)
	}
	if a.Check != nil {
		if err := a.Check(a.Args); err != nil {
			return err
		}
	}
	batch, event := shape[:len(shape)-a.EventRank], shape[len(shape)-a.EventRank:]
	for i, arg := range a.Args {
		if arg == nil {
			continue
		}
		if rank := a.Distribution.Args[i].Rank; rank == a.EventRank && len(arg.Shape()) >= rank {
			for j, d := range arg.Shape()[len(arg.Shape())-rank:] {
				if d != event[j] && (d.Name != ListDim || d.Size != event[j].Size) {
					return fmt.Errorf("argument %s of %s has dim %s of size %d, the value dim %s of size %d", a.Distribution.Args[i].Name, a.Name, d.Name, d.Size, event[j].Name, event[j].Size)
				}
			}
		}
		for _, d := range argBatch(arg, a.Distribution.Args[i].Rank) {
			switch at := batch.Index(d.Name); {
			case at < 0:
				return fmt.Errorf("argument %s of %s has dim %s, which the value %v lacks (index it, as in NAME[%[3]s], or sum over it)", a.Distribution.Args[i].Name, a.Name, d.Name, shape)
			case batch[at].Size != d.Size:
				return fmt.Errorf("argument %s of %s has dim %s of size %d, the value has %d", a.Distribution.Args[i].Name, a.Name, d.Name, d.Size, batch[at].Size)
			}
		}
	}
	return nil
}

// argBatch is the shape of an argument without its event dims; an argument
// with fewer dims than its rank, such as a scalar concentration, has none.
func argBatch(arg *graph.Node, rank int) graph.Shape {
	s := arg.Shape()
	return s[:max(0, len(s)-rank)]
}

// Inputs are the arguments that are present.
func (a Applied) Inputs() []*graph.Node {
	var in []*graph.Node
	for _, arg := range a.Args {
		if arg != nil {
			in = append(in, arg)
		}
	}
	return in
}

// Sampler draws every batch element of the value with its own arguments.
func (a Applied) Sampler(shape graph.Shape) Sampler {
	batch := shape[:len(shape)-a.EventRank]
	size := shape[len(shape)-a.EventRank:].Size()
	// starts[i][j] is the begin of argument i's event for batch element j.
	starts := make([][]int, len(a.Args))
	events := make([]int, len(a.Args))
	for i, arg := range a.Args {
		if arg == nil {
			continue
		}
		rest := argBatch(arg, a.Distribution.Args[i].Rank)
		events[i] = arg.Size() / rest.Size()
		starts[i] = positions(batch, rest)
		for j := range starts[i] {
			starts[i][j] *= events[i]
		}
	}
	args := make([][]float64, len(a.Args))
	return func(dst []float64, values [][]float64, rng Rand) {
		for j := range batch.Size() {
			next := 0
			for i, arg := range a.Args {
				if arg == nil {
					continue
				}
				at := starts[i][j]
				args[i] = values[next][at : at+events[i]]
				next++
			}
			a.Distribution.Sample(dst[j*size:(j+1)*size], args, rng)
		}
	}
}

// positions is, for every element of shape in row-major order, the position of
// the element of inner with the same indices; inner's dims are among shape's.
func positions(shape, inner graph.Shape) []int {
	at := make([]int, shape.Size())
	for i := range at {
		rest, stride := i, 1
		index := make([]int, len(shape))
		for d := len(shape) - 1; d >= 0; d-- {
			index[d] = rest % shape[d].Size
			rest /= shape[d].Size
		}
		for d := len(inner) - 1; d >= 0; d-- {
			at[i] += index[shape.Index(inner[d].Name)] * stride
			stride *= inner[d].Size
		}
	}
	return at
}
