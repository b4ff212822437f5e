package report

import (
	"fmt"
	"time"

	"d3p/internal/fit/plan"
	"d3p/internal/models/data"
	"d3p/internal/models/encoding"
	"d3p/internal/outputs"
	"d3p/internal/privacy/event"
	"d3p/internal/release"
	"d3p/internal/table1"
	"d3p/internal/verdict"
)

// Privacy is the content of privacy.json.
func (r *Run) Privacy() (*Privacy, error) {
	p := r.Described()
	return p, r.account(p)
}

// Described is the report without its price.
func (r *Run) Described() *Privacy {
	plan := r.Plan
	p := &Privacy{
		Schema: PrivacySchema, SchemaVersion: release.SchemaVersion, ReportID: r.ID, Banner: r.Banner(), Status: r.Status,
		CreatedAt: r.Created.UTC().Format(time.RFC3339),
		Tool:      r.Tool,
		Subject:   Subject{r.Name, r.Spec.Description.V, r.SpecSHA256, "spec.lock.yaml"},
		Setting: Setting{
			Model: "central", TrustModel: "the curator that runs d3p sees the records",
			ReleaseType: "one release", AccessType: "non-interactive",
			Actors: r.actors(),
		},
		Unit:          unitOf(r.Spec.Data.Unit),
		Neighbours:    r.neighbours(),
		Scope:         r.scope(),
		Mechanism:     r.mechanism(),
		Reading:       reading(&r.Spec.Data),
		Preprocessing: preprocessing(&r.Spec.Data, fieldsByHeader(r.Encoding), plan.Bounds, plan.Levels),
		PerIteration:  []Spent{},
		Assumptions:   r.assumptions(),
		Unprotected:   r.unprotected(),
		Hazards:       r.hazards(),
		Acknowledged:  append([]string{}, r.Accepted...),
		Warnings:      []string{},
		Randomness:    r.randomness(),
		Utility:       r.utility(),
		Reproducibility: Reproducibility{
			Command: r.Command, Spec: "spec.lock.yaml",
			Verify: "give dp_event.json to DpEvent.from_named_tuple of Google's dp_accounting and ask any of its accountants for the epsilon at delta",
		},
		Justification: r.Spec.Privacy.Justification.V,
		Statements:    r.statements(),
	}
	if plan.Bought != nil {
		p.Table1 = table1.Rows(plan.Bought, &r.Spec.Data)
	}
	for _, w := range plan.Warnings {
		p.Warnings = append(p.Warnings, w.ID+": "+w.Text)
	}
	return p
}

// account fills in the price of the mechanism, unless the run is not private.
func (r *Run) account(p *Privacy) error {
	if !r.Plan.Private {
		p.Accounting = Accounting{Method: "none", Notes: []string{}}
		return nil
	}
	raw, err := event.MarshalDpEvent(r.Event)
	if err != nil {
		return err
	}
	p.Accounting = Accounting{
		Method: r.Spent.Engine, Certified: r.Spent.Certified,
		EpsilonLower: r.Spent.Lower, Epsilon: r.Spent.Estimate, EpsilonUpper: r.Spent.Upper,
		Event: raw, Notes: append([]string{}, r.Spent.Notes...),
	}
	if r.Insecure {
		return nil // the event describes a mechanism with known noise
	}
	price, err := PriceOf(r.Event, r.Plan.Neighbours, r.Plan.Delta, r.Posterior.Steps)
	if err != nil {
		return err
	}
	p.Accounting.CrossCheck = price.CrossCheck
	p.Guarantee = &Guarantee{
		Epsilon: r.Spent.Upper, Delta: r.Plan.Delta,
		Target: Target{r.Plan.Epsilon, r.Plan.Delta}, Slack: r.Plan.Epsilon - r.Spent.Upper,
		Curve: price.Curve, GDP: price.GDP, ZCDP: price.ZCDP, Variants: price.Variants, Together: price.Together, Limits: price.Limits,
	}
	p.Risk, p.PerIteration = price.Risk, price.PerIteration
	p.Statements.Odds = Odds(p.Risk)
	if r.Booked != nil {
		p.Budget, err = r.Booked.Budget(r.Event, r.Plan.Neighbours)
	}
	return err
}

