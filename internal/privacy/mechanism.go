package privacy

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"d3p/internal/models/graph"
	"d3p/internal/privacy/clipgroups"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
	"d3p/internal/privacy/schedule"
)

// Noise below leastNoise protects nothing (one step costs epsilon 2000), and
// would be too fine a lattice for a sum over 2^32 records: see
// noise.Stream.AddGaussian. mostNoise keeps zC far from overflow.
const (
	leastNoise = 1. / 64
	mostNoise  = 1e100
)

// Mechanism is the release of a session, Steps times. All of it is public.
//
// Each step draws a batch and releases jointly
//
//	Σ g_b·f(|g_b|) + N(0, z²C²I)  and, when bought,  Σ (1[|g_b| <= C] - γ) + N(0, σ_b²).
//
// One record moves the pair (sum / (zC), count / σ_b) by at most (1/z, s/σ_b) with s =
// max(γ, 1-γ), so both together are one Gaussian of noise multiplier σ with σ⁻² = z⁻² +
// (σ_b/s)⁻². C may change with every step, as a function of earlier releases. Andrew et
// al. 2021, arXiv:1905.03871, with γ = 1/2. z and σ_b are multiplied by the public factor
// of the step, and so is σ.
type Mechanism struct {
	Purpose string // of the ledger entry: "fit", ...
	Tape    *graph.Tape
	Sampler sampler.Config
	Steps   int // T
	// BatchBound is a public bound on the records in a batch, for RoundingAllowance. A
	// Poisson batch exceeds it with a probability that is negligible relative to delta.
	BatchBound int
	// GradientNoise is z, the noise of a sum in units of C.
	GradientNoise float64
	// CountNoise is σ_b, the noise of the count; 0 releases no count.
	CountNoise float64
	// CountTarget is γ, in (0, 1): the count is 0 in expectation when this
	// fraction of the records is within C, however many records there are.
	CountTarget float64
	// Schedule has the factors of z and σ_b.
	Schedule schedule.Factors
	// Rates has the factors of the sampler's rate.
	Rates schedule.Factors
	// Clip has the kind and Gamma; its Norm is not used: every step names its C.
	Clip Clip
	// Groups are the separately clipped parts of a gradient; nil: the whole is one part.
	Groups clipgroups.Groups
}

// NoiseMultiplier is σ of the joint release of a step with factor 1.
func (m Mechanism) NoiseMultiplier() float64 {
	if m.CountNoise == 0 {
		return m.GradientNoise
	}
	return 1 / math.Hypot(1/m.GradientNoise, CountSensitivity(m.CountTarget)/m.CountNoise)
}

// CountSensitivity is the largest change of Σ (1[|g_b| <= C] - γ) by one record: max(γ,
// 1-γ).
func CountSensitivity(target float64) float64 { return max(target, 1-target) }

// Event is the event of the first `steps` steps. The sampler's configuration must be
// valid.
func (m Mechanism) Event(steps int) event.Event {
	sigma := m.NoiseMultiplier()
	return event.Together(schedule.Events(m.Schedule, m.Rates, m.Sampler, func(f float64) event.Event { return m.Groups.Event(sigma * f) }, steps))
}

// check finds mistakes of a private mechanism under a relation.
func (m Mechanism) check(rel event.Relation) error {
	if err := m.checkShape(); err != nil {
		return err
	}
	if m.Clip.Kind != Flat && m.Clip.Kind != Automatic {
		return fmt.Errorf("privacy: clipping %q bounds nothing: choose %s or %s", m.Clip.Kind, Flat, Automatic)
	}
	if m.Clip.Kind == Automatic && !(m.Clip.Gamma >= clipMin && m.Clip.Gamma <= clipMax) {
		return fmt.Errorf("privacy: gamma %g of automatic clipping is not in [%g, %g]", m.Clip.Gamma, clipMin, clipMax)
	}
	if m.BatchBound < 1 {
		return fmt.Errorf("privacy: batches of at most %d records: without a bound rounding has none", m.BatchBound)
	}
	if err := m.Groups.Check(m.Tape); err != nil {
		return fmt.Errorf("privacy: %w", err)
	}
	if m.Groups != nil && m.CountNoise != 0 {
		return errors.New("privacy: of groups no count is released (choose no count)")
	}
	if err := m.Schedule.Check(m.Steps); err != nil {
		return fmt.Errorf("privacy: %w", err)
	}
	if err := m.checkRates(); err != nil {
		return err
	}
	if m.Schedule != nil && !sampler.OneStep(m.Sampler.Scheme) {
		return fmt.Errorf("privacy: sampling %s is accounted for by whole epochs, within which the noise cannot change", m.Sampler.Scheme)
	}
	least, most := m.Schedule.Range()
	if !(m.GradientNoise*least >= leastNoise && m.GradientNoise*most <= mostNoise) {
		return fmt.Errorf("privacy: gradient noise %g is not in [%g, %g]", m.GradientNoise, leastNoise, mostNoise)
	}
	if m.CountNoise != 0 && !(m.CountNoise*least >= leastNoise && m.CountNoise*most <= mostNoise) {
		return fmt.Errorf("privacy: count noise %g is not in [%g, %g], nor 0 for no count", m.CountNoise, leastNoise, mostNoise)
	}
	if m.CountNoise != 0 && !(m.CountTarget > 0 && m.CountTarget < 1) {
		return fmt.Errorf("privacy: count target %g is not between 0 and 1", m.CountTarget)
	}
	if m.CountNoise != 0 && rel == event.ZeroOut { // a rejected record is a null one, and counts 1-γ
		return errors.New("privacy: under zero_out neighbours a record that becomes a null one moves the count by 1, for which there is no accounting (choose no count)")
	}
	claim, err := sampler.ClaimFor(m.Sampler)
	if err != nil {
		return err
	}
	if !slices.Contains(claim.Relations(), rel) {
		return fmt.Errorf("privacy: sampling %s has no accounting under %s: it has under %v", claim.Scheme(), rel, claim.Relations())
	}
	return nil
}

// checkRates finds mistakes of the schedule of the sampling rate.
func (m Mechanism) checkRates() error {
	if m.Rates == nil {
		return nil
	}
	if err := m.Rates.Check(m.Steps); err != nil {
		return fmt.Errorf("privacy: %w", err)
	}
	if m.Sampler.Scheme != sampler.Poisson {
		return fmt.Errorf("privacy: sampling %s has one rate", m.Sampler.Scheme)
	}
	if _, most := m.Rates.Range(); m.Sampler.BatchSize != 0 || !(m.Sampler.Rate*most <= 1) {
		return fmt.Errorf("privacy: the sampling rate %g times %g is above 1", m.Sampler.Rate, most)
	}
	return nil
}

// checkShape finds mistakes of any mechanism, private or not.
func (m Mechanism) checkShape() error {
	switch {
	case m.Tape == nil || m.Tape.P == 0:
		return errors.New("privacy: the mechanism has no parameters")
	case m.Steps < 1:
		return fmt.Errorf("privacy: %d steps: at least one is needed", m.Steps)
	}
	return nil
}
