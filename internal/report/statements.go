package report

import (
	"fmt"
	"slices"

	"d3p/internal/decimal"
	"d3p/internal/fit/plan"
	"d3p/internal/models/data"
	"d3p/internal/privacy/event"
	"d3p/internal/settings"
)

// claim is the guarantee in one line.
func (r *Run) claim() string {
	return ClaimLine(r.Spent.Upper, r.Plan.Delta, r.entity(), r.Plan.Neighbours)
}

// OneLine is a claim with the condition under which a fit with that clipping has it.
func OneLine(claim, clipping string) string {
	if clipping == plan.ClippingScore {
		claim += ", if the sampler's draw is exact"
	}
	return claim
}

// ClaimLine is the claim in one line: ε rounded up, δ rounded up to three digits, the unit and its neighbours.
func ClaimLine(epsilon, delta float64, entity string, rel event.Relation) string {
	return fmt.Sprintf("(%s, %s)-differential privacy for one %s, %s neighbours", Upward(epsilon), decimal.Up(delta, 3), entity, RelationWords(rel))
}

// ClaimParagraph states the subject of the claim and its assumptions.
func ClaimParagraph(model, claim string, m *Mechanism, lower, upper float64) string {
	if m.Clip.Mode == plan.ClippingCounts {
		return fmt.Sprintf("The released tables of model %s satisfy %s. So does everything computed from the released files, such as synthetic tables. "+
			"The price was computed for the mechanism that ran, releases of noisy counts of all records that cost %d of noise multiplier %.4g; it lies %s.",
			model, claim, m.Iterations, m.NoiseMultiplier, between(lower, upper))
	}
	if one := releasesOnce(m.Clip.Mode); one != nil {
		return one.claim(model, claim, between(lower, upper), m)
	}
	text := fmt.Sprintf("The released posterior of model %s satisfies %s. It covers every iterate of the fit and everything computed from the released files. "+
		"The price was computed for the mechanism that ran, %s batches at %s with %s for %d steps; it lies %s.",
		model, claim, m.Sampler.Scheme, m.Sampler.rateWords(), m.noiseWords(4), m.Iterations, between(lower, upper))
	if s := m.Selection; s != nil {
		text += fmt.Sprintf(" It is the price of a whole selection: this fit has the highest score of a secret number of trials, %d on average, among %d fits. "+
			"It holds if neither that number nor how long the selection took is made public.", s.MeanTrials, len(s.Trials))
	}
	if m.Planned != nil {
		text += fmt.Sprintf(" The fit was ended early, %d steps had been planned: the price holds if the decision to end it did not depend on its iterates. "+
			"Whatever it depended on, the price of all planned steps holds, epsilon %s.", m.Planned.Iterations, Upward(m.Planned.Epsilon))
	}
	return text
}

// noiseWords are the noise multipliers of the steps, with that many digits.
func (m *Mechanism) noiseWords(digits int) string {
	if m.NoiseSchedule == nil {
		return fmt.Sprintf("noise multiplier %.*g", digits, m.NoiseMultiplier)
	}
	least, most := m.NoiseSchedule.Range()
	return fmt.Sprintf("noise multipliers from %.*g to %.*g by a public schedule", digits, least*m.NoiseMultiplier, digits, most*m.NoiseMultiplier)
}

// Upward prints a bound with four significant digits, never below the bound.
func Upward(x float64) string { return decimal.Up(x, 4) }

// between prints a bracket with six significant digits, never narrower than it is.
func between(lower, upper float64) string {
	return "between " + decimal.Down(lower, 6) + " and " + decimal.Up(upper, 6)
}

func (r *Run) entity() string {
	if e := r.Spec.Data.Unit.Entity.V; e != "" {
		return e
	}
	return "record"
}

// RelationWords describes a neighbouring relation.
func RelationWords(rel event.Relation) string {
	switch rel {
	case event.Substitute:
		return "substitute-one"
	case event.ZeroOut:
		return "zero-out"
	}
	return "add-or-remove"
}

// Claim is the line shown at the end of a fit.
func (r *Run) Claim() string {
	switch {
	case r.Insecure:
		return settings.NotPrivate + ": the noise was fixed by --insecure-noise-seed and can be subtracted"
	case !r.Plan.Private:
		return settings.NotPrivate + ": fitted without clipping or noise; for comparison only"
	}
	return OneLine(r.claim(), r.Plan.Clipping)
}

