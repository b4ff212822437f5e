// Package sensitivity searches for a record whose presence moves the clipped sum of an
// engine by more than C. Claims 1 and 2 of docs/privacy.md say that no such record exists.
//
// The search chooses everything that an adversary might: the record, the other records, the
// parameters, the noise of a step, C. It begins at random and climbs: towards gradients
// whose parts cancel, where a norm is most easily too small, and towards sums that are too
// long. It measures the engine's sum, or the difference of two sums, of the numbers in a
// table; it does not compute the true gradient.
//
// Letters: K encoded columns, P scalars in θ, C clip norm.
package sensitivity

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/encoding"
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/clipgroups"
	"d3p/internal/privacy/noise"
)

// A Model is the target of an attack on an engine.
type Model struct {
	Name     string
	Tape     *graph.Tape
	Encoding *encoding.Encoding // nil where records are K numbers
	Groups   clipgroups.Groups  // separately clipped groups; nil: none
	Compiled *models.Model      // of the tape; nil if there is only a tape
}

// A Target is an engine on a model, with a table of a precision.
type Target struct {
	Model
	Engine    privacy.Engine
	Precision privacy.Precision
}

// A Case is one choice of everything.
type Case struct {
	Record  []float64   // encoded, before it is stored
	Company [][]float64 // the others of the batch
	Theta   []float64
	Aux     []float64
	Clip    privacy.Clip
}

// A Finding is the result of a case: the record moves the sum by Moved·C.
type Finding struct {
	Case
	Moved   float64
	Allowed float64 // beyond 1, see privacy.Overshoot
}

// Excess is the movement beyond C, in units of the allowed excess.
func (f *Finding) Excess() float64 { return (f.Moved - 1) / f.Allowed }

// Fault reports whether the sum moves by more than C and the allowed excess, or is not a
// number.
func (f *Finding) Fault() bool { return !(f.Excess() <= 1) }

// worse reports whether f is closer to a fault than other; NaN is one.
func (f *Finding) worse(other *Finding) bool {
	switch {
	case math.IsNaN(other.Moved):
		return false
	case f.Moved <= 1 && other.Moved <= 1:
		return f.Moved > other.Moved
	}
	return !(f.Excess() <= other.Excess())
}

func (f *Finding) String() string {
	return fmt.Sprintf("a record moves the sum by %.17g C beside %d others, %.3g allowed beyond 1 (%s, C = %g): record %v, parameters %.17g",
		f.Moved, len(f.Company), f.Allowed, f.Clip.Kind, f.Clip.Norm, f.Record, f.Theta)
}

// A Result is the worst of the cases that a search has tried.
type Result struct {
	Worst   Finding
	Cases   int
	Clipped int // cases that moved the sum by at least C/2
}

// rows stores records as a table does, with the derived columns.
func (t *Target) rows(records [][]float64, valid []bool) (*privacy.Rows, error) {
	K0, n := t.Tape.K0, len(records)
	rows := &privacy.Rows{N: n, K: K0, Stride: K0, Valid: valid}
	if t.Precision == privacy.Float32 {
		rows.F32 = make([]float32, n*K0)
	} else {
		rows.F64 = make([]float64, n*K0)
	}
	for i, x := range records {
		rows.Set(i, 0, x)
	}
	return rows, privacy.DeriveColumns(t.Tape, rows, K0)
}

// A bench runs cases whose records are in one table.
type bench struct {
	target *Target
	tapes  []*graph.Tape // of the groups
	rows   *privacy.Rows
	worker privacy.Worker
	noise  *noise.Stream
	with   []float64
	bare   []float64
}

func (t *Target) bench(records [][]float64, valid []bool) (*bench, error) {
	rows, err := t.rows(records, valid)
	if err != nil {
		return nil, err
	}
	tapes, err := t.Groups.Tapes(t.Tape)
	if err != nil {
		return nil, err
	}
	worker, err := privacy.OpenGroups(t.Engine, t.Groups, t.Tape, rows)
	if err != nil {
		return nil, err
	}
	b := &bench{target: t, tapes: tapes, rows: rows, worker: worker, with: make([]float64, t.Tape.P), bare: make([]float64, t.Tape.P)}
	if t.Tape.AuxRecord > 0 {
		b.noise = noise.Insecure(5).Stream(noise.RecordNoise)
	}
	return b, nil
}

