package verify

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/spec"
	"d3p/internal/outputs"
	"d3p/internal/posterior"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/release"
	"d3p/internal/report"
	"d3p/internal/settings"
	"d3p/internal/table1"
)

// Model checks the statements of privacy.json about the model: they follow from
// spec.lock.yaml and the mechanism. Another build may use other words.
func Model(f *release.Folder, p *report.Privacy, params *outputs.Parameters, m *models.Model, draws outputs.Draws, sameBuild bool) Check {
	c := Check{Name: "privacy.json follows from spec.lock.yaml"}
	created, err := time.Parse(time.RFC3339, p.CreatedAt)
	if err != nil {
		c.Detail = err.Error()
		return c
	}
	made := planOf(p)
	if made.Mu > 0 && made.Selection == nil && plan.Single(made.Clipping) == "" && made.Clipping != plan.ClippingCounts {
		made.NoiseToSignal = math.Sqrt(float64(m.P)) / made.Signal()
	}
	run := &report.Run{
		ID: p.ReportID, Created: created, Status: report.Complete, Tool: p.Tool, Name: m.Spec.Name.V,
		Spec: m.Spec, SpecSHA256: p.Subject.SpecSHA256, Encoding: m.Encoding, Command: p.Reproducibility.Command, Accepted: p.Acknowledged,
		Plan: made, Posterior: &posterior.Posterior{Steps: params.Steps}, Draws: draws, Insecure: p.Randomness.SeedReleased,
	}
	run.Judged(m, p.Table1)
	if g := p.Guarantee; g != nil {
		run.Spent = accountant.Answer{Lower: p.Accounting.EpsilonLower, Estimate: p.Accounting.Epsilon, Upper: g.Epsilon}
	}
	if p.Budget != nil {
		run.Booked = &report.Booked{LedgerID: p.Budget.LedgerID}
	}
	again := run.Described()
	again.Statements.Odds = p.Statements.Odds // computed from the event
	again.Accounting, again.Guarantee, again.Risk, again.PerIteration, again.Budget = p.Accounting, p.Guarantee, p.Risk, p.PerIteration, p.Budget
	again.Warnings = p.Warnings // of the plan
	again.Table1 = p.Table1     // released
	if !sameBuild {
		reword(again, p)
	}
	if params.Model != again.Subject.Name || params.Privacy != p.Banner {
		c.Detail = "params.json is of another model"
	} else if wrong := differsIn(again, p); wrong != "" {
		c.Detail = wrong + " of privacy.json does not follow from the model file and the mechanism"
	} else {
		c.Detail = lockContradicts(f, p, m, sameBuild)
	}
	if c.Detail != "" {
		return c
	}
	c.OK, c.Detail = true, "unit, neighbours, preprocessing, assumptions, hazards and settings"
	if !sameBuild {
		c.Detail += "; another build of d3p wrote it, so its words were not compared"
	}
	return c
}

// lockContradicts describes how spec.lock.yaml, which has the model m, and privacy.json contradict each other.
func lockContradicts(f *release.Folder, p *report.Privacy, m *models.Model, sameBuild bool) string {
	locked, err := lockedSettings(f)
	if err != nil {
		return err.Error()
	}
	if why := lockDiffers(f, m.Spec, p.Banner); why != "" && (sameBuild || !m.Spec.OldNames) {
		return why
	}
	if p.Guarantee == nil {
		return ""
	}
	wrong := purchasesDiffer(p, m, locked, sameBuild)
	if wrong == "" && sameBuild {
		wrong = choicesDiffer(p, m, locked)
	}
	if wrong != "" {
		return fmt.Sprintf("%s of privacy.json does not follow from the price or budget there, or from %s", wrong, report.LockName)
	}
	return settingsDiffer(locked, p, m)
}

// planOf is the plan whose mechanism p reports.
func planOf(p *report.Privacy) *plan.Plan {
	m := &p.Mechanism
	made := &plan.Plan{
		Private: m.Clip.Mode != plan.ClippingOff, Epsilon: m.Epsilon, Records: p.Neighbours.NPublic, Neighbours: event.Relation(p.Neighbours.Relation),
		Sampling: m.Sampler.Scheme, Batches: m.Sampler.Batches, SamplingRate: m.Sampler.Rate, BatchSize: m.Sampler.BatchSize, Steps: m.Iterations, Planned: m.Planned,
		NoiseMultiplier: m.NoiseMultiplier, GradientNoise: m.GradientNoise, CountNoise: m.CountNoise, Ridge: m.Ridge, NoiseSchedule: m.NoiseSchedule, BatchSchedule: m.Sampler.Schedule, Release: m.ReleasedPerStep,
		Levels: m.Levels, Bounds: m.Bounds, Counted: m.Units, Purchase: m.Purchase, SideQueries: m.SideQueries, Surprisals: m.Surprisals, DesignEffects: m.DesignEffects, Selection: m.Selection, Clipping: m.Clip.Mode, ClipNorm: m.Clip.Norm, ClipBound: m.Clip.Bound, ClipQuantile: m.Clip.Quantile, ClipNormSchedule: m.Clip.Schedule, ClipGroups: m.Clip.Groups, NoiseToSignal: p.Utility.NoiseToSignal,
	}
	if p.Guarantee != nil {
		made.Delta = p.Guarantee.Delta
		made.Mu = table1.Mu(made.Delta, made.Neighbours, p.Guarantee.Target.Epsilon)
	}
	return made
}

