package privacy_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/privacy/sampler"
)

// BenchmarkStep is one step of a session: sampling, gradients, clipping, sum and
// noise of a logistic regression of 3341 records on 8 predictors, as Abalone.
func BenchmarkStep(b *testing.B) {
	const n, d = 3341, 8
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	e := encoding.Encoding{K: d + 1}
	for j := range d + 1 {
		name := fmt.Sprintf("x%d", j)
		fmt.Fprintf(&text, "%s,", name)
		e.Fields = append(e.Fields, encoding.Field{Column: name, Type: data.Real, Kind: encoding.Numeric, Missing: encoding.MissingReject, Out: []int{j}})
	}
	text.WriteString("last\n")
	for range n {
		for range d {
			fmt.Fprintf(&text, "%.4f,", rng.NormFloat64())
		}
		fmt.Fprintf(&text, "%d,0\n", rng.IntN(2))
	}
	path := filepath.Join(b.TempDir(), "data.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	g := graph.NewBuilder()
	dim := graph.Dim{Name: "d", Size: d}
	eta := g.MatMul(g.Columns(0, dim), g.Param("w", graph.Shape{dim}))
	tape, err := graph.Compile(g, g.Sub(g.Mul(g.Column(d), eta), g.Softplus(eta)), nil, graph.Options{Columns: d + 1})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		sampling sampler.Config
		batch    float64
	}{
		{"full", sampler.Config{Scheme: "full"}, n},
		{"B=67", sampler.Config{Scheme: "poisson", Rate: 67. / n}, 67},
	} {
		b.Run(c.name, func(b *testing.B) {
			curator, err := privacy.NewCurator(privacy.CuratorConfig{
				Table:  privacy.NewTable(privacy.TableConfig{Data: path, Encoding: e, Root: noise.Insecure(1)}),
				Engine: cpu.New(cpu.Options{Threads: 1}), Root: noise.Insecure(1),
				Budget: privacy.Budget{Epsilon: 1e12, Delta: 1e-5}, Relation: event.AddRemove,
			})
			if err != nil {
				b.Fatal(err)
			}
			s, err := curator.Begin(privacy.Mechanism{
				Purpose: "bench", Tape: tape, Sampler: c.sampling, Steps: 1 << 30, GradientNoise: 1e4, CountNoise: 1e4, CountTarget: 0.9,
				Clip: privacy.Clip{Kind: privacy.Flat},
			})
			if err != nil {
				b.Fatal(err)
			}
			dst, req := make([]float64, d), privacy.StepRequest{Params: make([]float64, d), ClipNorm: 1}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if _, err := s.Step(dst, req); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(c.batch*float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
