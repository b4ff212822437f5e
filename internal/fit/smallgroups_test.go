package fit

import (
	"math"
	"testing"

	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
	"d3p/internal/stattest"
)

// groups is x_i ~ N(θ_g, 1) for record i of group g, θ ~ N(0, 1): many
// coordinates with little information each.
type groups struct {
	x []float64
	g []int
}

func (m groups) records() int { return len(m.x) }

func (m groups) gradient(dst []float64, i int, theta []float64) {
	dst[m.g[i]] += m.x[i] - theta[m.g[i]]
}

func (m groups) priorGradient(dst, theta []float64) {
	for j, x := range theta {
		dst[j] = -x
	}
}

// Intervals of small groups' effects must hold under the noise of ε ≈ 2. Of
// 300 intervals of 90 % at least 250 must contain the truth: if each did with
// probability 0.9 independently, fewer would in 1 of 10⁴ runs, and the run is
// always the same. About half do if the scales follow their own noisy gradients
// instead of the curvature.
func TestIntervalsOfSmallGroups(t *testing.T) {
	stattest.SkipNumerics(t)
	const latent, each, runs = 60, 7, 5
	covered := map[string]float64{}
	for run := range uint64(runs) {
		rng := noise.Insecure(run).Stream(noise.Initialisation)
		truth, d := make([]float64, latent), groups{}
		rng.Normals(truth)
		e := make([]float64, 1)
		for i := range latent * each {
			rng.Normals(e)
			d.x, d.g = append(d.x, truth[i%latent]+e[0]), append(d.g, i%latent)
		}
		for _, aware := range []string{settings.NoiseAwareCurvature, settings.NoiseAwareVariance} {
			p := testPlan(latent*each, latent, 1000, math.Sqrt(1000)/0.5)
			p.Mu = 0.5
			p.NoiseAware, p.Sizes, p.Clipping, p.ClipNorm = aware, []int{latent}, settings.ClippingFlat, 3
			p.SplitNoise()
			loop := newTestLoop(t, p)
			drive(t, loop, d, 50+run)
			post, sd := posteriorOf(t, loop), make([]float64, latent)
			post.SD(sd)
			for j, m := range post.Mean {
				if math.Abs(m-truth[j]) <= 1.6449*sd[j] {
					covered[aware]++
				}
			}
		}
	}
	t.Logf("covered of %d: %v", latent*runs, covered)
	if got := covered[settings.NoiseAwareCurvature]; got < 250 {
		t.Errorf("%g of 300 intervals contain the truth, want 270", got)
	}
	if got := covered[settings.NoiseAwareVariance]; got > 220 {
		t.Errorf("scales by their own gradients: %g of 300 intervals contain the truth; the estimate is no longer needed", got)
	}
}