// reword copies the words, but not the numbers, of other to p.
func reword(p, other *report.Privacy) {
	p.Setting, p.Scope, p.Assumptions, p.Unprotected, p.Hazards = other.Setting, other.Scope, other.Assumptions, other.Unprotected, other.Hazards
	p.Randomness, p.Statements, p.Reproducibility = other.Randomness, other.Statements, other.Reproducibility
	p.Unit.Enforcement, p.Utility.Note = other.Unit.Enforcement, other.Utility.Note
	if p.Utility.Whole != nil && other.Utility.Whole != nil {
		p.Utility.Whole.Why = other.Utility.Whole.Why
	}
	for name, verdict := range p.Utility.Verdicts {
		verdict.Why = other.Utility.Verdicts[name].Why
		p.Utility.Verdicts[name] = verdict
	}
	p.Mechanism.Name, p.Mechanism.Normaliser, p.Mechanism.Clip.Granularity = other.Mechanism.Name, other.Mechanism.Normaliser, other.Mechanism.Clip.Granularity
	if len(p.Preprocessing) == len(other.Preprocessing) {
		for i := range p.Preprocessing {
			p.Preprocessing[i].Operation = other.Preprocessing[i].Operation
		}
	}
}

// differsIn names the first part in which two reports differ.
func differsIn(p, other *report.Privacy) string {
	x, y := reflect.ValueOf(p).Elem(), reflect.ValueOf(other).Elem()
	for i := range x.NumField() {
		if !near(decoded(x.Field(i).Interface()), decoded(y.Field(i).Interface())) {
			return x.Type().Field(i).Tag.Get("json")
		}
	}
	return ""
}

// lockDiffers describes how spec.lock.yaml differs from the file that d3p writes for its
// model.
func lockDiffers(f *release.Folder, s *spec.Spec, banner string) string {
	lock, err := f.ReadFile(report.LockName)
	if err != nil {
		return err.Error()
	}
	var again bytes.Buffer
	if err := report.LockFile(s.Render(), nil, banner).Write(&again); err != nil {
		return err.Error()
	}
	if !bytes.HasPrefix(lock, again.Bytes()) {
		return fmt.Sprintf("%s is not the file that d3p writes for its model", report.LockName)
	}
	return ""
}

// lockedSettings are the settings of spec.lock.yaml.
func lockedSettings(f *release.Folder) (map[string]any, error) {
	lock, err := f.ReadFile(report.LockName)
	if err != nil {
		return nil, err
	}
	locked, err := report.LockedSettings(lock)
	if err != nil {
		return nil, fmt.Errorf("%s: settings: %w", report.LockName, err)
	}
	return locked, nil
}

// settingsDiffer describes how the settings of spec.lock.yaml differ from the mechanism of
// the report about m.
func settingsDiffer(locked map[string]any, p *report.Privacy, fitted *models.Model) string {
	m, steps := &p.Mechanism, p.Mechanism.Iterations
	if m.Planned != nil {
		steps = m.Planned.Iterations
	}
	states := map[string]any{
		"neighbours": p.Neighbours.Relation, "records": p.Neighbours.NPublic, "sampling": m.Sampler.Scheme, "batches": m.Sampler.Batches, "sampling-rate": m.Sampler.Rate,
		"batch-size": m.Sampler.BatchSize, "steps": steps, "noise-multiplier": m.NoiseMultiplier,
		"delta": p.Guarantee.Delta,
	}
	if m.Clip.Mode != plan.ClippingCounts {
		states["gradient"] = map[int]string{fitted.P: settings.GradientAligned, 2 * fitted.P: settings.GradientVanilla}[m.ReleasedPerStep]
	}
	if q := m.SideQueries; q != nil && !slices.ContainsFunc(m.Levels, func(l table1.Levels) bool { return l.Column == q.Column }) {
		asked := *q
		asked.Counts = nil
		states["trace"] = asked
	}
	if locked["clipping"] != settings.ClippingAdaptive || m.Clip.Mode != settings.ClippingFlat || m.Clip.Quantile != 0 || m.Purchase == nil { // by Table 1
		states["clipping"] = m.Clip.Mode
		if norm, ok := locked["clip-norm"].(float64); ok && m.Clip.Norm != min(norm, cmp.Or(m.Clip.Bound, norm)) {
			states["clip-norm"] = m.Clip.Norm
		}
		if m.Levels == nil {
			states["clip-quantile"] = m.Clip.Quantile
		}
	}
	for name, value := range states {
		if set, ok := locked[name]; ok && set != nil && !reflect.DeepEqual(decoded(value), set) {
			return fmt.Sprintf("setting %s of %s is not that of the mechanism in privacy.json", name, report.LockName)
		}
	}
	for name, factors := range map[string]any{"noise-schedule": m.NoiseSchedule, "batch-schedule": m.Sampler.Schedule, "clip-norm-schedule": m.Clip.Schedule, "clip-groups": m.Clip.Groups} {
		if !near(locked[name], decoded(factors)) {
			return fmt.Sprintf("setting %s of %s is not that of the mechanism in privacy.json", name, report.LockName)
		}
	}
	if epsilon, ok := locked["epsilon"].(float64); ok && epsilon > 0 && p.Guarantee.Epsilon > epsilon {
		return fmt.Sprintf("setting epsilon of %s is less than that of privacy.json", report.LockName)
	}
	return ""
}