// moved returns the distance of the sums with and without a record, at a place among
// others, in units of C, with the parameters and C of c, and the allowed excess over 1. It
// is infinite if the record moves the count by more than 1/2.
func (b *bench) moved(c *Case, company []uint32, place int, record uint32) (moved, allowed float64, err error) {
	in := privacy.StepInput{Params: c.Theta, Aux: c.Aux, RecordNoise: b.noise, Step: 1}
	all := slices.Insert(slices.Clone(company), place, record)
	with, err := b.worker.ClippedSum(b.with, in, all, false, c.Clip)
	if err != nil {
		return 0, 0, err
	}
	clear(b.bare)
	bare := 0.0
	if len(company) > 0 {
		if bare, err = b.worker.ClippedSum(b.bare, in, company, false, c.Clip); err != nil {
			return 0, 0, err
		}
	}
	allowed = privacy.Overshoot(b.tapes, len(all))
	if !(math.Abs(with-bare) <= 0.5) {
		return math.Inf(1), allowed, nil
	}
	return length(b.with, b.bare) / c.Clip.Norm, allowed, nil
}

// length is |x - y|. It adds squares as sums of two numbers. It is NaN if a number is NaN.
func length(x, y []float64) float64 {
	most := 0.0
	for i := range x {
		most = math.Max(most, math.Abs(x[i]-y[i])) // NaN stays
	}
	if most == 0 || most-most != 0 {
		return most
	}
	high, low := 0.0, 0.0
	for i := range x {
		d := (x[i] - y[i]) / most
		square := d * d
		low += math.FMA(d, d, -square)
		sum := high + square
		back := sum - high
		low += (high - (sum - back)) + (square - back)
		high = sum
	}
	return most * math.Sqrt(high+low)
}

// A search is one target's.
type search struct {
	*Target
	rng     *rand.Rand
	domain  domain
	machine *graph.Machine
	row     []float64
	g, zero []float64
	result  Result
}

func (t *Target) search(rng *rand.Rand) (*search, error) {
	s := &search{
		Target: t, rng: rng, domain: free(t.Tape.K0), machine: graph.NewMachine(t.Tape, 1),
		row: make([]float64, t.Tape.K0), g: make([]float64, t.Tape.P), zero: make([]float64, t.Tape.P),
	}
	if t.Encoding != nil {
		s.domain = encoded(t.Encoding)
		if w := s.domain.width(); w != t.Tape.K0 {
			return nil, fmt.Errorf("sensitivity: records of %d columns, the tape of %s reads %d", w, t.Name, t.Tape.K0)
		}
	}
	s.result.Worst = Finding{Allowed: 1}
	return s, nil
}

// Attack tries cases while more returns true of its result so far. At a fault it climbs on for a
// while, to show how large it is, and stops.
func Attack(t Target, rng *rand.Rand, more func(Result) bool) (Result, error) {
	s, err := t.search(rng)
	if err != nil {
		return Result{}, err
	}
	for more(s.result) {
		if err := s.episode(more); err != nil || s.result.Worst.Fault() {
			return s.result, err
		}
	}
	return s.result, nil
}

// Number of cases in a generation, and number of its best that have offspring. Networks
// take fewer.
const (
	population, parents = 24, 6
	generations         = 8
	largeTape           = 1 << 14 // parameters
)

// A scored case is as good as its sum is long and its parts cancel.
type scored struct {
	Case
	score float64
}

// episode starts at random and climbs.
func (s *search) episode(more func(Result) bool) error {
	n, keep := population, parents
	if s.Tape.P > largeTape {
		n, keep = 6, 2
	}
	wildly := s.rng.IntN(4) == 0
	list := make([]scored, n)
	for i := range list {
		list[i].Case = s.draw(wildly)
		if i%3 == 0 {
			s.climb(&list[i].Case, wildly)
		}
	}
	for k := 0; k < generations || s.result.Worst.Fault() && k < 20*generations; k++ {
		if err := s.try(list); err != nil || !s.result.Worst.Fault() && !more(s.result) {
			return err
		}
		slices.SortStableFunc(list, func(a, b scored) int {
			return cmp.Compare(b.score, a.score)
		})
		for i := keep; i < n; i++ {
			list[i].Case = s.offspring(&list[s.rng.IntN(keep)].Case, wildly)
		}
	}
	return nil
}

