package plan

import (
	"errors"
	"strconv"

	"d3p/internal/settings"
	"d3p/internal/table1"
)

// choosePurchase sets the purchase before the fit. Its price is a share of the budget's
// μ², so it needs the budget.
func (p *Plan) choosePurchase(cfg Config) error {
	asked := or(cfg.Table1, settings.Table1None)
	p.Table1 = settings.Table1None
	switch {
	case asked == settings.Table1None:
		return nil
	case asked == settings.Table1Auto:
		if p.model == nil || cfg.NoiseMultiplier > 0 || cfg.Compat != "" || hasNetwork(p.model) {
			return nil
		}
		p.Purchase = table1.Auto(p.model, p.Mu, p.Records, p.Neighbours)
	case p.model == nil:
		return errors.New("--table1: a density without a model file has no columns (leave it out)")
	case cfg.NoiseMultiplier > 0:
		return errors.New("--table1: a share of the budget needs --epsilon, not --noise-multiplier (leave one of the two out)")
	case len(p.model.Spec.Data.Tensors) > 0:
		return errors.New("--table1: arrays have no table of columns (type --table1 none)")
	default:
		share, err := strconv.ParseFloat(asked, 64)
		if err != nil {
			return err
		}
		p.Purchase = table1.Of(p.model, share, p.Mu, p.Neighbours)
	}
	if p.Purchase != nil {
		p.Table1 = asked
	}
	return nil
}
