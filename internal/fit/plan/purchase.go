package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/score"
	"d3p/internal/settings"
	"d3p/internal/table1"
)

// choosePurchases sets what is bought before the first step.
func (p *Plan) choosePurchases(cfg Config) error {
	if err := p.chooseBounds(cfg); err != nil {
		return err
	}
	return p.choosePurchase(cfg)
}

// SettleLevels makes p the plan of m, which has the bought levels found, in the order of the
// purchases. Purchases, sampling, steps and noise stay, because a composition needs mechanisms that
// are fixed beforehand; all that depends on the parameters is decided again.
func (p *Plan) SettleLevels(found [][]privacy.Level, m *models.Model) error {
	before := *p
	before.Levels = slices.Clone(p.Levels) // replicates share plans
	for i := range before.Levels {
		before.Levels[i].Found = found[i]
	}
	cfg := *p.config
	cfg.follows = &before
	settled, err := newPlan(m, cfg)
	if err != nil {
		return err
	}
	if !event.Equal(settled.MechanismEvent(settled.NoiseMultiplier), p.MechanismEvent(p.NoiseMultiplier)) {
		return errors.New("plan: the bought levels would change the mechanism")
	}
	settled.Selection = p.Selection
	*p = *settled
	return nil
}

// follow takes from a plan all that decides the event.
func (p *Plan) follow(f *Plan) {
	p.Epsilon, p.Delta, p.Mu = f.Epsilon, f.Delta, f.Mu
	p.Sampling, p.Batches, p.SamplingRate, p.BatchSize, p.Steps = f.Sampling, f.Batches, f.SamplingRate, f.BatchSize, f.Steps
	p.BatchSchedule, p.NoiseSchedule, p.NoiseMultiplier = f.BatchSchedule, f.NoiseSchedule, f.NoiseMultiplier
	p.Levels, p.Bounds, p.Counted, p.Table1, p.Purchase = f.Levels, f.Bounds, f.Counted, f.Table1, f.Purchase
	p.Surprisals, p.DesignEffects = f.Surprisals, f.DesignEffects
	p.Certified, p.Event = f.Certified, f.Event
}

// chooseBounds sets the purchases of levels, bounds, scales and the number of units that the
// model file asks for. With a budget they may take most of its μ² together; the steps need the
// rest.
func (p *Plan) chooseBounds(cfg Config) error {
	p.Levels = table1.LevelsOf(p.model, p.Delta, p.Neighbours)
	if len(p.Levels) > 0 && p.ClipGroups != nil {
		return errors.New("--clip-groups: bought levels decide what the parts of a gradient are (leave it out, or list the levels)")
	}
	p.Bounds = table1.BoundsOf(p.model, p.Delta, p.Neighbours)
	if p.model.Spec.Data.Rows.DP.IsSet() && len(p.model.Spec.Data.Tensors) > 0 {
		return errors.New("rows: the number of arrays cannot be bought (leave dp out)")
	}
	p.Counted = table1.UnitsOf(p.model, p.Delta, p.Neighbours)
	square := 0.0
	for _, l := range p.Levels {
		if err := l.Query(p.model).Check(); err != nil {
			return fmt.Errorf("column %s: %w", l.Column, err)
		}
		square += 1 / (l.NoiseMultiplier * l.NoiseMultiplier)
	}
	for _, z := range multipliers(Before(nil, p.Bounds, p.Counted, nil)) {
		square += 1 / (z * z)
	}
	if part := square / (p.Mu * p.Mu); cfg.Epsilon > 0 && part > settings.MostShare {
		return fmt.Errorf("--epsilon: the purchases of the model file take %.3g %% of mu squared, and at most %.3g %% are possible (a larger --epsilon, or a smaller `dp:`)", 100*part, 100*settings.MostShare)
	}
	return nil
}

// multipliers are the noise multipliers of purchases.
func multipliers(list []event.Event) (z []float64) {
	for _, e := range list {
		z = append(z, e.(event.Gaussian).NoiseMultiplier)
	}
	return z
}

// buysNothing is an error for a model file that asks for a purchase which method cannot
// make. other is a method that can.
func buysNothing(m *models.Model, method, other string) error {
	if m.Spec.Data.Rows.DP.IsSet() {
		return fmt.Errorf("rows: %s buys no number of units (leave dp out, or %s)", method, other)
	}
	for _, c := range m.Spec.Data.Columns {
		if c.BuysNumbers() {
			return fmt.Errorf("column %s: %s buys no bounds or scales (declare them, or %s)", c.Name.V, method, other)
		}
	}
	return listsLevels(m, method, other)
}

// listsLevels is an error for a model file that asks for levels which method cannot buy.
func listsLevels(m *models.Model, method, other string) error {
	for _, c := range m.Spec.Data.Columns {
		if c.BuysLevels() {
			return fmt.Errorf("column %s: %s buys no levels (list them, or %s)", c.Name.V, method, other)
		}
	}
	return nil
}

