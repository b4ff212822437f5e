// Package plan decides a whole fit before any record is read, from public facts only. Each
// decision has a file.
//
// Shapes: P latent scalars θ (unconstrained), D length of the released vector, T steps, N
// declared records, q sampling rate.
package plan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/formula"
	"d3p/internal/models/guide"
	"d3p/internal/models/law"
	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/clipgroups"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/schedule"
	"d3p/internal/score"
	"d3p/internal/settings"
	"d3p/internal/table1"
)

// Values of a plan's fields, those of package settings.
const (
	ClippingOff = "off" // of fit-nonprivate
)

// Plan is the whole fit, decided from public facts before any record is read. `d3p plan`
// and the reports print its JSON form.
type Plan struct {
	Method  string `json:"method,omitempty"` // of a non-private fit, or of a private one without steps
	Private bool   `json:"private"`          // false: fit-nonprivate, without clipping and noise
	Records int    `json:"records"`          // N, declared and public
	Latent  int    `json:"latent"`           // P, unconstrained parameters
	Release int    `json:"release"`          // D, length of the vector released per step

	Epsilon    float64        `json:"epsilon"` // target; 0 in a non-private fit
	Delta      float64        `json:"delta"`
	Neighbours event.Relation `json:"neighbours"`
	Mu         float64        `json:"mu"` // Gaussian-DP parameter of (epsilon, delta), half of it under substitution

	Sampling        string           `json:"sampling"`                 // sampler scheme
	Batches         string           `json:"batches,omitempty"`        // how poisson and fixed_size draw them
	SamplingRate    float64          `json:"sampling_rate"`            // q
	BatchSize       int              `json:"batch_size"`               // of fixed-size schemes
	Steps           int              `json:"steps"`                    // T
	BatchSchedule   schedule.Factors `json:"batch_schedule,omitempty"` // factors of q by step; absent: 1
	NoiseMultiplier float64          `json:"noise_multiplier"`         // σ of one step's joint release, in units of C
	NoiseSchedule   schedule.Factors `json:"noise_schedule,omitempty"` // factors of σ, z and σ_b by step; absent: 1
	GradientNoise   float64          `json:"gradient_noise"`           // z: standard deviation of the gradient's noise / C
	CountNoise      float64          `json:"count_noise"`              // σ_b: standard deviation of the count's noise; 0: no count
	Clipping        string           `json:"clipping"`
	ClipNorm        float64          `json:"clip_norm"`     // C, or C₀ when adaptive
	ClipQuantile    float64          `json:"clip_quantile"` // target fraction of unclipped records
	// ClipBound bounds the norm of every record's gradient, and so C; 0: no bound is known.
	ClipBound float64 `json:"clip_bound,omitempty"`
	// ClipNormSchedule has the factors of C by step; absent: 1, or adaptive clipping.
	ClipNormSchedule schedule.Factors `json:"clip_norm_schedule,omitempty"`
	// ClipGroups are the separately clipped parts of a gradient; absent: the whole gradient
	// is one part.
	ClipGroups clipgroups.Groups `json:"clip_groups,omitempty"`
	ClipRate   float64           `json:"clip_rate"` // η_C

	Gradient  string        `json:"gradient"`
	Sizes     []int         `json:"sizes"` // unconstrained numbers of each parameter, in order of θ; they add up to P
	Guide     string        `json:"guide"`
	Rank      int           `json:"rank,omitempty"`
	Blocks    []guide.Block `json:"blocks,omitempty"` // parameters with a guide of their own
	Init      string        `json:"init"`
	InitScale float64       `json:"init_scale"`
	InitSeed  uint64        `json:"init_seed"` // of public draws: η and the initial location

	Optimizer    string  `json:"optimizer"`
	LearningRate float64 `json:"learning_rate"`
	// LearningRateStated: the user chose it, so priors do not change it.
	LearningRateStated bool    `json:"learning_rate_stated,omitempty"`
	Schedule           string  `json:"schedule"`
	Momentum           float64 `json:"momentum,omitempty"`
	WeightDecay        float64 `json:"weight_decay,omitempty"`
	Draws              int     `json:"draws"` // θ draws per step; more than 1 only in a non-private fit

	// Ridge is λ of a perturbed optimum; the prior alone gives 1.
	Ridge float64 `json:"ridge,omitempty"`

	Averaging  float64 `json:"averaging"` // fraction of the steps averaged, the last ones
	NoiseAware string  `json:"noise_aware"`
	// NoiseAwareStated: the user chose NoiseAware, so a law does not change it.
	NoiseAwareStated bool `json:"noise_aware_stated,omitempty"`

	NoiseToSignal float64   `json:"noise_to_signal"` // ν = √P/(μN)
	Warnings      []Warning `json:"warnings"`
	// Levels are the purchases of levels that the model file leaves open. They come first, and
	// are part of the event. Until then the model has as many placeholders as may be bought.
	Levels []table1.Levels `json:"levels,omitempty"`
	// Bounds are the purchases of bounds and scales that the model file leaves open, after
	// Levels. They are part of the event. Until then the model has the declared limits.
	Bounds []table1.Bounds `json:"bounds,omitempty"`
	// Counted is the purchase of the number of units, after Bounds; nil: none.
	Counted *table1.UnitCount `json:"units,omitempty"`
	// Table1 is the setting of that name. Purchase is the resulting purchase before the
	// first step, a part of the event; nil: none.
	Table1   string       `json:"table1,omitempty"`
	Purchase *table1.Plan `json:"purchase,omitempty"`
	// Bought is the law from the purchase; nil before it, and without one.
	Bought *law.Law `json:"bought,omitempty"`
	// Spread are the default priors that follow from Bought, or without privacy from the
	// records. Priors are these priors by name.
	Spread []formula.SpreadPrior `json:"spread_priors,omitempty"`
	Priors map[string]string     `json:"priors,omitempty"`
	// Second are the second moments that a fit by them bought; nil before that, and for
	// other fits.
	Second []float64 `json:"second,omitempty"`

	// SideQueries are the purchases after the last step; nil: none.
	SideQueries *score.SideQueries `json:"trace,omitempty"`
	// Surprisals are bought after the last step, too; nil: not.
	Surprisals *score.Surprisals `json:"surprisals,omitempty"`
	// DesignEffects are bought last; nil: not.
	DesignEffects *score.DesignEffects `json:"design_effects,omitempty"`

	// Selection is the selection that has the fit as a trial; nil: the fit is released by
	// itself.
	Selection *Selection `json:"selection,omitempty"`

	// Planned is the plan of a fit that ended early, see Finish; else nil.
	Planned *Planned `json:"planned,omitempty"`

	Certified *accountant.Answer `json:"certified,omitempty"` // price of the event
	Event     json.RawMessage    `json:"event,omitempty"`

	model      *models.Model
	regression *Regression
	config     *Config // of New; nil: the plan was read
}