func unitOf(u data.Unit) Unit {
	rows := u.RowsPerUnit.Or(1)
	var enforcement string
	switch kept := keptRows(u); {
	case !u.ID.IsSet():
		enforcement = "declared: one row per unit; a unit with more rows has a larger epsilon, which d3p account RUN --group 2 prints for two"
	case rows == 1:
		enforcement = "enforced: one row per unit is kept, " + kept
	default:
		enforcement = fmt.Sprintf("enforced: at most %d rows per unit are kept, %s, and summed before clipping", rows, kept)
	}
	return Unit{u.Entity.V, u.ID.V, rows, enforcement}
}

// keptRows describes which rows of a unit with too many are kept.
func keptRows(u data.Unit) string {
	if u.Keep.V == string(encoding.KeepFirst) {
		return "the first in the file"
	}
	return "at random"
}

func (r *Run) neighbours() Neighbours {
	n := Neighbours{Relation: string(r.Plan.Neighbours), DatasetSize: "public", NPublic: r.Plan.Records}
	if r.Plan.Neighbours == event.AddRemove { // under the others neighbours have the same size
		n.DatasetSize = "private"
	}
	return n
}

// granularity is the part of a gradient that is clipped at once.
func granularity(p *plan.Plan) string {
	if p.ClipGroups != nil {
		return "each group of parameters of a unit's gradient, L2, at the norm times the root of its share"
	}
	return "the whole gradient of a unit, L2"
}

func (r *Run) mechanism() Mechanism {
	p := r.Plan
	m := Mechanism{
		Name:            "DP variational inference: one joint Gaussian release per step",
		Sampler:         Sampler{p.Sampling, p.Batches, p.SamplingRate, p.BatchSchedule, p.BatchSize},
		Clip:            Clip{p.Clipping, p.Bounded(p.ClipNorm), p.ClipBound, p.ClipQuantile, p.ClipNormSchedule, p.ClipGroups, granularity(p)},
		NoiseMultiplier: p.NoiseMultiplier, GradientNoise: p.GradientNoise, CountNoise: p.CountNoise, Ridge: p.Ridge, NoiseSchedule: p.NoiseSchedule,
		ReleasedPerStep: p.Release, Iterations: r.Posterior.Steps, Planned: p.Planned,
		Normaliser: "public: sampling rate times declared number of records",
		Levels:     p.Levels,
		Bounds:     p.Bounds, Units: p.Counted, Purchase: p.Purchase, SideQueries: p.SideQueries, Surprisals: p.Surprisals, DesignEffects: p.DesignEffects,
	}
	if p.Clipping == plan.ClippingCounts {
		m.Name = "noisy tables of counts: one joint Gaussian release per step"
		m.Clip.Granularity = "the weight of a unit, 1 in each table"
		m.Normaliser = "none: counts"
	}
	if one := releasesOnce(p.Clipping); one != nil {
		m.Name, m.Clip.Granularity, m.Normaliser = one.name, one.granularity, one.normaliser
		if p.Clipping == plan.ClippingScore {
			m.Epsilon = p.Epsilon
		}
	}
	m.Selection = p.Selection
	if p.Clipping == plan.ClippingByMoments {
		m.Name = "Newton steps of a linear regression by its second moments: one joint Gaussian release per step"
	}
	if !p.Private {
		m.Name = "none: a fit without clipping or noise"
	}
	return m
}

func (r *Run) utility() Utility {
	u := Utility{
		NoiseToSignal: r.Plan.NoiseToSignal, NoiseShare: map[string]float64{},
		Note: "sqrt(P)/(mu N). The share is the part of a parameter's posterior variance that the privacy noise adds",
	}
	for _, v := range r.Draws.Variables {
		if v.NoiseShare != nil {
			u.NoiseShare[v.Name] = *v.NoiseShare
		}
		if v.Verdict != nil {
			if u.Verdicts == nil {
				u.Verdicts = map[string]outputs.Verdict{}
			}
			u.Verdicts[v.Name] = *v.Verdict
		}
	}
	if u.Verdicts != nil {
		whole := verdict.Whole(r.Rows(), r.known)
		u.Whole = &whole
	}
	return u
}
