package privacy_test

import (
	"errors"
	"os"
	"slices"
	"sync"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// onRows is an engine that notes the rows it was opened on.
type onRows struct {
	privacy.Engine
	rows *privacy.Rows
}

func (e *onRows) Open(t *graph.Tape, rows *privacy.Rows) (privacy.Worker, error) {
	e.rows = rows
	return e.Engine.Open(t, rows)
}

// Curators that share a table read it once, so that its file may be gone, and give
// their engines the same rows, also where they step at the same time (under the
// race detector). Each has its own noise, ledger and private account.
func TestSharedTable(t *testing.T) {
	path := writeFile(t, "data.csv", table)
	shared := tableAt(path)
	engines := make([]*onRows, 4)
	releases := make([][]float64, len(engines))
	var group sync.WaitGroup
	for k := range engines {
		engines[k] = &onRows{Engine: cpu.New(cpu.Options{Threads: 1})}
		cfg := config(t, engines[k])
		cfg.Table, cfg.Root, cfg.Private = shared, noise.Insecure(7).Child(uint64(k)), privateFolder(t)
		c := newCurator(t, cfg)
		if _, err := cfg.Private.Stat(privacy.DataCheckName); err != nil {
			t.Error(err)
		}
		if k == 0 {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		group.Go(func() {
			s, err := c.Begin(mechanism(t, 10))
			if err != nil {
				t.Error(err)
				return
			}
			releases[k] = make([]float64, 2)
			for range 10 {
				if _, err := s.Step(releases[k], privacy.StepRequest{Params: []float64{0.3, -1}, ClipNorm: 1}); err != nil {
					t.Error(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if l := c.Ledger(); len(l.Entries) != 1 || l.Entries[0].Steps != 10 {
				t.Errorf("curator %d: ledger %+v", k, l)
			}
		})
	}
	group.Wait()
	for k := range engines {
		if engines[k].rows != engines[0].rows {
			t.Errorf("curator %d has other rows", k)
		}
		for _, r := range releases[:k] {
			if slices.Equal(r, releases[k]) {
				t.Errorf("two curators released %v", r)
			}
		}
	}
}

// Derived columns belong to a tape: another one has to wait until nobody reads them.
func TestSharedTableHasOneTape(t *testing.T) {
	cfg := config(t, cpu.New(cpu.Options{Threads: 1}))
	first, second := newCurator(t, cfg), newCurator(t, cfg)
	open := begin(t, first, mechanism(t, 1))
	again := begin(t, second, mechanism(t, 1)) // compiled again, but the same
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	cfg.Engine = unopened{}
	if _, err := newCurator(t, cfg).Begin(mechanism(t, 1)); err == nil {
		t.Error("a session began on an engine that does not open")
	}
	other := mechanism(t, 1)
	b := graph.NewBuilder()
	tape, err := graph.Compile(b, b.Mul(b.Column(0), b.Param("w", nil)), nil, graph.Options{Columns: 3})
	if err != nil {
		t.Fatal(err)
	}
	other.Tape = tape
	_, err = second.Begin(other)
	mustContain(t, err, "share a table")
	if err := open.Close(); err != nil {
		t.Fatal(err)
	}
	if err := begin(t, second, other).Close(); err != nil { // nobody reads them, nor the session that did not begin
		t.Fatal(err)
	}
}

// unopened is an engine that opens nothing.
type unopened struct{}

func (unopened) Name() string { return "unopened" }

func (unopened) Open(*graph.Tape, *privacy.Rows) (privacy.Worker, error) {
	return nil, errors.New("no device")
}
