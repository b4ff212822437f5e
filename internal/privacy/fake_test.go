package privacy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
)

// fakeEngine returns the same sum for every batch that is not empty, and
// remembers what it was asked.
type fakeEngine struct {
	sum   []float64
	count float64
	err   error
	lost  error // of Open

	records int // of the table
	batches [][]uint32
	clips   []privacy.Clip
	in      privacy.StepInput // of the last step
	closed  int
}

func (e *fakeEngine) Name() string { return "fake" }

func (e *fakeEngine) Open(_ *graph.Tape, rows *privacy.Rows) (privacy.Worker, error) {
	e.records = rows.N
	if e.lost != nil {
		return nil, e.lost
	}
	return e, nil
}

func (e *fakeEngine) ClippedSum(dst []float64, in privacy.StepInput, batch []uint32, all bool, clip privacy.Clip) (float64, error) {
	e.in = in
	e.clips = append(e.clips, clip)
	e.batches = append(e.batches, append([]uint32(nil), batch...))
	copy(dst, e.sum) // also when it fails: the session must not pass it on
	if e.err != nil {
		return e.count, e.err
	}
	if !all && len(batch) == 0 {
		clear(dst)
		return 0, nil
	}
	return e.count, nil
}

func (e *fakeEngine) Close() error {
	e.closed++
	return nil
}

// logisticTape is a regression of column 2 on columns 0 and 1.
func logisticTape(t *testing.T) *graph.Tape {
	t.Helper()
	b := graph.NewBuilder()
	d := graph.Dim{Name: "d", Size: 2}
	eta := b.MatMul(b.Columns(0, d), b.Param("w", graph.Shape{d}))
	tape, err := graph.Compile(b, b.Sub(b.Mul(b.Column(2), eta), b.Softplus(eta)), nil, graph.Options{GradientOnly: true, Columns: 3})
	if err != nil {
		t.Fatal(err)
	}
	return tape
}

// encoding reads a, b and y.
func fakeEncoding() encoding.Encoding {
	lower, upper := -3.0, 3.0
	number := func(name string, at int) encoding.Field {
		return encoding.Field{Column: name, Type: data.Real, Kind: encoding.Numeric, Lower: &lower, Upper: &upper,
			Missing: encoding.MissingReject, Out: []int{at}}
	}
	y := encoding.Field{Column: "y", Type: data.Binary, Kind: encoding.LevelCode, Levels: []string{"0", "1"},
		Unknown: encoding.UnknownReject, Missing: encoding.MissingReject, Out: []int{2}}
	return encoding.Encoding{Fields: []encoding.Field{number("a", 0), number("b", 1), y}, K: 3}
}

const table = "a,b,y\n1,2,0\n-1,0.5,1\n0,0,1\n2,-2,0\n"

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tableAt is a table of the columns a, b and y.
func tableAt(path string) *privacy.Table {
	return privacy.NewTable(privacy.TableConfig{Data: path, Encoding: fakeEncoding(), Root: noise.Insecure(1)})
}

// config is a curator of table under epsilon 1, delta 1e-5, add/remove.
func config(t *testing.T, engine privacy.Engine) privacy.CuratorConfig {
	return privacy.CuratorConfig{
		Table: tableAt(writeFile(t, "data.csv", table)), Engine: engine, Root: noise.Insecure(1),
		Budget: privacy.Budget{Epsilon: 1, Delta: 1e-5}, Relation: event.AddRemove,
		Now: func() time.Time { return time.Date(2026, 9, 17, 1, 2, 3, 0, time.UTC) },
	}
}

func newCurator(t *testing.T, cfg privacy.CuratorConfig) *privacy.Curator {
	t.Helper()
	c, err := privacy.NewCurator(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// mechanism is T full-batch steps with noise that costs epsilon 0.83 for T = 10.
func mechanism(t *testing.T, steps int) privacy.Mechanism {
	return privacy.Mechanism{
		Purpose: "fit", Tape: logisticTape(t), Sampler: sampler.Config{Scheme: "full"}, Steps: steps, BatchBound: 1 << 20,
		GradientNoise: 14, CountNoise: 40, CountTarget: 0.75, Clip: privacy.Clip{Kind: privacy.Flat},
	}
}

func begin(t *testing.T, c *privacy.Curator, m privacy.Mechanism) *privacy.Session {
	t.Helper()
	s, err := c.Begin(m)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustContain(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q lacks %q", err, w)
		}
	}
}
