package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
	"time"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/enginetest"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
	"d3p/internal/simd"
)

// A workload is a model, a table and a batch of docs/results/benchmarks.md.
type workload struct {
	name    string
	records int
	batch   int
	narrow  bool // rows in float32
	columns []func(rng *rand.Rand) float64
	loss    func(b *graph.Builder) *graph.Node
}

func gaussian(rng *rand.Rand) float64 { return rng.NormFloat64() }
func coin(rng *rand.Rand) float64     { return float64(rng.IntN(2)) }
func upTo(n int) func(rng *rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return float64(rng.IntN(n)) }
}

// several is n columns of one kind, then others.
func several(n int, c func(rng *rand.Rand) float64, more ...func(rng *rand.Rand) float64) []func(rng *rand.Rand) float64 {
	var all []func(rng *rand.Rand) float64
	for range n {
		all = append(all, c)
	}
	return append(all, more...)
}

func workloads() []workload {
	return []workload{
		{"i_logistic_N=3341_D=8", 3341, 67, true, several(8, gaussian, coin), logisticLoss(8)},
		{"ii_hierarchical_N=500", 500, 50, true, several(5, gaussian, upTo(3), coin), hierarchicalLoss},
		{"iii_logistic_N=60000_D=100", 60000, 600, true, several(100, gaussian, coin), logisticLoss(100)},
		{"iv_logistic_N=1e6_D=100", 1_000_000, 1000, true, several(100, gaussian, coin), logisticLoss(100)},
		{"v_mixture_K=5_D=2", 2000, 100, true, several(2, gaussian), mixtureLoss},
		{"vi_autoencoder", 2000, 128, true, several(784, coin), enginetest.Autoencoder},
	}
}

func bernoulliLoss(b *graph.Builder, y, eta *graph.Node) *graph.Node {
	return b.Sub(b.Mul(y, eta), b.Softplus(eta))
}

func logisticLoss(d int) func(b *graph.Builder) *graph.Node {
	return func(b *graph.Builder) *graph.Node {
		dim := graph.Dim{Name: "d", Size: d}
		return bernoulliLoss(b, b.Column(d), b.MatMul(b.Columns(0, dim), b.Param("w", graph.Shape{dim})))
	}
}

// hierarchicalLoss has 5 coefficients, and 3 varying ones for 3 groups with
// their means, scales and correlations: 30 parameters.
func hierarchicalLoss(b *graph.Builder) *graph.Node {
	d, l, k, k2 := graph.Dim{Name: "d", Size: 5}, graph.Dim{Name: "l", Size: 3}, graph.Dim{Name: "k", Size: 3}, graph.Dim{Name: "k2", Size: 3}
	scale := b.Exp(b.Param("log_scale", graph.Shape{k}))
	mix := b.Param("mix", graph.Shape{k, k2})
	effects := b.Mul(b.MatMul(b.Param("z", graph.Shape{l, k}), mix), b.Rename(scale, "k", "k2"))
	effects = b.Add(effects, b.Rename(b.Param("mean", graph.Shape{k}), "k", "k2"))
	eta := b.Add(b.MatMul(b.Columns(0, d), b.Param("w", graph.Shape{d})), b.Param("intercept", nil))
	group := b.Gather(effects, "l", b.Column(5))
	eta = b.Add(eta, b.MatMul(b.Rename(b.Columns(0, graph.Dim{Name: "k", Size: 3}), "k", "k2"), group))
	return bernoulliLoss(b, b.Column(6), eta)
}

func mixtureLoss(b *graph.Builder) *graph.Node {
	k, d := graph.Dim{Name: "k", Size: 5}, graph.Dim{Name: "d", Size: 2}
	logSD := b.Param("log_sd", graph.Shape{k, d})
	z := b.Mul(b.Sub(b.Columns(0, d), b.Param("mean", graph.Shape{k, d})), b.Exp(b.Neg(logSD)))
	density := b.Sub(b.Mul(b.Const(-0.5), b.Square(z)), logSD)
	return b.LogSumExp(b.Add(b.Sum(density, "d"), b.LogSoftmax(b.Param("weights", graph.Shape{k}), "k")), "k")
}