// choosePurchase sets the purchase of Table 1. Its price is a share of the budget's
// μ², so it needs the budget.
func (p *Plan) choosePurchase(cfg Config) error {
	asked := cmp.Or(cfg.Table1, settings.Table1None)
	p.Table1 = settings.Table1None
	switch {
	case asked == settings.Table1None:
		return nil
	case asked == settings.Auto:
		if cfg.NoiseMultiplier > 0 || cfg.Compat != "" || hasNetwork(p.model) {
			return nil
		}
	case cfg.NoiseMultiplier > 0:
		return errors.New("--table1: a share of the budget needs --epsilon, not --noise-multiplier (leave one of the two out)")
	case len(p.model.Spec.Data.Tensors) > 0:
		return errors.New("--table1: arrays have no table of columns (type --table1 none)")
	}
	var err error
	p.Purchase, err = p.PurchaseBy(asked, p.model, cfg.NoiseAware == settings.NoiseAwareMoments)
	if p.Purchase != nil || asked == settings.Auto {
		p.Table1 = asked // of a share that buys nothing, none
	}
	return err
}

// PurchaseBy is the purchase before a fit of m that the setting table1, not none, asks for, with the budget and
// the records of p. The fit may be by second moments.
func (p *Plan) PurchaseBy(table string, m *models.Model, moments bool) (*table1.Plan, error) {
	switch {
	case table != settings.Auto:
		share, err := strconv.ParseFloat(table, 64)
		return table1.Of(m, share, p.Mu, p.Records, p.Neighbours), err
	case moments && table1.RegressionOf(m) != nil:
		return table1.OfRegression(m, p.Mu, p.Records, p.Neighbours), nil
	}
	return table1.Auto(m, p.Mu, p.Records, p.Neighbours), nil
}

// chooseSideQueries sets the quantities to buy of iterates.
func (p *Plan) chooseSideQueries(cfg Config) error {
	traced, mistake := settings.ReadTrace(cfg.Trace)
	switch {
	case mistake != nil:
		return fmt.Errorf("--trace: %w", mistake)
	case traced.Quantities == nil:
		return nil
	case cfg.NoiseMultiplier > 0:
		return errors.New("--trace: a share of the budget needs --epsilon, not --noise-multiplier (leave one of the two out)")
	}
	q, err := score.NewSideQueries(p.model, traced.Quantities, p.Steps, math.Sqrt(traced.Share)*p.Mu, p.Neighbours)
	if err != nil {
		return fmt.Errorf("--trace: %w", err)
	}
	p.SideQueries = q
	return nil
}

// The surprisals may take mostOfSurprisals of mu squared, and make intervals wider by about
// widerBySurprisals. perNumber is about v̄N/(I P) at μ = 1: the variance of the noise of all steps by the
// information of the records, for each parameter.
const mostOfSurprisals, widerBySurprisals, perNumber = 0.2, 0.01, 30

// looksBack reports whether a fit asks of its own accord what the records are like where it ended: a regression by the
// default algorithm that buys Table 1, too.
func (p *Plan) looksBack(cfg Config) bool {
	m := p.model
	return m.Spec.Model != nil && p.Purchase != nil && cfg.Epsilon > 0 && cfg.NoiseMultiplier == 0 && cfg.Compat == "" &&
		p.Guide == guide.MeanFieldName && p.Gradient == settings.GradientAligned && p.ClipGroups == nil &&
		m.Likelihood.AuxRecord == 0 && p.ScoresAreGradients()
}

// Counts with noise of more than mostNoise of the records would show hardly any.
const mostNoise = 0.05

// chooseSurprisals sets the surprisals to buy: in regressions of or by a number, by the default algorithm. A level is
// nowhere far out.
func (p *Plan) chooseSurprisals(cfg Config) {
	m := p.model
	if !p.looksBack(cfg) || len(m.Observed) != 1 || !m.Observed[0].Columns[0].Numeric() && !score.PredictsByNumbers(m) {
		return
	}
	noise := perNumber * float64(p.Latent) / (p.Mu * p.Mu * float64(p.Records))
	share := min(mostOfSurprisals, 2*widerBySurprisals*(1+noise)/noise)
	if q := score.NewSurprisals(math.Sqrt(share)*p.Mu, p.Neighbours); q.Noise <= mostNoise*float64(p.Records) {
		p.Surprisals = q
	}
}

// Design effects of at most mostDesignEffects parameters are bought. They have a standard deviation of about
// noiseOfEffect times the noise of a count over the records. They shall have wantedError, may take mostOfDesignEffects
// of mu squared for it, and are not worth it with more than mostError.
const (
	mostDesignEffects      = 64
	noiseOfEffect          = 12.0
	wantedError, mostError = 0.1, 0.5
	mostOfDesignEffects    = 0.1
)

// chooseDesignEffects sets the design effects to buy of units of several rows.
func (p *Plan) chooseDesignEffects(cfg Config) {
	m := p.model
	if !p.looksBack(cfg) || m.Encoding.RowsPerUnit <= 1 || p.Latent > mostDesignEffects {
		return
	}
	noise := score.NewDesignEffects(p.Latent, p.Mu, p.Neighbours).Noise * noiseOfEffect / float64(p.Records) // with all of mu squared
	share := min(mostOfDesignEffects, math.Pow(noise/wantedError, 2))
	if noise/math.Sqrt(share) <= mostError {
		p.DesignEffects = score.NewDesignEffects(p.Latent, math.Sqrt(share)*p.Mu, p.Neighbours)
	}
}
