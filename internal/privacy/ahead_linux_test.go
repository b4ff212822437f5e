package privacy

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"d3p/internal/models/encoding"
	"d3p/internal/models/graph"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
)

// watched tells of the batches that it draws.
type watched struct {
	sampler.Sampler
	steps chan int
}

func (w watched) Draw(t int, dst []uint32) ([]uint32, bool) {
	batch, all := w.Sampler.Draw(t, dst)
	w.steps <- t
	return batch, all
}

// While a step has its batch, that of the next one is drawn and fetched, and no later one;
// the batches are those of a sampler that draws them in turn.
func TestBatchesAreDrawnAhead(t *testing.T) {
	const first, last, n = 3, 9, 100
	for _, c := range []sampler.Config{
		{Scheme: sampler.Poisson, Rate: 0.3, PublicN: n}, {Scheme: sampler.Full, PublicN: n}, {Scheme: sampler.BallsAndBins, BatchSize: 20, PublicN: n},
	} {
		t.Run(c.Scheme, func(t *testing.T) {
			draws := func() sampler.Sampler {
				s, err := sampler.New(c, n, first, noise.Insecure(5).Stream(noise.Sampling))
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			steps, fetched := make(chan int, n), make(chan []uint32, n)
			a := newAhead(watched{draws(), steps}, func(batch []uint32) { fetched <- slices.Clone(batch) }, first, last)
			soon := func(want int) {
				t.Helper()
				select {
				case step := <-steps:
					if step != want {
						t.Fatalf("step %d is drawn, want %d", step, want)
					}
				case <-time.After(time.Minute):
					t.Fatalf("step %d is not drawn ahead", want)
				}
			}
			soon(first)
			alone, mine := draws(), []uint32(nil)
			for step := first; step < last; step++ {
				batch, all := a.take(mine)
				want, whole := alone.Draw(step, nil)
				if all != whole || !slices.Equal(batch, want) {
					t.Fatalf("step %d: batch %v, %v, want %v, %v", step, batch, all, want, whole)
				}
				if step+1 < last {
					soon(step + 1)
				}
				if !slices.Equal(batch, want) {
					t.Fatalf("step %d: its batch is overwritten", step)
				}
				if mine = batch; !all && !slices.Equal(<-fetched, want) {
					t.Fatalf("step %d: other records are fetched", step)
				}
			}
			a.close()
			if len(steps) > 0 || len(fetched) > 0 {
				t.Error("a batch is drawn that no step needs")
			}
		})
	}
}

// batches is an engine that notes its batches.
type batches struct{ list [][]uint32 }

func (b *batches) Name() string                            { return "batches" }
func (b *batches) Open(*graph.Tape, *Rows) (Worker, error) { return b, nil }
func (b *batches) Close() error                            { return nil }
func (b *batches) ClippedSum(_ []float64, _ StepInput, batch []uint32, _ bool, _ Clip) (float64, error) {
	b.list = append(b.list, slices.Clone(batch))
	return 0, nil
}

// A session on a table on disk draws ahead, with the batches of one in memory.
func TestBatchesOfTablesOnDisk(t *testing.T) {
	path := t.TempDir()
	data := filepath.Join(path, "data.csv")
	if err := os.WriteFile(data, []byte("a\n1\n2\n3\n4\n5\n6\n7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := os.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	b := graph.NewBuilder()
	tape, err := graph.Compile(b, b.Mul(b.Column(0), b.Param("w", nil)), nil, graph.Options{GradientOnly: true, Columns: 1})
	if err != nil {
		t.Fatal(err)
	}
	var engines [2]batches
	for i, scratch := range []*os.Root{nil, folder} {
		c, err := NewCurator(CuratorConfig{
			Table: NewTable(TableConfig{Data: data, Root: noise.Insecure(1), Scratch: scratch, Encoding: encoding.Encoding{K: 1, Fields: []encoding.Field{
				{Column: "a", Kind: encoding.Numeric, Missing: encoding.MissingReject, Out: []int{0}},
			}}}),
			Engine: &engines[i], Root: noise.Insecure(1), Budget: Budget{Epsilon: 1, Delta: 1e-5}, Relation: event.AddRemove,
		})
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Begin(Mechanism{Purpose: "fit", Tape: tape, Sampler: sampler.Config{Scheme: sampler.Poisson, Rate: 0.5, PublicN: 7}, Steps: 20, BatchBound: 1 << 20, GradientNoise: 30, Clip: Clip{Kind: Flat}})
		if err != nil {
			t.Fatal(err)
		}
		if (s.ahead != nil) != (i == 1) {
			t.Errorf("on disk is %v, drawing ahead %v", i == 1, s.ahead != nil)
		}
		for range 15 { // not all: closing ends what is ahead
			if _, err := s.Step(make([]float64, 1), StepRequest{Params: []float64{0}, ClipNorm: 1}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.EqualFunc(engines[0].list, engines[1].list, slices.Equal) {
		t.Errorf("batches on disk %v, in memory %v", engines[1].list, engines[0].list)
	}
}