// draw is a random case.
func (s *search) draw(wildly bool) Case {
	c := Case{Record: make([]float64, s.Tape.K0), Theta: make([]float64, s.Tape.P), Aux: make([]float64, s.Tape.AuxGlobal)}
	s.domain.draw(s.rng, c.Record)
	sd := []float64{0, 0.01, 0.1, 0.5, 2, 10, 1e4}[s.rng.IntN(7)]
	switch {
	case !wildly:
	case s.rng.IntN(2) == 0:
		for j := range c.Record {
			if s.rng.IntN(3) == 0 {
				c.Record[j] = wild(s.rng)
			}
		}
	default: // huge and tiny numbers with ordinary products
		reach := []float64{19, 37, 75, 150, 153}[s.rng.IntN(5)]
		for j := range c.Record {
			if k := s.rng.IntN(4); k > 0 {
				c.Record[j] = signed(s.rng, -1, 1) * math.Pow(10, reach*float64(k-2))
			}
		}
		// exponentials of some hundreds are tiny, too
		sd = []float64{1, 30, 400}[s.rng.IntN(3)] * math.Pow(10, reach*[]float64{-1, -1, 0, 1}[s.rng.IntN(4)])
	}
	for i := range c.Theta {
		c.Theta[i] = sd * s.rng.NormFloat64()
	}
	if wildly && s.rng.IntN(3) == 0 { // weights after a step that went wrong
		for i := range c.Theta {
			if s.rng.IntN(8) == 0 {
				c.Theta[i] = wild(s.rng)
			}
		}
	}
	for i := range c.Aux {
		c.Aux[i] = s.rng.NormFloat64()
	}
	s.clip(&c)
	return c
}

// clip chooses C, most often far below the norm, where every fault of it shows.
func (s *search) clip(c *Case) {
	c.Clip = privacy.Clip{Kind: privacy.Flat, Norm: math.Pow(10, -6+9*s.rng.Float64())}
	if norm, _ := s.sizes(c); norm > 1e-60 && norm < 1e60 && s.rng.IntN(4) > 0 {
		c.Clip.Norm = norm * []float64{1e-30, 1e-6, 0.1, 1 - 1e-15, 1, 1 + 1e-15}[s.rng.IntN(6)]
	}
	if s.rng.IntN(10) == 0 {
		c.Clip.Kind, c.Clip.Gamma = privacy.Automatic, 1e-9*c.Clip.Norm
	}
}

// sizes are the norm of the gradient of a case's record, of the stored numbers before
// derived ones are rounded, and that which it had if no parts cancelled.
func (s *search) sizes(c *Case) (norm, parts float64) {
	copy(s.row, c.Record)
	if s.Precision == privacy.Float32 {
		for j, x := range s.row {
			s.row[j] = float64(float32(x))
		}
	}
	s.machine.Globals(c.Theta, c.Aux)
	s.machine.Records(s.row, len(s.row), 1, make([]float64, s.Tape.AuxRecord))
	s.machine.Gradient(0, s.g)
	return length(s.g, s.zero), math.Sqrt(s.machine.PartsNorm2(0))
}

// cancelled is the logarithm of the ratio of the parts' length to the gradient's; very low
// for a gradient that is 0 or not finite.
func (s *search) cancelled(c *Case) float64 {
	norm, parts := s.sizes(c)
	if x := math.Log10(parts) - math.Log10(norm); x-x == 0 {
		return x
	}
	return -100
}

