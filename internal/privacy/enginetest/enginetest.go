// Package enginetest is the conformance suite of engines. It compares an engine
// with a reference that is slow and obviously right: one record at a time, the
// gradient written out, its norm taken, clipped and added.
//
// Letters: B records in a batch, P scalars in θ, C clip norm.
package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

// Tolerance bounds the distance of an engine from the reference.
type Tolerance struct {
	// Relative is the allowed error of a sum, relative to C times the records
	// summed, and of a norm, relative to itself.
	Relative float64
	// Cancelling replaces Relative, if larger, for gradients whose parts can cancel: norms
	// err upwards there (privacy.CancellationSlack).
	Cancelling float64
	// Overshoot is the excess of a clipped gradient's length over C, relative to C: the
	// part of Relative that would weaken the guarantee.
	Overshoot float64
	// Precision is the width of the tables that the engine is given.
	Precision privacy.Precision
}

// Run checks an engine on every model of Models. open returns a fresh engine,
// or skips the test.
func Run(t *testing.T, open func(t *testing.T) privacy.Engine, tol Tolerance) {
	for _, m := range Models() {
		t.Run(m.Name, func(t *testing.T) {
			e := newExperiment(t, m, open(t), tol)
			t.Run("batches", e.batches)
			t.Run("norms", e.norms)
			t.Run("poisoned", e.poisoned)
			t.Run("repeats", e.repeats)
			t.Run("steps", e.steps)
			t.Run("independence", e.independence)
			t.Run("small tables", e.smallTables)
			t.Run("extremes", e.extremes)
		})
	}
	t.Run("negative squares", func(t *testing.T) { negativeSquares(t, open(t)) })
}

// An experiment is a model, a table, and an engine opened on it.
type experiment struct {
	model     Model
	rows      *privacy.Rows
	open      func(t *testing.T) privacy.Worker // on a copy of rows
	worker    privacy.Worker
	reference *reference
	in        privacy.StepInput
	tol       Tolerance
	rng       *rand.Rand
}

func newExperiment(t *testing.T, m Model, engine privacy.Engine, tol Tolerance) *experiment {
	t.Helper()
	rng := rand.New(rand.NewPCG(20240917, uint64(len(m.Name))))
	tape := m.Tape(t)
	if privacy.Cancels(tape) {
		tol.Relative = max(tol.Relative, tol.Cancelling)
	}
	e := &experiment{model: m, tol: tol, rng: rng, rows: m.Table(t, tape, rng, tol.Precision)}
	e.open = func(t *testing.T) privacy.Worker {
		t.Helper()
		rows := *e.rows // a copy: otherwise an engine may share the rows of another worker
		worker, err := engine.Open(tape, &rows)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := worker.Close(); err != nil {
				t.Error(err)
			}
		})
		return worker
	}
	e.worker = e.open(t)
	e.in = privacy.StepInput{Params: normals(rng, tape.P, 0.5), Aux: normals(rng, tape.AuxGlobal, 1), Step: 3}
	if tape.AuxRecord > 0 {
		e.in.RecordNoise = noise.Insecure(5).Stream(noise.RecordNoise)
	}
	e.reference = newReference(tape, e.rows, e.in)
	return e
}

func normals(rng *rand.Rand, n int, sd float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = sd * rng.NormFloat64()
	}
	return x
}

// compare runs the engine and the reference on one batch.
func (e *experiment) compare(t *testing.T, name string, batch []uint32, all bool, clip privacy.Clip) {
	t.Helper()
	got := make([]float64, len(e.in.Params))
	for i := range got {
		got[i] = 777 // must be overwritten
	}
	count, err := e.worker.ClippedSum(got, e.in, batch, all, clip)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if all {
		batch = e.everyone()
	}
	want, wantCount, scale := e.reference.clippedSum(batch, clip)
	if count != wantCount {
		t.Errorf("%s: count %g, want %g", name, count, wantCount)
	}
	allowed := e.tol.Relative * scale
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= allowed) {
			t.Errorf("%s: sum[%d] = %g, want %g within %g", name, i, got[i], want[i], allowed)
			return
		}
	}
}

func (e *experiment) everyone() []uint32 {
	batch := make([]uint32, e.rows.N)
	for i := range batch {
		batch[i] = uint32(i)
	}
	return batch
}

// someone returns a random batch of size B without repetition.
func (e *experiment) someone(B int) []uint32 {
	batch := e.everyone()
	e.rng.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
	return batch[:B]
}

// clips are the ways of clipping, at the median norm of the table.
func (e *experiment) clips() map[string]privacy.Clip {
	c := e.reference.medianNorm(e.everyone())
	return map[string]privacy.Clip{
		"flat":      {Kind: privacy.Flat, Norm: c},
		"automatic": {Kind: privacy.Automatic, Norm: c, Gamma: 0.01},
		"none":      {Kind: privacy.Unclipped, Norm: c},
		"tight":     {Kind: privacy.Flat, Norm: c * 1e-6},
		"loose":     {Kind: privacy.Flat, Norm: c * 1e6},
	}
}

// batches have sizes from 0 to all records, none a multiple of another.
func (e *experiment) batches(t *testing.T) {
	for kind, clip := range e.clips() {
		e.compare(t, kind+", no records", nil, false, clip)
		e.compare(t, kind+", an empty batch", []uint32{}, false, clip)
		for _, B := range []int{1, 2, 7, 16, 31, 257, e.rows.N - 1, e.rows.N} {
			e.compare(t, fmt.Sprintf("%s, B=%d", kind, B), e.someone(B), false, clip)
		}
		e.compare(t, kind+", every record", nil, true, clip)
	}
}

