package privacy_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"d3p/internal/models/encoding"
	"d3p/internal/models/spec"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
)

// inProcess are ranks that share an address space.
type inProcess struct {
	rank  int
	hall  *hall
	added []float64
}

// hall is where ranks meet: each call of one waits for those of all others.
type hall struct {
	mu      sync.Mutex
	met     *sync.Cond
	size    int
	arrived int
	round   int
	sum     []float64
	result  []float64
}

func newHall(size int) *hall {
	h := &hall{size: size}
	h.met = sync.NewCond(&h.mu)
	return h
}

// meet adds x to those of the others, all of it or that of rank 0 alone.
func (h *hall) meet(x []float64, counts bool) []float64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.arrived == 0 {
		h.sum = make([]float64, len(x))
	}
	if counts {
		for i := range x {
			h.sum[i] += x[i]
		}
	}
	h.arrived++
	round := h.round
	if h.arrived == h.size {
		h.arrived, h.result = 0, h.sum
		h.round++
		h.met.Broadcast()
	}
	for h.round == round {
		h.met.Wait()
	}
	return h.result
}

func (r *inProcess) Rank() int { return r.rank }
func (r *inProcess) Size() int { return r.hall.size }

func (r *inProcess) Add(x []float64) error {
	r.added = slices.Clone(x)
	sum := r.hall.meet(x, true)
	if r.rank == 0 {
		copy(x, sum)
	}
	return nil
}

func (r *inProcess) Share(x []float64) error {
	copy(x, r.hall.meet(x, r.rank == 0))
	return nil
}

// steps takes n steps on as many ranks as there are engines, and returns what each got.
func stepsOnRanks(t *testing.T, m privacy.Mechanism, n int, engines ...*fakeEngine) (sums [][]float64, counts []float64, errs []error) {
	t.Helper()
	h := newHall(len(engines))
	sums, counts, errs = make([][]float64, len(engines)), make([]float64, len(engines)), make([]error, len(engines))
	var all sync.WaitGroup
	data := writeFile(t, "data.csv", table)
	for rank, e := range engines {
		cfg := config(t, e)
		cfg.Table = tableAt(data)
		cfg.Root = noise.Insecure(5)
		if !sampler.Apart(m.Sampler.Scheme) {
			cfg.Relation = event.Substitute
		}
		if len(engines) > 1 {
			cfg.Ranks = &inProcess{rank: rank, hall: h}
		}
		c, err := privacy.NewCurator(cfg)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			s, err := c.Begin(m)
			if err != nil {
				errs[rank] = err
				return
			}
			for range n {
				dst := make([]float64, 2)
				r, err := s.Step(dst, privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1})
				sums[rank], counts[rank] = append(sums[rank], dst...), counts[rank]+r.Count
				if err != nil {
					errs[rank] = err
					return
				}
			}
		})
	}
	all.Wait()
	return sums, counts, errs
}

// The parts of a sum that several processes hold get one noise, that of a process that
// has it all, and every process gets the same release.
func TestRanksReleaseOneSum(t *testing.T) {
	m := mechanism(t, 10)
	m.Sampler.Scheme, m.Sampler.Rate = "full", 1
	whole := &fakeEngine{sum: []float64{11, 22}, count: 3}
	alone, count, errs := stepsOnRanks(t, m, 3, whole)
	if errs[0] != nil {
		t.Fatal(errs[0])
	}
	ranks, counts, errs := stepsOnRanks(t, m, 3, &fakeEngine{sum: []float64{1, 2}, count: 1}, &fakeEngine{sum: []float64{10, 20}, count: 2})
	for rank := range ranks {
		if errs[rank] != nil {
			t.Fatal(errs[rank])
		}
		if !slices.Equal(ranks[rank], alone[0]) {
			t.Errorf("rank %d got %v, one process with all records %v", rank, ranks[rank], alone[0])
		}
	}
	// both tables here have the same number of records, which the count subtracts
	records := float64(3 * whole.records)
	if want := count[0] + (0.5-m.CountTarget)*records; counts[0] != counts[1] || math.Abs(counts[0]-want) > 1e-9*records {
		t.Errorf("counts %v, want %g", counts, want)
	}
}

