package fit

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkAdvance is the analyst's part of a step: the draw, the gradient through
// guide and optimizer, and the noise recursion.
func BenchmarkAdvance(b *testing.B) {
	for _, latent := range []int{30, 10_000, 500_000} {
		for _, family := range []string{"mean_field", "delta"} {
			b.Run(fmt.Sprintf("%s/P=%d", family, latent), func(b *testing.B) {
				p := testPlan(60000, latent, 1<<20, 5)
				p.Guide = family
				l, err := NewLoop(p, make([]float64, latent))
				if err != nil {
					b.Fatal(err)
				}
				rng := rand.New(rand.NewPCG(1, 1))
				release, eta := make([]float64, latent), make([]float64, l.guide.Noise())
				for i := range release {
					release[i] = rng.NormFloat64()
				}
				for i := range eta {
					eta[i] = rng.NormFloat64()
				}
				prior := make([]float64, latent)
				b.ReportAllocs()
				b.ResetTimer()
				for range b.N {
					l.Propose(eta)
					l.Absorb(release, prior)
					if err := l.Advance(0); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(latent), "ns/parameter")
			})
		}
	}
}