// Model is the model of the fit; nil before Bind for a plan that was read.
func (p *Plan) Model() *models.Model { return p.model }

// Bind gives a plan from a checkpoint its model, and the law that was bought earlier.
func (p *Plan) Bind(m *models.Model) error {
	p.model = m
	if p.Bought == nil {
		return nil
	}
	if err := p.Bought.Bind(&m.Spec.Data); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	rate := p.LearningRate
	err := p.Learn(p.Bought)
	p.LearningRate = rate
	if err != nil || p.Second == nil {
		return err
	}
	return p.LearnSecond(p.Second)
}

// Before are the events before the first step, in their order.
func (p *Plan) Before() []event.Event { return Before(p.Levels, p.Bounds, p.Counted, p.Purchase) }

// After are the events after the last step, in their order.
func (p *Plan) After() []event.Event {
	return After(p.SideQueries, p.Surprisals, p.DesignEffects, p.Neighbours)
}

// After are the events of purchases after the last step, in their order.
func After(q *score.SideQueries, s *score.Surprisals, d *score.DesignEffects, rel event.Relation) []event.Event {
	return slices.Concat(q.Events(rel), s.Events(rel), d.Events(rel))
}

// Before are the events of purchases before the first step, in their order.
func Before(levels []table1.Levels, bounds []table1.Bounds, units *table1.UnitCount, purchase *table1.Plan) (list []event.Event) {
	for i := range levels {
		list = append(list, levels[i].Event())
	}
	for i := range bounds {
		list = append(list, bounds[i].Events()...)
	}
	if units != nil {
		list = append(list, units.Event())
	}
	return append(list, purchase.Events()...)
}

// Open reports whether levels, bounds or scales are still to be bought.
func (p *Plan) Open() bool { return p.OpenLevels() || p.OpenBounds() }

// OpenLevels reports whether levels are still to be bought.
func (p *Plan) OpenLevels() bool {
	return slices.ContainsFunc(p.Levels, func(l table1.Levels) bool { return l.Found == nil })
}

// OpenBounds reports whether bounds or scales are still to be bought.
func (p *Plan) OpenBounds() bool {
	return slices.ContainsFunc(p.Bounds, func(b table1.Bounds) bool { return b.Numbers == nil })
}

// ToCount reports whether the plan has still to buy the number of units or Table 1.
func (p *Plan) ToCount() bool {
	return p.Counted != nil && p.Counted.Number == nil || p.Purchase != nil && p.Bought == nil
}

// Units is the number of usable units for everything after the steps. It is the public
// number unless that is a bound or Table 1 shows fewer usable units. Then it is the mean of
// the bought numbers, by itself and of Table 1, weighted by the inverse of their variances,
// and at most the public number.
func (p *Plan) Units() int {
	if !p.model.Spec.Data.Rows.UpperBound.IsSet() && !p.losesUnits() {
		return p.Records
	}
	sum, weight := 0.0, 0.0
	add := func(number, sd float64) { sum, weight = sum+number/(sd*sd), weight+1/(sd*sd) }
	if p.Counted != nil && p.Counted.Number != nil {
		add(*p.Counted.Number, p.Counted.Noise)
	}
	if p.Bought != nil && p.Bought.RecordsSD > 0 {
		add(p.Bought.Records, p.Bought.RecordsSD)
	}
	if weight == 0 {
		return p.Records
	}
	return min(max(int(math.Round(sum/weight)), 1), p.Records)
}

