package support

import (
	"fmt"
	"math"

	"d3p/internal/models/graph"
)

// A Transform maps unconstrained numbers u one-to-one to the values x of a
// support, so that optimisation and Gaussian guides need no bounds. A density
// of x becomes one of u by adding LogDet.
//
// A rank-0 transform works element by element. One of rank 1 or 2 maps the
// last dim of u, which FreeShape names and sizes, to the event of x.
type Transform struct {
	Name      string
	Target    Support // where x lies
	EventRank int     // event dims of x: 0 number, 1 vector, 2 square matrix

	// Free is the number of unconstrained numbers of one event, whose last dim
	// has size n; 1 for a number.
	Free func(n int) int
	// Forward is x, with the event dims given (none for rank 0).
	Forward func(b *graph.Builder, u *graph.Node, event graph.Shape) *graph.Node
	// LogDet is log |det dx/du|, with batch dims. For a simplex x means its first n-1
	// elements, for a triangle its free elements.
	LogDet func(b *graph.Builder, u *graph.Node, event graph.Shape) *graph.Node
	// Inverse sets dst to the u of one event x, both row-major.
	Inverse func(dst, x []float64)
}

// FreeShape is the shape of u for values of shape x.
func (t *Transform) FreeShape(x graph.Shape) (graph.Shape, error) {
	if len(x) < t.EventRank {
		return nil, fmt.Errorf("%s needs %d dims, not %v", t.Name, t.EventRank, x)
	}
	batch, event := t.split(x)
	if t.EventRank == 0 {
		return x, nil
	}
	if t.EventRank == 2 && event[0].Size != event[1].Size {
		return nil, fmt.Errorf("%s needs a square matrix, not %v", t.Name, event)
	}
	n := event[t.EventRank-1].Size
	if t.Free(n) < 1 {
		return nil, fmt.Errorf("%s of size %d has nothing to estimate", t.Name, n)
	}
	return append(batch[:len(batch):len(batch)], freeDim(event, t.Free(n))), nil
}

// Apply is x, of the given shape, and the log-determinant with the shape's
// batch dims.
func (t *Transform) Apply(b *graph.Builder, u *graph.Node, shape graph.Shape) (x, logDet *graph.Node) {
	_, event := t.split(shape)
	return t.Forward(b, u, event), t.LogDet(b, u, event)
}

// InverseAll sets dst to the u of every event of x.
func (t *Transform) InverseAll(dst, x []float64, shape graph.Shape) {
	batch, event := t.split(shape)
	size, free := event.Size(), 1
	if t.EventRank > 0 {
		free = t.Free(event[t.EventRank-1].Size)
	}
	for i := range batch.Size() {
		t.Inverse(dst[i*free:(i+1)*free], x[i*size:(i+1)*size])
	}
}

// split cuts a shape of values into batch and event dims.
func (t *Transform) split(x graph.Shape) (batch, event graph.Shape) {
	cut := len(x) - t.EventRank
	return x[:cut:cut], x[cut:]
}

// freeDim names the last dim of u; no name of the language can clash with it.
func freeDim(event graph.Shape, size int) graph.Dim {
	return graph.Dim{Name: "free(" + event[0].Name + ")", Size: size}
}

// LastDim is the dim that a transform of positive rank works along.
func LastDim(u *graph.Node) graph.Dim {
	s := u.Shape()
	if len(s) == 0 { // of a bad node, which everything below passes on
		return graph.Dim{Name: "free()", Size: 1}
	}
	return s[len(s)-1]
}

// one is the Free of an element-wise transform.
func one(int) int { return 1 }

// TransformFor is the transform to the given support, nil for a discrete one.
func TransformFor(s Support) *Transform {
	switch s.Kind {
	case Real:
		return &identity
	case Positive:
		return &exponentiate
	case UnitInterval:
		return ScaledSigmoid(0, 1)
	case Interval:
		switch {
		case math.IsInf(s.Upper, 1):
			return LowerBound(s.Lower)
		case math.IsInf(s.Lower, -1):
			return UpperBound(s.Upper)
		}
		return ScaledSigmoid(s.Lower, s.Upper)
	case Simplex:
		return &stickBreaking
	case Ordered:
		return &ordered
	case CholeskyCorr:
		return &choleskyCorr
	case CholeskyCov:
		return &lowerTriangle
	}
	return nil
}
