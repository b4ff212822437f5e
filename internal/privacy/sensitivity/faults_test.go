package sensitivity

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/stattest"
)

// An unrounded engine is the CPU's with stored squared norms of X as derived in
// float64, not of X as stored.
type unrounded struct{ privacy.Engine }

func (e unrounded) Open(t *graph.Tape, rows *privacy.Rows) (privacy.Worker, error) {
	machine, row := graph.NewMachine(t, 1), make([]float64, rows.K)
	extra := make([]float64, t.K-t.K0)
	for i := range rows.N {
		rows.Row(i, row)
		machine.Derive(extra, row[:t.K0], t.K0, 1)
		copy(row[t.K0:], extra)
		for k := range t.Terms {
			if m := &t.Terms[k]; m.XNorm2 != graph.NoBuf {
				sum := 0.0
				for _, x := range row[t.Buffers[m.X].Offset:][:t.Buffers[m.X].Size] {
					sum += x * x
				}
				y := float32(sum)
				if float64(y) < sum {
					y = math.Nextafter32(y, float32(math.Inf(1)))
				}
				rows.Set(i, t.Buffers[m.XNorm2].Offset, []float64{float64(y)})
			}
		}
	}
	return e.Engine.Open(t, rows)
}

// A slow engine runs the reference machine, one record at a time, with a squared norm
// of the test's choice.
type slow struct {
	norm2 func(t *graph.Tape, terms [][]float64, row *graph.Machine) float64
}

func (slow) Name() string { return "slow" }

func (e slow) Open(t *graph.Tape, rows *privacy.Rows) (privacy.Worker, error) {
	w := &slowWorker{slow: e, t: t, shown: *t, rows: rows, row: make([]float64, rows.K), g: make([]float64, t.P)}
	w.machine = graph.NewMachine(&w.shown, 1)
	for range t.Terms {
		w.terms = append(w.terms, make([]float64, t.P))
	}
	return w, nil
}

type slowWorker struct {
	slow
	t       *graph.Tape
	shown   graph.Tape // t with the terms whose gradient machine computes next
	machine *graph.Machine
	rows    *privacy.Rows
	terms   [][]float64 // the gradient of each term
	row     []float64
	g       []float64
}

func (w *slowWorker) ClippedSum(dst []float64, in privacy.StepInput, batch []uint32, _ bool, clip privacy.Clip) (float64, error) {
	clear(dst)
	w.machine.Globals(in.Params, in.Aux)
	for _, i := range batch {
		w.rows.Row(int(i), w.row)
		w.machine.Records(w.row, len(w.row), 1, nil)
		for k := range w.t.Terms {
			w.shown.Terms = w.t.Terms[k : k+1]
			w.machine.Gradient(0, w.terms[k])
		}
		w.shown.Terms = w.t.Terms
		w.machine.Gradient(0, w.g)
		norm := math.Sqrt(w.norm2(w.t, w.terms, w.machine))
		if f := clip.Factor(norm); f != 0 && w.rows.Valid[i] {
			for j, x := range w.g {
				dst[j] += f * x
			}
		}
	}
	return 0, nil
}

func (w *slowWorker) Close() error { return nil }

// inner is the inner product of two vectors, with a sum of its own for rounding.
func inner(x, y []float64) float64 {
	sum, low := 0.0, 0.0
	for i := range x {
		p := x[i] * y[i]
		s := sum + p
		back := s - sum
		low += math.FMA(x[i], y[i], -p) + (sum - (s - back)) + (p - back)
		sum = s
	}
	return sum + low
}

// whole is the squared norm of all terms together, not below the true one.
func whole(terms [][]float64) float64 {
	sum := make([]float64, len(terms[0]))
	size := 0.0
	for _, g := range terms {
		size += inner(g, g)
		for j, x := range g {
			sum[j] += x
		}
	}
	return inner(sum, sum) + 0x1p-40*size
}

// faults are ways to get a norm wrong, each with a model that it is to be found in.
var faults = []struct {
	name      string
	model     string
	precision privacy.Precision
	engine    privacy.Engine
}{
	{"squares of X before it is rounded", "linear", privacy.Float32, unrounded{cpu.New(cpu.Options{Threads: 1})}},
	{"squares of X before it is rounded", "curves", privacy.Float32, unrounded{cpu.New(cpu.Options{Threads: 1})}},
	{"a norm too small by a millionth", "logistic", privacy.Float32, slow{func(_ *graph.Tape, terms [][]float64, _ *graph.Machine) float64 {
		return whole(terms) * (1 - 2e-6)
	}}},
	{"a norm too small by 1e-12", "poisson", privacy.Float32, slow{func(_ *graph.Tape, terms [][]float64, _ *graph.Machine) float64 {
		return whole(terms) * (1 - 2e-12)
	}}},
	{"a term left out", "hierarchical", privacy.Float32, slow{func(_ *graph.Tape, terms [][]float64, _ *graph.Machine) float64 {
		return whole(terms[1:])
	}}},
	{"inner products left out", "repeated", privacy.Float32, slow{func(_ *graph.Tape, terms [][]float64, _ *graph.Machine) float64 {
		sum := 0.0
		for _, g := range terms {
			sum += inner(g, g)
		}
		return sum
	}}},
	{"rows of one group taken for those of two", "repeated", privacy.Float32, slow{func(t *graph.Tape, terms [][]float64, _ *graph.Machine) float64 {
		sum := whole(terms)
		for _, p := range t.Cross {
			if t.Terms[p.I].Kind == graph.TermScatter {
				sum -= 2 * inner(terms[p.I], terms[p.J])
			}
		}
		return max(sum, 0)
	}}},
	{"an inner product of rows of one group with the wrong sign", "repeated", privacy.Float32, slow{func(t *graph.Tape, terms [][]float64, _ *graph.Machine) float64 {
		sum := whole(terms)
		for _, p := range t.Cross {
			if t.Terms[p.I].Kind == graph.TermScatter {
				sum -= 4 * max(0, inner(terms[p.I], terms[p.J]))
			}
		}
		return max(sum, 0)
	}}},
	{"squares that underflow before they are multiplied", "logistic", privacy.Float64, slow{func(_ *graph.Tape, _ [][]float64, m *graph.Machine) float64 {
		return m.PartsNorm2(0)
	}}},
	{"a record with a huge number is not clipped", "linear", privacy.Float32, slow{func(_ *graph.Tape, terms [][]float64, _ *graph.Machine) float64 {
		if s := whole(terms); s < 1e24 {
			return s
		}
		return 0
	}}},
}

// The search finds faults of a norm that were put there.
func TestFaultsAreFound(t *testing.T) {
	stattest.SkipNumerics(t)
	configs := Configs(t, "../../../configs")
	for k, fault := range faults {
		t.Run(fmt.Sprintf("%s in %s", fault.name, fault.model), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(11, uint64(k)))
			for _, m := range configs {
				if m.Name != fault.model {
					continue
				}
				result, err := Attack(Target{Model: m, Engine: fault.engine, Precision: fault.precision}, rng, episodes(20_000))
				if err != nil {
					t.Fatal(err)
				}
				if !result.Worst.Fault() {
					t.Errorf("not found in %d cases, of which %d are clipped: %v", result.Cases, result.Clipped, result.Worst.String())
				}
				t.Logf("%d cases: %.9g C", result.Cases, result.Worst.Moved)
				return
			}
			t.Fatal("no such model")
		})
	}
}

// episodes is true n times.
func episodes(n int) func(Result) bool {
	return func(Result) bool { n--; return n >= 0 }
}
