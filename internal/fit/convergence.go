package fit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/posterior"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
	"d3p/internal/reference"
)

// checkedParameters bounds the size of models whose convergence is checked. checkShare
// bounds the cost of the check as a share of the fit's.
const checkedParameters, checkShare = 200, 0.25

// Unconverged describes the parameters at which the bound of a fit by p without privacy is
// not stationary, and by how much. It is empty if the bound is stationary at all of them,
// and for fits without such a check: points, networks, and models without a log likelihood.
func Unconverged(ctx context.Context, p *plan.Plan, post *posterior.Posterior, c *privacy.Curator) ([]string, error) {
	m := p.Model()
	if p.Guide == "delta" || len(p.Blocks) > 0 || m.P > checkedParameters || slices.ContainsFunc(m.Params, func(q models.Param) bool { return q.Weight }) {
		return nil, nil
	}
	if _, err := m.DensityTape(); err != nil {
		return nil, nil
	}
	rng := noise.Public(p.InitSeed).Child(5).Stream(noise.Initialisation)
	draws := int(checkShare * float64(p.Steps) * float64(p.Draws) * p.SamplingRate)
	s, err := reference.CheckStationary(ctx, m, c, post.Mean, draws, func(theta []float64) { post.Draws(theta, rng) })
	if err != nil {
		return nil, err
	}
	bad := s.Unsettled()
	var words []string
	for i := range m.Params {
		q := &m.Params[i]
		worst, text := 0.0, ""
		for _, j := range bad {
			if j < q.Offset || j >= q.Offset+q.Size {
				continue
			}
			wide := math.Sqrt(math.Max(s.Spread[j], 0))
			if off := math.Max(math.Abs(s.Move[j]), math.Abs(math.Log(math.Max(wide, 1e-3)))); text == "" || off > worst {
				worst, text = off, fmt.Sprintf("%s (mean %.2g sds off, covariance %.2g times what it should be)", q.Name, math.Abs(s.Move[j]), s.Spread[j])
			}
		}
		if text != "" {
			words = append(words, text)
		}
	}
	return words, nil
}
