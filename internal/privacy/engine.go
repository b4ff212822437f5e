package privacy

import (
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/privacy/internal/records"
	"d3p/internal/privacy/noise"
)

// Rows is the encoded table. Only engines ever receive it.
type Rows = records.Rows

// PackedRun is columns that are side by side in a packed record.
type PackedRun = records.PackedRun

// NewRows returns n valid records of k columns that are all zero, stride numbers apart.
func NewRows(p Precision, n, k, stride int) *Rows {
	r := &Rows{N: n, K: k, Stride: stride, Valid: slices.Repeat([]bool{true}, n)}
	if p == Float32 {
		r.F32 = make([]float32, n*stride)
	} else {
		r.F64 = make([]float64, n*stride)
	}
	return r
}

// Precision is the width in which Rows stores numbers. Sums, norms and noise
// are float64 in every precision.
type Precision = records.Precision

// The precisions of Rows.
const (
	Float64 = records.Float64
	Float32 = records.Float32
)

// Engine executes tapes on batches of records. It computes exact sums, which
// are secret; only a Session, which adds the noise, may call a Worker.
type Engine interface {
	// Name identifies the engine in reports: "cpu", "cuda:0".
	Name() string
	// Open prepares to run t on rows. Their derived columns are filled already. The engine
	// may keep rows. Nobody may change them before the worker is closed, so an engine may
	// keep one copy for all workers on them.
	Open(t *graph.Tape, rows *Rows) (Worker, error)
}

// Worker runs one tape on one table. It is not safe for concurrent use.
type Worker interface {
	// ClippedSum sets dst, length P, to Σ g_b·f(|g_b|) over the batch, where g_b
	// is the gradient of record b and f the factor of clip, and returns
	// Σ (1[|g_b| <= C] - 1/2). With all set the batch is every record, else it
	// is the records with the given indices, each at most once; it may be empty.
	//
	// A record counts as zero if it is invalid or its squared norm is not finite, and
	// zero is within C: an error would reveal it. Results do not depend on the number of
	// threads. It does not allocate after the first call of the largest batch.
	ClippedSum(dst []float64, in StepInput, batch []uint32, all bool, clip Clip) (count float64, err error)
	// Close releases the engine's memory. The worker is not used afterwards.
	Close() error
}

// StepInput holds the inputs of a step's gradient besides the records.
type StepInput struct {
	Params []float64 // θ, length Tape.P
	Aux    []float64 // noise drawn once per step, length Tape.AuxGlobal
	// RecordNoise gives the Tape.AuxRecord normals of every record: the j-th
	// record of the batch reads normals j·AuxRecord onwards of step Step. Nil
	// when the tape wants none.
	RecordNoise *noise.Stream
	Step        int
}

// ClipKind is the way to bound a record's gradient.
type ClipKind string

// The kinds of clipping, with the factor f(norm).
const (
	// Flat scales down gradients that are longer than C: f = min(1, C/norm). Abadi et al.
	// 2016, arXiv:1607.00133.
	Flat ClipKind = "flat"
	// Automatic normalises: f = C/(norm + Gamma).
	// Bu et al. 2022, arXiv:2206.07136.
	Automatic ClipKind = "automatic"
	// Unclipped does not bound anything: f = 1. It gives no privacy and is for
	// fit-nonprivate only.
	Unclipped ClipKind = "none"
)

// Clip is a bound in L2 norm on the contribution of one record.
type Clip struct {
	Kind  ClipKind
	Norm  float64 // C, positive
	Gamma float64 // of Automatic, positive
}

// Factor is f(norm) >= 0; f(norm)·norm is at most C, and it is 0 when norm is
// not finite. Engines and their reference share this definition.
func (c Clip) Factor(norm float64) float64 {
	if norm-norm != 0 { // NaN or infinite
		return 0
	}
	switch c.Kind {
	case Flat:
		if norm <= c.Norm {
			return 1
		}
		return c.Norm / norm
	case Automatic:
		return c.Norm / (norm + c.Gamma)
	case Unclipped:
		return 1
	}
	panic("privacy: clip of kind " + string(c.Kind))
}
