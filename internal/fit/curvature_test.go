package fit

import (
	"math"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/privacy/noise"
	"d3p/internal/race"
)

// observed is a curvature estimate after n steps of gradients −h·d + τ·N(0,1)
// with a prior of precision 1.
func observed(h []float64, sizes []int, sd, tau float64, n int) *curvature {
	c := newCurvature(len(h), sizes)
	rng := noise.Insecure(1).Stream(noise.Initialisation)
	d, g, prior := make([]float64, len(h)), make([]float64, len(h)), make([]float64, len(h))
	for t := range n {
		rng.Normals(d)
		rng.Normals(g)
		for j := range d {
			d[j] *= sd
			g[j] = tau*g[j] - h[j]*d[j]
			prior[j] = -d[j]
		}
		o := observation{Theta: d, D: d, Likelihood: g, Prior: prior, T: t, NoiseSD: tau}
		c.begin(o)
		c.observe(o, 0, len(h), new(scratch))
	}
	return &c
}

// precisions are the estimated precisions h + λ of all coordinates.
func precisions(c *curvature) []float64 {
	out := make([]float64, len(c.floor))
	c.each(func(j int, h, _, lambda float64) { out[j] = c.precision(j, h, lambda) })
	return out
}

// With little noise the estimate is the curvature, in every coordinate and
// whatever the others of its parameter are.
func TestCurvatureWithoutNoise(t *testing.T) {
	h := []float64{3, 50, 2, 9}
	precision := precisions(observed(h, []int{1, 3}, 0.5, 1e-6, 50))
	for j, want := range h {
		if math.Abs(precision[j]-want-1) > 1e-4 {
			t.Errorf("precision[%d] = %g, want %g", j, precision[j], want+1)
		}
	}
}

// The stated variance v is that of the estimate: over 200 coordinates the mean
// of (h − truth)²/v is 1 with standard error 0.1, so [0.4, 1.6] holds except
// with probability below 1e-8. Pooling equal curvatures takes nearly all of it
// away, and never gives a negative one.
func TestCurvatureBorrowsStrength(t *testing.T) {
	h := make([]float64, 200)
	for j := range h {
		h[j] = 4
	}
	c := observed(h, []int{200}, 0.5, 50, 400)
	precision := precisions(c)
	alone, pooled, noise := 0.0, 0.0, 0.0
	for j := range h {
		x, v := c.estimate(j)
		alone += (x - 4) * (x - 4) / v / 200
		noise += v / 200
		pooled += (precision[j] - 5) * (precision[j] - 5) / 200
		if precision[j] < 1 {
			t.Errorf("precision[%d] = %g, below the prior's", j, precision[j])
		}
	}
	if alone < 0.4 || alone > 1.6 {
		t.Errorf("squared error / stated variance = %g, want 1", alone)
	}
	if pooled > noise/5 {
		t.Errorf("pooled squared error %g, alone %g", pooled, noise)
	}
}

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
// always the same. With scales by their own noisy gradients about half do,
// which is what the estimate is for.
func TestIntervalsOfSmallGroups(t *testing.T) {
	race.SkipNumerics(t)
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
		for _, aware := range []string{plan.NoiseAwareCurvature, plan.NoiseAwareVariance} {
			p := testPlan(latent*each, latent, 1000, math.Sqrt(1000)/0.5)
			p.Mu = 0.5
			p.NoiseAware, p.Sizes, p.Clipping, p.ClipNorm = aware, []int{latent}, plan.ClippingFlat, 3
			p.SplitNoise()
			loop := newTestLoop(t, p)
			drive(t, loop, d, 50+run)
			post, sd := loop.Posterior(), make([]float64, latent)
			post.SD(sd)
			for j, m := range post.Mean {
				if math.Abs(m-truth[j]) <= 1.6449*sd[j] {
					covered[aware]++
				}
			}
		}
	}
	t.Logf("covered of %d: %v", latent*runs, covered)
	if got := covered[plan.NoiseAwareCurvature]; got < 250 {
		t.Errorf("%g of 300 intervals contain the truth, want 270", got)
	}
	if got := covered[plan.NoiseAwareVariance]; got > 220 {
		t.Errorf("scales by their own gradients: %g of 300 intervals contain the truth; the estimate is no longer needed", got)
	}
}
