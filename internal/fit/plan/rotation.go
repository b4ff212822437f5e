package plan

import (
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/models/law"
	"d3p/internal/models/whiten"
	"d3p/internal/privacy/noise"
	"d3p/internal/settings"
)

// rotateLimit is the number of parameters up to which a fit works in other
// coordinates than the declared ones: its result then is a joint normal of them all.
const rotateLimit = 300

// lawRidge is the share of a column's variance that a law leaves out.
const lawRidge = 0.002

// canRotate reports whether the fit may work in other coordinates: the guide's normals
// become a joint normal of the declared parameters.
func (p *Plan) canRotate() bool {
	return p.Private && p.Gradient == settings.GradientAligned && p.Guide == guide.MeanFieldName && len(p.Blocks) == 0 && p.ClipGroups == nil &&
		p.Latent <= rotateLimit && len(p.model.Starts) == 0
}

// inWork is m in the coordinates of work for records spread as l; m itself if it has
// no linear predictor. It draws public random numbers of the seed.
func inWork(m *models.Model, l *law.Law, seed uint64) (*models.Model, error) {
	c := whiten.Coordinates(m, l, lawRidge, noise.NewRandom(noise.Public(seed).Child(3).Stream(noise.Initialisation)))
	if c == nil {
		return m, nil
	}
	return m.In(c)
}
