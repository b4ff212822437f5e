package table1

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/privacy/event"
)

// The error of every cell and of every part of one holds for counts with too many zeros, with two peaks
// and with a long tail, whose shape Table 1 does not have: by the shape alone a tenth of them are more
// than four standard deviations off.
func TestCellsStateTheirError(t *testing.T) {
	const n, seeds = 10000, 6
	rng := rand.New(rand.NewPCG(5, 6))
	for name, draw := range map[string]func() float64{
		"zeros": func() float64 {
			if rng.Float64() < 0.4 {
				return 0
			}
			return poisson(rng, 10)
		},
		"peaks": func() float64 { return poisson(rng, []float64{3, 60}[rng.IntN(2)]) },
		"tail":  func() float64 { return math.Floor(math.Exp(1 + 1.2*rng.NormFloat64())) },
		"days":  func() float64 { return math.Floor(200 * rng.Float64()) },
	} {
		m := oneColumn(t, n, "integer", 0, 500)
		counts := make([]float64, 501)
		path, _, _ := tailTable(t, n, func(*rand.Rand) float64 {
			x := min(draw(), 500)
			counts[int(x)]++
			return x
		})
		list, far, most := 0, 0, 0.0
		for seed := range uint64(seeds) {
			l, _ := buy(t, m, path, 1, Auto(m, muOf(1, event.AddRemove), n, event.AddRemove), seed, event.AddRemove)
			for _, r := range Rows(l, &m.Spec.Data) {
				var low, high, true float64
				if _, err := fmt.Sscanf(r.Of, "%g to %g", &low, &high); err != nil || r.Column != "x" {
					continue
				}
				for x, count := range counts { // a number is anywhere within half of one
					true += count / n * max(0, min(high, float64(x)+0.5)-max(low, float64(x)-0.5))
				}
				z := math.Abs(r.Value-true) / r.NoiseSD
				if list++; z > 2.5 {
					far++
				}
				most = max(most, z)
			}
		}
		t.Logf("%s: of %d cells and parts %d are more than 2.5 standard deviations off, the farthest %.1f", name, list, far, most)
		if list < 5*seeds || far > list/40 || most > 5 {
			t.Errorf("%s: of %d cells and parts %d are more than 2.5 standard deviations off, the farthest %.1f", name, list, far, most)
		}
	}
}