// climb mutates a case while its parts cancel more, up to a cheap number of times.
func (s *search) climb(c *Case, wildly bool) {
	if !privacy.Cancels(s.Tape) || s.Tape.P > largeTape {
		return
	}
	goal := 4 + 10*s.rng.Float64() // squares see half of the digits
	best := s.cancelled(c)
	for range min(400, 200_000/(s.Tape.P+s.Tape.K)) {
		next := s.mutated(c, wildly)
		if x := s.cancelled(&next); x >= best {
			*c, best = next, x
		}
		if best > goal {
			break
		}
	}
	s.clip(c)
}

// mutated is a case that differs from c in little.
func (s *search) mutated(c *Case, wildly bool) Case {
	next := *c
	if s.rng.IntN(2) == 0 || len(c.Theta) == 0 {
		next.Record = slices.Clone(c.Record)
		s.domain.mutate(s.rng, next.Record)
		if wildly && s.rng.IntN(3) == 0 {
			next.Record[s.rng.IntN(len(next.Record))] = wild(s.rng)
		}
		return next
	}
	next.Theta = slices.Clone(c.Theta)
	i := s.rng.IntN(len(next.Theta))
	switch s.rng.IntN(8) {
	case 0:
		next.Theta[i] = 0
	case 1:
		next.Theta[i] = next.Theta[s.rng.IntN(len(next.Theta))]
	case 2:
		next.Theta[i] = signed(s.rng, -4, 3)
	default:
		next.Theta[i] = nudge(s.rng, next.Theta[i])
	}
	return next
}

func (s *search) offspring(c *Case, wildly bool) Case {
	next := s.mutated(c, wildly)
	if s.rng.IntN(2) == 0 {
		next = s.mutated(&next, wildly)
	}
	if s.rng.IntN(2) == 0 {
		s.clip(&next)
	}
	return next
}

// crowd is the number of other records in the larger tables: several chunks of an engine.
const crowd = 700

// try runs each case alone, and one among others.
func (s *search) try(list []scored) error {
	var records [][]float64
	for i := range list {
		records = append(records, list[i].Record)
	}
	for n := crowd; n > 0 && s.Tape.P <= largeTape/16 && s.rng.IntN(8) == 0; n = 0 {
		for range n {
			records = append(records, records[s.rng.IntN(len(list))])
		}
	}
	valid := make([]bool, len(records))
	for i := range valid {
		valid[i] = s.rng.IntN(16) > 0
	}
	b, err := s.bench(records, valid)
	if err != nil {
		return err
	}
	defer b.worker.Close()
	for i := range list {
		c := &list[i]
		moved, allowed, err := b.moved(&c.Case, nil, 0, uint32(i))
		if err != nil {
			return err
		}
		s.note(&c.Case, nil, moved, allowed)
		c.score = math.Log10(1e-17 + max(0, moved-1))
		if privacy.Cancels(s.Tape) && s.Tape.P <= largeTape {
			c.score += 0.3 * max(-10, s.cancelled(&c.Case))
		}
		if moved < 0.5 {
			c.score -= 3
		}
	}
	return s.inCompany(list, b, records)
}

// inCompany runs a case in company of any others of the table.
func (s *search) inCompany(list []scored, b *bench, records [][]float64) error {
	k := s.rng.IntN(len(list))
	var company []uint32
	keep := s.rng.Float64()
	for i := range records {
		if i != k && s.rng.Float64() < keep {
			company = append(company, uint32(i))
		}
	}
	s.rng.Shuffle(len(company), func(i, j int) { company[i], company[j] = company[j], company[i] })
	place := len(company) // noise of records is dealt out by place
	if s.Tape.AuxRecord == 0 {
		place = s.rng.IntN(len(company) + 1)
	}
	c := &list[k].Case
	moved, allowed, err := b.moved(c, company, place, uint32(k))
	if err != nil {
		return err
	}
	var others [][]float64
	for _, i := range company {
		others = append(others, records[i])
	}
	s.note(c, others, moved, allowed)
	return nil
}

// note counts a case, and keeps it if it is the worst.
func (s *search) note(c *Case, company [][]float64, moved, allowed float64) {
	s.result.Cases++
	if moved >= 0.5 {
		s.result.Clipped++
	}
	f := Finding{Case: *c, Moved: moved, Allowed: allowed}
	if f.worse(&s.result.Worst) {
		f.Company = company
		s.result.Worst = f
	}
}
