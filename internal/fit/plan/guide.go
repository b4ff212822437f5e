package plan

import (
	"errors"

	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/settings"
)

// NewGuide is a new guide of the planned family.
func (p *Plan) NewGuide() (guide.Guide, error) {
	opt := guide.Options{Rank: p.Rank, Blocks: p.Blocks}
	if p.Guide == guide.CustomName {
		return NewGuide(p.model, p.Guide, opt)
	}
	return guide.New(p.Guide, p.Latent, opt)
}

// NewGuide is a new guide for m of the family called name. With name custom it has the
// model file's laws.
func NewGuide(m *models.Model, name string, opt guide.Options) (guide.Guide, error) {
	if name != guide.CustomName {
		return guide.New(name, m.P, opt)
	}
	if g := m.CustomGuide(); g != nil {
		return g, nil
	}
	return nil, errors.New("--guide: custom needs distributions (write `guide: {type: custom, params:, free:}` in the model file)")
}

// setCustom turns off the variance of the privacy noise. That variance needs a location for
// every parameter, which a custom guide may lack.
func (p *Plan) setCustom(cfg Config) error {
	if p.Guide != guide.CustomName {
		return nil
	}
	if cfg.NoiseAware != "" && cfg.NoiseAware != settings.NoiseAwareNone {
		return errors.New("--noise-aware: a custom guide does not follow the privacy noise (type --noise-aware none, or --guide mean_field)")
	}
	p.NoiseAware = settings.NoiseAwareNone
	if p.Private {
		p.Warnings = append(p.Warnings, Warning{"custom-guide-noise",
			"the intervals of a custom guide leave out the privacy noise; the other guides include it"})
	}
	_, err := p.NewGuide()
	return err
}