// losesUnits reports whether Table 1 counts fewer usable units than the public number, by
// more than its noise explains.
func (p *Plan) losesUnits() bool {
	return p.Bought != nil && p.Bought.Records < float64(p.Records)-3*p.Bought.RecordsSD
}

// Settled holds what was bought in place of the open constants of the model.
func (p *Plan) Settled() data.Bought {
	all := data.Bought{Priors: p.Priors}
	for _, l := range p.Levels {
		if l.Found != nil {
			if all.Levels == nil {
				all.Levels = map[string][]string{}
			}
			all.Levels[l.Column] = l.Names()
		}
	}
	for _, b := range p.Bounds {
		if b.Numbers != nil {
			if all.Numbers == nil {
				all.Numbers = map[string]data.Numbers{}
			}
			all.Numbers[b.Column] = *b.Numbers
		}
	}
	return all
}

// SettlePriors gives the plan, and its model, the default priors that follow from the
// columns' spread. Without compile the model stays.
func (p *Plan) SettlePriors(spread func(column string) formula.Spread, compile func(data.Bought) (*models.Model, error)) error {
	if len(p.Spread) == 0 || compile == nil {
		return nil
	}
	p.Priors = map[string]string{}
	for _, prior := range p.Spread {
		if text, ok := prior.Text(&p.model.Spec.Data, spread); ok {
			p.Priors[prior.Name] = text
		}
	}
	m, err := compile(p.Settled())
	if err == nil {
		p.model = m
	}
	return err
}

// Settle gives the plan the numbers of all its Bounds, in their order, and puts them into
// the model. All decisions of the plan stay but the bound of gradients, which has the unit of
// the columns. The list of Bounds must be the plan's own.
func (p *Plan) Settle(numbers []data.Numbers, m *models.Model) {
	for i := range p.Bounds {
		p.Bounds[i].Numbers = &numbers[i]
	}
	p.model = m
	p.BoundGradients()
}

// Law is the public distribution of the columns: the law from Learn, else the declared one.
// The plan must have a model.
func (p *Plan) Law() *law.Law {
	l := p.Bought
	if l == nil {
		l = p.model.DeclaredLaw()
	}
	if !p.DesignEffects.Known() {
		return l
	}
	of := *l
	of.Rows = p.DesignEffects.Shares()
	return &of
}

// Learn gives the plan a bought law. From then on the model is in whitened coordinates that
// suit the law, if they exist, and clip norm and learning rate suit these coordinates. If
// so few units are usable that the law is imprecise, a sample that the user did not choose
// becomes a joint normal, as for a table of that size. The event stays.
func (p *Plan) Learn(l *law.Law) error {
	p.Bought = l
	if p.NoiseAware == settings.NoiseAwareSample && !p.NoiseAwareStated && p.samples(p.Records) && !p.samples(p.Units()) {
		p.NoiseAware = settings.NoiseAwareCurvature
	}
	if p.model.Rotated() || !p.canRotate() {
		return nil
	}
	leverage := math.Inf(1)
	if p.ByMoments() {
		leverage = mostLeverage
	}
	m, err := whitened(p.model, l, leverage, p.InitSeed)
	if err != nil {
		return err
	}
	p.model = m
	p.BoundGradients()
	if m.Rotated() && !p.ByMoments() {
		p.chooseClippingBy(l)
		p.chooseRateByPrior()
	}
	return nil
}

// Budget is the budget of the plan's curator. A plan without privacy has none; its curator
// ignores the budget.
func (p *Plan) Budget() privacy.Budget {
	if !p.Private {
		return privacy.Budget{Epsilon: 1, Delta: 1e-5}
	}
	return privacy.Budget{Epsilon: p.Epsilon, Delta: p.Delta}
}

// Relation is the neighbouring relation of the plan's curator, also without privacy.
func (p *Plan) Relation() event.Relation {
	if !p.Private {
		return event.AddRemove
	}
	return p.Neighbours
}

// Warning is a fact that a user should know before paying for the fit.
type Warning struct {
	ID   string `json:"id"` // stable name, as in --accept-risk
	Text string `json:"text"`
}

// UnmarshalJSON reads a plan, also one of an earlier version. Those named the relation
// adjacency, wrote words with hyphens, and had further kinds of gradients.
func (p *Plan) UnmarshalJSON(text []byte) error {
	type plan Plan
	read := struct {
		*plan
		Adjacency event.Relation `json:"adjacency"`
		Theta     string         `json:"theta"`
		Prior     string         `json:"prior"`
	}{plan: (*plan)(p)}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		return err
	}
	p.Neighbours = cmp.Or(p.Neighbours, read.Adjacency)
	p.Guide = strings.ReplaceAll(p.Guide, "-", "_")
	if vanilla := p.Gradient == settings.GradientVanilla; vanilla && (read.Theta == "shared" || read.Prior == "outside") || p.NoiseAware == "temper" {
		return errors.New("only the d3p version that began this fit can continue it")
	}
	return nil
}