func (r *Run) statements() Statements {
	if r.Banner() != "" {
		return Statements{OneLine: r.Claim(), Paragraph: r.Claim(), Odds: "none: this run gives no guarantee"}
	}
	if r.Status == Planned {
		return Statements{OneLine: r.Claim(), Paragraph: fmt.Sprintf("A fit of model %s under this plan will satisfy %s for any records. Nothing in this report depends on them.", r.Name, r.claim())}
	}
	mechanism := r.mechanism()
	return Statements{OneLine: r.Claim(), Paragraph: ClaimParagraph(r.Name, r.claim(), &mechanism, r.Spent.Lower, r.Spent.Upper)}
}

// exceptBought excepts bought constants from a statement about declared ones.
func (r *Run) exceptBought() string {
	if len(r.Plan.Bounds)+len(r.Plan.Levels) == 0 {
		return ""
	}
	return ", but for those that are bought as a part of the price"
}

// unprotected lists the unprotected facts.
func (r *Run) unprotected() []string {
	return []string{
		fmt.Sprintf("the declared number of records, %d", r.Plan.Records),
		"column names, types, bounds, scales and levels: declared in the model file" + r.exceptBought(),
		"the model, the priors and every setting",
		"run time and memory use, which depend on the number of records",
	}
}

// randomness states where noise and batches came from.
func (r *Run) randomness() Randomness {
	out := Randomness{
		Generator: "AES-256 in counter mode, one key per purpose", SeedSource: "operating system",
		Noise: "Gaussian, rounded to a lattice of at most sigma/2^10",
		FloatingPoint: "every released number is the multiple of a public spacing nearest to the exact sum plus Gaussian noise; " +
			"rounding is post-processing, and the gaps between float64 numbers (Mironov 2012) do not show",
	}
	if one := releasesOnce(r.Plan.Clipping); one != nil && one.floatingPoint != "" {
		out.Noise, out.FloatingPoint = "the randomness of one draw of the posterior", one.floatingPoint
	}
	switch {
	case !r.Plan.Private:
		out.Noise, out.FloatingPoint = "none", "no noise was added"
	case r.Insecure:
		out.SeedSource, out.SeedReleased = "--insecure-noise-seed", true
	}
	return out
}

// severalRuns is the hazard of other runs on the same records.
func (r *Run) severalRuns() Hazard {
	if r.Booked != nil {
		return Hazard{"several-runs", "high", "mitigated", "the ledger of the data set prices all its runs together and refuses what exceeds its limit"}
	}
	return Hazard{"several-runs", "high", "open", "each further run on the same data adds to what an attacker learns; this report counts one run"}
}

// tuning is the hazard of settings that were chosen by results.
func (r *Run) tuning() Hazard {
	if r.Plan.Selection != nil {
		return Hazard{"tuning", "high", "mitigated", "the selection among models and settings is a part of the price; the number of trials, and so the run time, must stay secret"}
	}
	return Hazard{"tuning", "high", "open", "settings chosen by looking at private results are not counted"}
}

// hazards lists the possible ways to break the claim, and the measures against them.
func (r *Run) hazards() []Hazard {
	list := []Hazard{
		{"data-dependent-bounds", "high", "mitigated", "bounds, scales and levels are declared" + r.exceptBought() + "; values outside are clamped in silence"},
		{"non-finite-gradients", "high", "mitigated", "a record whose gradient is not finite counts as zero"},
		{"sampler-accountant-mismatch", "high", "mitigated", "the sampler that draws the batches states the event that is accounted"},
		{"floating-point", "medium", "mitigated", "released sums lie on a public lattice, so that rounding does not betray the exact sum"},
		{"random-numbers", "low", "accepted", "noise and batches are as unpredictable as AES-256 in counter mode keyed by the operating system"},
		{"timing", "low", "accepted", "run time depends on the number of records in the batches"},
		r.severalRuns(),
		r.tuning(),
	}
	if r.Plan.Neighbours == event.AddRemove {
		list = append(list, Hazard{"public-size", "low", "accepted", "the number of records is declared as public and scales the sums"})
	}
	if !r.Spec.Data.Unit.ID.IsSet() {
		list = append(list, Hazard{"several-rows-of-one-unit", "high", "accepted", "that a unit has one row is declared, not checked"})
	}
	if slices.ContainsFunc(r.Spec.Data.AllColumns(), func(c *data.Column) bool { return c.Source.V == "" && c.Numeric() }) {
		list = append(list, Hazard{"undocumented-bounds", "medium", "open", "some columns do not state the source of their bounds"})
	}
	if !r.Plan.Private {
		list = append(list, Hazard{"not-private", "high", "open", "no noise was added"})
	}
	if r.Insecure {
		list = append(list, Hazard{"seeded-noise", "high", "open", "the noise was fixed by a seed and can be subtracted"})
	}
	return list
}