// open draws the table and compiles the model.
func (w workload) open(tb testing.TB) (*graph.Tape, *privacy.Rows, privacy.StepInput) {
	tb.Helper()
	b := graph.NewBuilder()
	tape, err := graph.Compile(b, w.loss(b), nil, graph.Options{GradientOnly: true, Columns: len(w.columns)})
	if err != nil {
		tb.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	stride := len(w.columns) // deriving widens and pads it, as in a fit
	precision := privacy.Float64
	if w.narrow {
		precision = privacy.Float32
	}
	rows := privacy.NewRows(precision, w.records, stride, stride)
	cell := make([]float64, 1)
	for i := range w.records {
		for j, draw := range w.columns {
			cell[0] = draw(rng)
			rows.Set(i, j, cell)
		}
	}
	if err := privacy.DeriveColumns(tape, rows, len(w.columns)); err != nil {
		tb.Fatal(err)
	}
	in := privacy.StepInput{Params: make([]float64, tape.P), Aux: make([]float64, tape.AuxGlobal)}
	for i := range in.Params {
		in.Params[i] = 0.05 * rng.NormFloat64()
	}
	if tape.AuxRecord > 0 {
		in.RecordNoise = noise.Insecure(5).Stream(noise.RecordNoise)
	}
	return tape, rows, in
}

// naive is the reference: one record at a time, the gradient written out.
func naive(tape *graph.Tape, rows *privacy.Rows, in privacy.StepInput, clip privacy.Clip) func(batch []uint32) {
	m := graph.NewMachine(tape, 1)
	row, g, sum := make([]float64, rows.K), make([]float64, tape.P), make([]float64, tape.P)
	aux := make([]float64, tape.AuxRecord)
	return func(batch []uint32) {
		clear(sum)
		m.Globals(in.Params, in.Aux)
		for _, i := range batch {
			rows.Row(int(i), row)
			m.Records(row, len(row), 1, aux)
			m.Gradient(0, g)
			norm := 0.0
			for _, x := range g {
				norm += x * x
			}
			f := clip.Factor(math.Sqrt(norm))
			for k, x := range g {
				sum[k] += f * x
			}
		}
	}
}

// fastest is the least time of one call by a clock, in ns, over runs of about a
// millisecond: what others do on the machine only adds.
func fastest(run func(), total time.Duration, clock func() time.Duration) float64 {
	run()
	start := time.Now()
	run()
	calls := 1 + int(time.Millisecond/(time.Since(start)+1))
	least := math.Inf(1)
	for begun := time.Now(); time.Since(begun) < total; {
		start := clock()
		for range calls {
			run()
		}
		least = min(least, float64((clock()-start).Nanoseconds())/float64(calls))
	}
	return least
}

// afterwards is the part of a step after the gradient: the noise, unless it is left out,
// and Adam on params, on the worker's threads as in sessions and fits.
func afterwards(w privacy.ParallelWorker, sum, params []float64, noisy bool) func() {
	const piece = 1 << 13
	streams := make([]*noise.Stream, w.Threads())
	for k := range streams {
		streams[k] = noise.Insecure(1).Stream(noise.GradientNoise)
	}
	first, second := make([]float64, len(sum)), make([]float64, len(sum))
	adam := simd.AdamStep{Beta1: 0.9, Beta2: 0.999, Correct1: 1, Correct2: 1, Epsilon: 1e-8, Rate: 1e-12}
	addNoise := func(thread, k int) {
		if !noisy {
			return
		}
		low := k * piece
		streams[thread].SeekBlock(1, uint64(low/2))
		streams[thread].AddGaussian(sum[low:min(low+piece, len(sum))], 1)
	}
	move := func(_, k int) {
		low, high := k*piece, min((k+1)*piece, len(sum))
		adam.Adam(params[low:high], sum[low:high], first[low:high], second[low:high])
	}
	return func() {
		if len(sum) <= piece {
			addNoise(0, 0)
			move(0, 0)
			return
		}
		w.Parallel((len(sum)+piece-1)/piece, addNoise)
		w.Parallel((len(sum)+piece-1)/piece, move)
	}
}

// BenchmarkWorkloads reports the least time of a step's parts and of the naive reference
// in one run, so that ratios hold on a busy machine. It ignores -benchtime;
// D3P_BENCH_SECONDS is the time of each measurement (default 0.3). Two threads are
// measured by the clock, the rest in processor time. A step is the gradient, its noise
// and Adam.
func BenchmarkWorkloads(b *testing.B) {
	total := 300 * time.Millisecond
	if s := os.Getenv("D3P_BENCH_SECONDS"); s != "" {
		var seconds float64
		if _, err := fmt.Sscan(s, &seconds); err != nil {
			b.Fatal(err)
		}
		total = time.Duration(seconds * float64(time.Second))
	}
	started := time.Now()
	wall := func() time.Duration { return time.Since(started) }
	for _, w := range workloads() {
		b.Run(w.name, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			tape, rows, in := w.open(b)
			clip := privacy.Clip{Kind: privacy.Flat, Norm: 1}
			dst := make([]float64, tape.P)
			draws, err := sampler.New(sampler.Config{Scheme: "poisson", Rate: float64(w.batch) / float64(w.records)}, w.records, 0, noise.Insecure(1).Stream(noise.Sampling))
			if err != nil {
				b.Fatal(err)
			}
			gradientNoise := noise.Insecure(1).Stream(noise.GradientNoise)
			var batch []uint32
			step := 0
			sample := func() { batch, _ = draws.Draw(step, batch[:0]); step++ }
			for range b.N {
				for _, threads := range []int{1, 2} {
					worker, err := New(Options{Threads: threads}).Open(tape, rows)
					if err != nil {
						b.Fatal(err)
					}
					gradient := func() {
						sample() // other rows every time, as in a fit
						if _, err := worker.ClippedSum(dst, in, batch, false, clip); err != nil {
							b.Fatal(err)
						}
					}
					clock := wall
					if threads == 1 {
						clock = threadTime
					}
					b.ReportMetric(fastest(gradient, total, clock)/1e3, fmt.Sprintf("us/gradient-%dT", threads))
					after := afterwards(worker.(privacy.ParallelWorker), dst, in.Params, true)
					b.ReportMetric(fastest(func() { gradient(); after() }, total, clock)/1e3, fmt.Sprintf("us/step-%dT", threads))
					if threads == 1 {
						b.ReportMetric(testing.AllocsPerRun(5, gradient), "allocs/step")
					}
					if err := worker.Close(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(fastest(sample, total/4, threadTime)/1e3, "us/sampling")
				b.ReportMetric(fastest(func() { gradientNoise.Seek(1); gradientNoise.AddGaussian(dst, 1) }, total/4, threadTime)/1e3, "us/noise")
				slow := naive(tape, rows, in, clip)
				sample()
				part := batch[:max(1, len(batch)/max(1, tape.P/1000))] // all of it would take seconds
				each := fastest(func() { slow(part) }, total/2, threadTime) / float64(len(part))
				b.ReportMetric(each*float64(w.batch)/1e3, "us/naive")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