// An engine that fails on one rank fails the step on all: none waits for it, and no sum
// leaves.
func TestRankFails(t *testing.T) {
	m := mechanism(t, 10)
	m.Sampler.Scheme, m.Sampler.Rate = "full", 1
	for failing := range 2 {
		engines := []*fakeEngine{{sum: []float64{1, 2}}, {sum: []float64{10, 20}}}
		engines[failing].err = errors.New("out of memory")
		sums, _, errs := stepsOnRanks(t, m, 3, engines...)
		for rank, err := range errs {
			if err == nil || strings.Contains(err.Error(), "out of memory") != (rank == failing) {
				t.Errorf("rank %d of which %d failed: %v", rank, failing, err)
			}
			if !slices.Equal(sums[rank], []float64{0, 0}) {
				t.Errorf("rank %d got %v from a failed step", rank, sums[rank])
			}
		}
	}
}

// An engine that cannot be opened on one rank is an error on all, and nothing is spent.
func TestRankCannotBegin(t *testing.T) {
	engines := []*fakeEngine{{sum: []float64{1, 2}}, {lost: errors.New("no memory")}}
	m := mechanism(t, 10)
	_, _, errs := stepsOnRanks(t, m, 1, engines...)
	for rank, err := range errs {
		if err == nil || strings.Contains(err.Error(), "no memory") != (rank == 1) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if len(engines[0].batches) > 0 || engines[0].closed != 1 {
		t.Errorf("rank 0 took %d steps and closed its engine %d times", len(engines[0].batches), engines[0].closed)
	}
}

// Batches that need all records at hand are those of rank 0's stream on every rank: each has
// its own records of them, in order of the ranks.
func TestRanksDealBatches(t *testing.T) {
	const steps, ranks, each = 12, 3, 4 // the table has 4 records on every rank
	for _, c := range []sampler.Config{
		{Scheme: sampler.FixedSize, BatchSize: 5, PublicN: ranks * each},
		{Scheme: sampler.FixedSize, BatchSize: 5, PublicN: ranks*each + 3},
		{Scheme: sampler.Shuffle, BatchSize: 3, PublicN: ranks * each},
	} {
		m := mechanism(t, steps)
		m.Sampler, m.GradientNoise, m.CountNoise = c, 300, 300
		engines := []*fakeEngine{{sum: []float64{1, 0}}, {sum: []float64{1, 0}}, {sum: []float64{1, 0}}}
		_, _, errs := stepsOnRanks(t, m, steps, engines...)
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		alone, err := sampler.New(c, ranks*each, 0, noise.Insecure(5).Child(0).Stream(noise.Sampling))
		if err != nil {
			t.Fatal(err)
		}
		for step := range steps {
			var got []uint32
			for rank, e := range engines {
				for _, i := range e.batches[step] {
					got = append(got, i+uint32(rank*each))
				}
			}
			want, _ := alone.Draw(step, nil)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("%s, step %d: the ranks have records %d, want %d", c.Scheme, step, got, want)
			}
		}
	}
}

// Counts of units that several processes hold are those of one that has them all, bit for
// bit, with one noise.
func TestRanksCountTogether(t *testing.T) {
	text := "id,x,k,g,y\n"
	for i := range 500 {
		text += fmt.Sprintf("p%d,%g,%d,%c,%d\n", i*i%97, float64(i%9)-4.5, i%11, 'a'+rune(i%4), i%2)
	}
	path := writeFile(t, "survey.csv", text)
	counts := func(ranks privacy.Ranks, rank, of int) ([][]float64, error) {
		c, err := privacy.NewCurator(privacy.CuratorConfig{
			Columns: privacy.NewColumns(privacy.TableConfig{Data: path, Encoding: survey(t, threeRows), Root: noise.Insecure(1), Rank: rank, Of: of}),
			Engine:  &fakeEngine{}, Root: noise.Insecure(1), Ranks: ranks,
			Budget: privacy.Budget{Epsilon: 100, Delta: 1e-5}, Relation: event.AddRemove,
		})
		if err != nil {
			return nil, err
		}
		return c.Counts("counts", surveyPartitions())
	}
	want, err := counts(nil, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	const n = 3
	h := newHall(n)
	var all sync.WaitGroup
	for rank := range n {
		all.Go(func() {
			got, err := counts(&inProcess{rank: rank, hall: h}, rank, n)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("rank %d of %d counts %v, want %v: %v", rank, n, got, want, err)
			}
		})
	}
	all.Wait()
}

