package plan

import (
	"errors"

	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/settings"
)

// blocksOf lists the parameters that have their own guide in the model file.
func blocksOf(m *models.Model) []guide.Block {
	var blocks []guide.Block
	for _, b := range m.Spec.Guide.Blocks {
		for _, p := range m.Guided(b.Param.V) {
			block := guide.Block{Family: b.Family.V}
			for j := range p.Size {
				block.At = append(block.At, p.Offset+j)
			}
			blocks = append(blocks, block)
		}
	}
	return blocks
}

// rankBeside is the default rank of a low-rank guide beside blocks: at most the number of
// the other parameters. Zero without blocks.
func rankBeside(cfg Config, latent int, blocks []guide.Block) int {
	if len(blocks) == 0 || cfg.Guide != guide.LowRankName {
		return 0
	}
	for _, b := range blocks {
		latent -= len(b.At)
	}
	return max(1, min(defaultRank, latent))
}

// setBlocks gives single parameters their own guide. The scales of such a guide are not
// lambda's second half, so the noise-aware default curvature becomes variance, and
// setBlocks refuses curvature if cfg asks for it.
func (p *Plan) setBlocks(blocks []guide.Block, cfg Config) error {
	switch {
	case len(blocks) == 0:
		return nil
	case p.Guide == guide.DeltaName:
		return errors.New("--guide: a delta guide has no blocks (type --guide mean_field, or remove `blocks:` from the model file)")
	case p.Gradient == settings.GradientVanilla:
		return errors.New("--compat: d3p has no blocks (leave --compat out, or remove `blocks:` from the model file)")
	case cfg.NoiseAware == settings.NoiseAwareCurvature:
		return errors.New("--noise-aware: curvature gives the scales of a mean-field guide without blocks (type --noise-aware variance, or remove `blocks:` from the model file)")
	}
	if p.NoiseAware == settings.NoiseAwareCurvature {
		p.NoiseAware = settings.NoiseAwareVariance
	}
	p.Blocks = blocks
	_, err := p.NewGuide()
	return err
}