// norms: a single record is clipped exactly if its norm exceeds C, and its contribution
// is never longer than C.
func (e *experiment) norms(t *testing.T) {
	dst := make([]float64, len(e.in.Params))
	for i := range min(e.rows.N, 60) {
		batch := []uint32{uint32(i)}
		g := e.reference.gradient(0, i)
		norm := length(g)
		if !(norm > 0) || math.IsInf(norm, 0) {
			continue
		}
		for _, side := range []struct {
			c    float64
			want float64
		}{{norm * (1 + e.tol.Relative), 0.5}, {norm * (1 - e.tol.Relative), -0.5}, {norm * 1e-3, -0.5}, {norm, math.NaN()}} {
			count, err := e.worker.ClippedSum(dst, e.in, batch, false, privacy.Clip{Kind: privacy.Flat, Norm: side.c})
			if err != nil {
				t.Fatal(err)
			}
			if count != side.want && side.want == side.want {
				t.Errorf("a record of norm %g with C = %g: count %g, want %g", norm, side.c, count, side.want)
			}
			if l := length(dst); l > side.c*(1+e.tol.Overshoot) {
				t.Errorf("a record of norm %g with C = %g contributes %g", norm, side.c, l)
			}
		}
	}
}

// poisoned: records that are invalid, not finite or huge count as zero and
// leave the others alone.
func (e *experiment) poisoned(t *testing.T) {
	stattest.SkipNumerics(t)
	healthy, whole := e.reference, e.worker
	defer func() { e.reference, e.worker = healthy, whole }()
	for _, poison := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e15} {
		poisoned, undo := e.poison(t, poison)
		e.reference = newReference(healthy.tape, e.rows, e.in)
		e.reference.keep(healthy, poisoned)
		e.worker = e.open(t) // an engine may keep a copy of the table
		for kind, clip := range e.clips() {
			e.compare(t, fmt.Sprintf("%s, with %g", kind, poison), nil, true, clip)
			e.compare(t, fmt.Sprintf("%s, with %g, B=29", kind, poison), e.someone(29), false, clip)
		}
		undo()
		e.reference = healthy
	}
	for _, i := range []int{0, 5, e.rows.N - 1} {
		e.rows.Valid[i] = false
		defer func() { e.rows.Valid[i] = true }()
	}
	e.worker = e.open(t)
	for kind, clip := range e.clips() {
		e.compare(t, kind+", invalid records", nil, true, clip)
		e.compare(t, kind+", one invalid record", []uint32{5}, false, clip)
	}
}

// poison overwrites some cells of some records, in the encoded columns and in
// the derived ones.
func (e *experiment) poison(t *testing.T, x float64) (records []int, undo func()) {
	t.Helper()
	old := make([]float64, e.rows.K)
	kept := map[int][]float64{}
	records = []int{0, 3, 17, 100, 101, 500, 501, 777, e.rows.N - 1}
	for k, i := range records {
		e.rows.Row(i, old)
		kept[i] = slices.Clone(old)
		e.rows.Set(i, k%e.reference.tape.K0, []float64{x}) // every column in turn
	}
	if err := privacy.DeriveColumns(e.reference.tape, e.rows, e.reference.tape.K0); err != nil {
		t.Fatal(err)
	}
	return records, func() {
		for i, row := range kept {
			e.rows.Set(i, 0, row)
		}
	}
}

// repeats: the same call gives the same bits, whatever came between.
func (e *experiment) repeats(t *testing.T) {
	clip := privacy.Clip{Kind: privacy.Flat, Norm: e.reference.medianNorm(e.everyone())}
	batch := e.someone(123)
	first, second := make([]float64, len(e.in.Params)), make([]float64, len(e.in.Params))
	a, err := e.worker.ClippedSum(first, e.in, batch, false, clip)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.worker.ClippedSum(second, e.in, nil, true, clip); err != nil {
		t.Fatal(err)
	}
	b, err := e.worker.ClippedSum(second, e.in, batch, false, clip)
	if err != nil {
		t.Fatal(err)
	}
	if a != b {
		t.Errorf("counts %g and %g of the same call", a, b)
	}
	for i := range first {
		if math.Float64bits(first[i]) != math.Float64bits(second[i]) {
			t.Fatalf("sum[%d] = %x, then %x, of the same call", i, first[i], second[i])
		}
	}
}

// steps: a worker serves many steps, each with other parameters, noise and batch size. No
// step affects the next.
func (e *experiment) steps(t *testing.T) {
	first, in := e.reference, e.in
	defer func() { e.reference, e.in = first, in }()
	for step, B := range []int{300, 3, 77, e.rows.N, 1, 129} {
		e.in.Params, e.in.Aux = normals(e.rng, len(in.Params), 0.5), normals(e.rng, len(in.Aux), 1)
		e.in.Step = 10 + step
		e.reference = newReference(first.tape, e.rows, e.in)
		batch := e.someone(max(B, 50)) // one norm has no middle
		clip := privacy.Clip{Kind: privacy.Flat, Norm: e.reference.medianNorm(batch)}
		e.compare(t, fmt.Sprintf("step %d, B=%d", step, B), batch[:B], false, clip)
	}
}
