package privacy

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"d3p/internal/models/encoding"
	"d3p/internal/models/graph"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
)

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
		if (s.prefetch != nil) != (i == 1) {
			t.Errorf("on disk is %v, drawing ahead %v", i == 1, s.prefetch != nil)
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
