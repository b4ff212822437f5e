package cpu

import (
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// logistic is log p(y | x, w) = y·(w·x) - softplus(w·x), x in columns 0..d-1
// and y in column d.
func logistic(tb testing.TB, d int) *graph.Tape {
	b := graph.NewBuilder()
	dim := graph.Dim{Name: "d", Size: d}
	eta := b.MatMul(b.Columns(0, dim), b.Param("w", graph.Shape{dim}))
	loss := b.Sub(b.Mul(b.Column(d), eta), b.Softplus(eta))
	tape, err := graph.Compile(b, loss, nil, graph.Options{GradientOnly: true})
	if err != nil {
		tb.Fatal(err)
	}
	return tape
}

// logisticRows draws n records of the model and fills the derived column |x|².
func logisticRows(n, d, stride int) *privacy.Rows {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := &privacy.Rows{F64: make([]float64, n*stride), N: n, K: d + 2, Stride: stride, Valid: make([]bool, n)}
	for i := range n {
		row := rows.F64[i*stride:][:d+2]
		for j := range d {
			row[j] = rng.NormFloat64()
			row[d+1] += row[j] * row[j]
		}
		row[d] = float64(rng.IntN(2))
		rows.Valid[i] = true
	}
	return rows
}

func BenchmarkLogistic(b *testing.B) {
	for _, c := range []struct {
		name    string
		n, d, B int
		threads int
	}{
		{"N=3341/D=8/full", 3341, 8, 0, 1},
		{"N=3341/D=8/B=67", 3341, 8, 67, 1},
		{"N=60000/D=100/B=600", 60000, 100, 600, 1},
		{"N=60000/D=100/B=6000/threads=1", 60000, 100, 6000, 1},
		{"N=60000/D=100/B=6000/threads=2", 60000, 100, 6000, 2},
	} {
		b.Run(c.name, func(b *testing.B) {
			tape := logistic(b, c.d)
			w, err := New(Options{Threads: c.threads}).Open(tape, logisticRows(c.n, c.d, tape.K))
			if err != nil {
				b.Fatal(err)
			}
			defer w.Close()
			rng := rand.New(rand.NewPCG(3, 4))
			in := privacy.StepInput{Params: make([]float64, tape.P)}
			for i := range in.Params {
				in.Params[i] = rng.NormFloat64()
			}
			batch := make([]uint32, c.B)
			for i := range batch {
				batch[i] = rng.Uint32N(uint32(c.n))
			}
			size := c.B
			if size == 0 {
				size = c.n
			}
			dst := make([]float64, tape.P)
			clip := privacy.Clip{Kind: privacy.Flat, Norm: 1}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if _, err := w.ClippedSum(dst, in, batch, c.B == 0, clip); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