// A copy of a file on another machine, with the rows in another order, has other shares: a record could be in those of two.
func TestCopiesInAnotherOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.csv")
	var rows []string
	for i := range 200_000 {
		rows = append(rows, fmt.Sprintf("%06d,1,1,a,1\n", i))
	}
	digest := func() any {
		if err := os.WriteFile(path, []byte("id,x,k,g,y\n"+strings.Join(rows, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		return privacy.FilesDigest([]string{path})
	}
	one := digest()
	if digest() != one {
		t.Error("equal copies differ")
	}
	for _, turned := range [][]string{rows, rows[:2], rows[100_000:], rows[len(rows)-2:]} {
		slices.Reverse(turned)
		if digest() == one {
			t.Errorf("a copy with %d rows in another order is no other file", len(turned))
		}
		slices.Reverse(turned)
	}
}

// Where a file grows while one process of a job reads it, that one has taken other shares than one that reads it later.
func TestFilesThatGrow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.csv")
	grow := func() error {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteString("p,1,1,a,1\n")
		return errors.Join(err, f.Close())
	}
	stay := func() error { return nil }
	if err := grow(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		processes int
		read      func() error
		refused   bool
	}{{1, stay, false}, {1, grow, true}, {2, stay, false}, {2, grow, true}} {
		if err := privacy.Unchanged([]string{path}, c.processes, c.read); (err != nil) != c.refused || c.refused && !strings.Contains(err.Error(), "changed while it was read") {
			t.Errorf("%d processes: %v", c.processes, err)
		}
	}
}

// Processes that cut a file at other places release nothing: a record could be in the shares of two.
func TestRanksThatCutElsewhere(t *testing.T) {
	const n = 2
	path := filepath.Join(t.TempDir(), "data.csv")
	text := "id,x,k,g,y\n" + strings.Repeat("p,1,1,\"a\n\",1\n", 1000)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHall(n)
	var all sync.WaitGroup
	for rank := range n {
		all.Go(func() {
			e := survey(t, aRow)
			if rank == 1 {
				e.Quotes = spec.NoQuotes
			}
			c, err := privacy.NewCurator(privacy.CuratorConfig{
				Columns: privacy.NewColumns(privacy.TableConfig{Data: path, Encoding: e, Root: noise.Insecure(1), Rank: rank, Of: n}),
				Engine:  &fakeEngine{}, Root: noise.Insecure(1), Ranks: &inProcess{rank: rank, hall: h},
				Budget: privacy.Budget{Epsilon: 100, Delta: 1e-5}, Relation: event.AddRemove,
			})
			if err != nil {
				t.Error(err)
			}
			if _, err := c.Counts("counts", surveyPartitions()); err == nil || strings.Contains(err.Error(), "cut them at other places") != (rank == 1) {
				t.Errorf("rank %d: %v", rank, err)
			}
		})
	}
	all.Wait()
}

// Processes that see other files, as where one appears while they start, release nothing:
// a record could be in the shares of two.
func TestRanksOfOtherFiles(t *testing.T) {
	const header, n = "id,x,k,g,y\n", 2
	h := newHall(n)
	var all sync.WaitGroup
	folder := t.TempDir()
	for i := range 3 {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.csv", i)), []byte(header+"p,1,1,a,1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for rank := range n {
		all.Go(func() {
			data := folder
			if rank == 1 {
				data = filepath.Join(folder, "[12].csv")
			}
			c, err := privacy.NewCurator(privacy.CuratorConfig{
				Columns: privacy.NewColumns(privacy.TableConfig{Data: data, Encoding: survey(t, aRow), Root: noise.Insecure(1), Rank: rank, Of: n}),
				Engine:  &fakeEngine{}, Root: noise.Insecure(1), Ranks: &inProcess{rank: rank, hall: h},
				Budget: privacy.Budget{Epsilon: 100, Delta: 1e-5}, Relation: event.AddRemove,
			})
			if err != nil {
				t.Error(err)
			}
			if _, err := c.Counts("counts", surveyPartitions()); err == nil || strings.Contains(err.Error(), "other data files") != (rank == 1) {
				t.Errorf("rank %d: %v", rank, err)
			}
			if len(c.Ledger().Entries) > 0 {
				t.Errorf("rank %d was charged", rank)
			}
		})
	}
	all.Wait()
}

// Processes that ask for different releases get an error, and nothing is charged.
func TestRanksOfOtherQueries(t *testing.T) {
	data := writeFile(t, "data.csv", table)
	survey, other := survey(t, aRow), survey(t, aRow)
	other.MissingTokens = []string{"none"}
	path := writeFile(t, "survey.csv", "id,x,k,g,y\np,1,1,a,1\n")
	columns := func(cfg *privacy.CuratorConfig, of encoding.Encoding, rank int) {
		cfg.Table, cfg.Columns = nil, privacy.NewColumns(privacy.TableConfig{Data: path, Encoding: of, Root: noise.Insecure(1), Rank: rank, Of: 2})
	}
	counts := func(c *privacy.Curator, change func([]privacy.Partition)) error {
		list := surveyPartitions()
		change(list)
		_, err := c.Counts("counts", list)
		return err
	}
	for name, ask := range map[string]func(c *privacy.Curator, rank int) error{
		"noise": func(c *privacy.Curator, rank int) error {
			return counts(c, func(list []privacy.Partition) { list[0].Noise += float64(rank) })
		},
		"cuts": func(c *privacy.Curator, rank int) error {
			return counts(c, func(list []privacy.Partition) {
				list[0] = privacy.Partition{Axes: []privacy.Axis{{Column: "x", Cuts: []float64{float64(rank)}}}, Noise: 50}
			})
		},
		"encoding": func(c *privacy.Curator, rank int) error { return counts(c, func([]privacy.Partition) {}) },
		"design": func(c *privacy.Curator, rank int) error {
			_, err := c.Moments("moments", privacy.Design{Products: [][]privacy.Reading{{{Column: "x", Level: privacy.Number, By: 1 + float64(rank)}}}, Bound: 1, Noise: 50})
			return err
		},
		"steps": func(c *privacy.Curator, rank int) error {
			_, err := c.Begin(mechanism(t, 3+rank))
			return err
		},
		"clip norm": func(c *privacy.Curator, rank int) error {
			s, err := c.Begin(mechanism(t, 3))
			if err == nil {
				dst := []float64{1, 1}
				if _, err = s.Step(dst, privacy.StepRequest{Params: []float64{0, 0}, ClipNorm: 1 + float64(rank)/1e6}); dst[0] != 0 {
					t.Errorf("rank %d got a release", rank)
				}
			}
			return err
		},
	} {
		h, errs := newHall(2), make([]error, 2)
		var all sync.WaitGroup
		for rank := range 2 {
			cfg := config(t, &fakeEngine{sum: []float64{1, 1}})
			cfg.Budget.Epsilon, cfg.Ranks, cfg.Root = 100, &inProcess{rank: rank, hall: h}, noise.Insecure(5)
			switch {
			case name == "steps" || name == "clip norm":
				cfg.Table = tableAt(data)
			case name == "encoding" && rank == 1:
				columns(&cfg, other, rank)
			default:
				columns(&cfg, survey, rank)
			}
			c, err := privacy.NewCurator(cfg)
			if err != nil {
				t.Fatal(err)
			}
			all.Go(func() {
				errs[rank] = ask(c, rank)
				if n := len(c.Ledger().Entries); n > 0 && name != "clip norm" {
					t.Errorf("%s: rank %d was charged", name, rank)
				}
			})
		}
		all.Wait()
		if err := errors.Join(errs...); errs[0] == nil || errs[1] == nil || !strings.Contains(err.Error(), "ask for different releases") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
