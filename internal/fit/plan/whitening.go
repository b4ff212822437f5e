package plan

import (
	"math"
	"slices"

	"d3p/internal/fit/optimizer"
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/models/law"
	"d3p/internal/models/whiten"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
	"d3p/internal/stats"
)

// JointLimit is the largest number of parameters of a fit of m that works in other coordinates than the
// declared ones and ends in a joint normal of all parameters, or a sample: 300, and 1000 with effects of groups,
// beside which independent normals are far too narrow (outputs.Draws.Judge). The time grows with its square
// to its cube: 23 s of a processor with 400 groups, 190 s with 990.
func JointLimit(m *models.Model) int {
	if hasGroups(m) {
		return 1000
	}
	return 300
}

// hasGroups reports whether m has effects of groups by its formula.
func hasGroups(m *models.Model) bool {
	return m.Spec.Model != nil && m.Spec.Model.Terms != nil && len(m.Spec.Model.Terms.Groups) > 0
}

// lawRidge is the share of a column's variance that a law does not explain.
const lawRidge = 0.002

// canRotate reports whether the fit may take whitened coordinates. The guide's normals then
// become a joint normal of the declared parameters.
func (p *Plan) canRotate() bool {
	return p.Private && p.Gradient == settings.GradientAligned && p.Guide == guide.MeanFieldName && len(p.Blocks) == 0 && p.ClipGroups == nil &&
		p.Latent <= JointLimit(p.model) && len(p.model.Starts) == 0
}

// whitened is m in whitened coordinates for records from l, where no level has more than leverage, or m
// itself if it has no linear predictor. It draws public random numbers of the seed.
func whitened(m *models.Model, l *law.Law, leverage float64, seed uint64) (*models.Model, error) {
	c := whiten.Coordinates(m, l, lawRidge, leverage, noise.NewRandom(noise.Public(seed).Child(3).Stream(noise.Initialisation)))
	if c == nil {
		return m, nil
	}
	return m.In(c)
}

// widePriorRate is the largest learning rate for a wide prior.
const widePriorRate = 0.1

// chooseRateByPrior raises Adam's default rate in proportion to the median prior standard
// deviation in whitened coordinates, if that is above 1. At 0.03 a fit of 1000 noisy steps
// does not reach effects of 3; 0.1 is noisier for effects of 1.
func (p *Plan) chooseRateByPrior() {
	if p.LearningRateStated || p.Optimizer != optimizer.AdamName {
		return
	}
	precision := p.model.PriorPrecision(noise.NewRandom(noise.Public(p.InitSeed).Child(6).Stream(noise.Initialisation)))
	var spreads []float64
	for i := range p.model.Params {
		if param := &p.model.Params[i]; param.Transform.Name == "identity" {
			for _, x := range precision[param.Offset : param.Offset+param.Size] {
				spreads = append(spreads, 1/math.Sqrt(x))
			}
		}
	}
	if len(spreads) == 0 {
		return
	}
	slices.Sort(spreads)
	if spread := stats.Quantile(spreads, 0.5); spread > 1 {
		p.LearningRate = max(p.LearningRate, min(p.LearningRate*spread, widePriorRate))
	}
}
