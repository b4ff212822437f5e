package sampler

import (
	"fmt"
	"math"
	"testing"

	"d3p/internal/stattest"
	"gonum.org/v1/gonum/stat/distuv"
)

// With many records the inclusion counts vary as those of independent draws, and pairs of
// records are included together with probability q², for small distances and distances that
// are powers of two.
func TestLargePoissonInclusion(t *testing.T) {
	const q, steps = 0.05, 1500
	for _, c := range []struct {
		n       int
		batches string
	}{{65536, Exact}, {70001, Exact}, {65536, Feistel}, {70001, Feistel}} {
		n := c.n
		s := open(t, Config{Scheme: "poisson", Rate: q, Batches: c.batches}, n, 21)
		times := make([]int, n)
		in := make([]bool, n)
		distances := []int{1, 2, 255, 256, 257, 512, 32768}
		together := make([]int, len(distances))
		var batch []uint32
		for step := range steps {
			batch, _ = s.Draw(step, batch)
			clear(in)
			for _, i := range batch {
				times[i]++
				in[i] = true
			}
			for k, d := range distances {
				for _, i := range batch {
					if j := int(i) + d; j < n && in[j] {
						together[k]++
					}
				}
			}
		}
		var chi2 float64
		for _, k := range times {
			d := float64(k) - q*steps
			chi2 += d * d / (q * (1 - q) * steps)
		}
		law := distuv.ChiSquared{K: float64(n)}
		p := 2 * math.Min(law.CDF(chi2), law.Survival(chi2))
		stattest.Require(t, fmt.Sprintf("n=%d, %s: inclusion counts", n, c.batches), p)
		for k, d := range distances {
			// Sums of the products of 0/1 variables at distance d: mean q² each,
			// variance q²(1-q²) + 2(q³-q⁴) with the neighbours that share a record.
			m := float64(n-d) * steps
			z := (float64(together[k]) - m*q*q) / math.Sqrt(m*(q*q*(1-q*q)+2*(q*q*q-q*q*q*q)))
			stattest.Require(t, fmt.Sprintf("n=%d, %s: records at distance %d", n, c.batches, d), stattest.Normal(z))
		}
	}
}
