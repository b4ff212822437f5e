package report

import (
	"encoding/json"
	"fmt"

	"d3p/internal/fit/plan"
	"d3p/internal/outputs"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/clipgroups"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/schedule"
	"d3p/internal/score"
	"d3p/internal/table1"
)

// PrivacySchema identifies the format of privacy.json.
const PrivacySchema = "urn:d3p:schema:privacy-report-v1"

// Privacy is privacy.json: the mechanism, its price and their meaning, in a form that a
// program can check. Every number in it follows from the event, the model file and the
// flags.
type Privacy struct {
	Schema        string `json:"$schema"`
	SchemaVersion int    `json:"schema_version"`
	ReportID      string `json:"report_id"`  // of this run
	CreatedAt     string `json:"created_at"` // RFC 3339, UTC
	Banner        string `json:"privacy,omitempty"`
	Status        string `json:"status"` // complete or planned

	Tool       Tool       `json:"tool"`
	Subject    Subject    `json:"subject"`
	Setting    Setting    `json:"setting"`
	Unit       Unit       `json:"unit"`
	Neighbours Neighbours `json:"neighbours"`
	Scope      Scope      `json:"scope"`
	Mechanism  Mechanism  `json:"mechanism"`
	Accounting Accounting `json:"accounting"`
	Guarantee  *Guarantee `json:"guarantee"` // null when the run is not private
	Risk       *Risk      `json:"risk"`      // null when the run is not private

	Table1 []table1.Row `json:"table1,omitempty"` // bought before the fit

	PerIteration []Spent      `json:"per_iteration"`
	Budget       *Budget      `json:"budget"` // null without a ledger of the data set
	Assumptions  []Assumption `json:"assumptions"`

	Reading       *Reading        `json:"reading,omitempty"`
	Preprocessing []Preprocessing `json:"preprocessing"`
	Unprotected   []string        `json:"unprotected"`
	Hazards       []Hazard        `json:"hazards"`
	Acknowledged  []string        `json:"acknowledged"`
	Warnings      []string        `json:"warnings"`

	Randomness      Randomness      `json:"randomness"`
	Utility         Utility         `json:"utility"`
	Reproducibility Reproducibility `json:"reproducibility"`
	Justification   string          `json:"justification"`
	Statements      Statements      `json:"statements"`
}

// Tool is the program that ran.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Commit  string `json:"commit"`
	SHA256  string `json:"sha256"` // of the program's file; "" when it could not be read
	Go      string `json:"go"`
	Device  string `json:"device"` // engine that executed the fit
	// Processes is the number of processes that each held a part of the records; absent for
	// one.
	Processes int `json:"processes,omitempty"`
}

// Subject is the model that was fitted.
type Subject struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	SpecSHA256  string `json:"spec_sha256"` // of the model file as given
	SpecLock    string `json:"spec_lock_path"`
}

// Setting lists who sees which data, in the words of the deployments registry.
type Setting struct {
	Model       string `json:"model"`
	TrustModel  string `json:"trust_model"`
	ReleaseType string `json:"release_type"`
	AccessType  string `json:"access_type"`
	// Actors are the parties, and the data that each sees.
	Actors []string `json:"actors"`
}

// Unit is the protected unit.
type Unit struct {
	Entity      string `json:"entity"`
	IDColumn    string `json:"id_column"`
	RowsPerUnit int    `json:"rows_per_unit"`
	Enforcement string `json:"enforcement"`
}

// Neighbours is the relation between data sets that the guarantee is about.
type Neighbours struct {
	Relation    string `json:"relation"`
	DatasetSize string `json:"dataset_size"` // public or private
	NPublic     int    `json:"n_public"`     // the number that scales sums
}

// Scope is the scope of the guarantee.
type Scope struct {
	Covers       []string `json:"covers"`
	DataAccesses []string `json:"data_accesses"`
	Tuning       Tuning   `json:"tuning"`
}

// Tuning is whether the choice of settings is part of the price.
type Tuning struct {
	Counted bool   `json:"counted"`
	Note    string `json:"note"`
}

// Mechanism describes how noise was added.
type Mechanism struct {
	Name            string  `json:"name"`
	Sampler         Sampler `json:"sampler"`
	Clip            Clip    `json:"clip"`
	Epsilon         float64 `json:"epsilon,omitempty"` // of the exponential mechanism; absent for noise
	NoiseMultiplier float64 `json:"noise_multiplier"`  // of a step's joint release, in units of the clip norm
	GradientNoise   float64 `json:"gradient_noise"`    // standard deviation / clip norm
	CountNoise      float64 `json:"count_noise"`       // standard deviation of the count of unclipped records; 0: not released
	Ridge           float64 `json:"ridge,omitempty"`   // of a perturbed optimum, in units of the prior's; absent for other fits
	// NoiseSchedule has the factors of all three by step; absent: 1.
	NoiseSchedule   schedule.Factors `json:"noise_schedule,omitempty"`
	ReleasedPerStep int              `json:"released_per_step"`
	Iterations      int              `json:"iterations"`
	// Planned is the plan of a fit that ended early; absent for a complete fit.
	Planned    *plan.Planned `json:"planned,omitempty"`
	Normaliser string        `json:"normaliser"`
	// Selection is the selection whose best trial is the fit; absent if it is the only fit.
	Selection *plan.Selection `json:"selection,omitempty"`
	// Levels are the levels that were bought first; absent: all are declared.
	Levels []table1.Levels `json:"levels,omitempty"`
	// Bounds are the bounds and scales that were bought next; absent: all are declared.
	Bounds []table1.Bounds `json:"bounds,omitempty"`
	// Units is the number of units that was bought; absent: none.
	Units *table1.UnitCount `json:"units,omitempty"`
	// Purchase is the release before the first step; absent: none.
	Purchase *table1.Plan `json:"purchase,omitempty"`
	// SideQueries is the release after the last step; absent: none.
	SideQueries *score.SideQueries `json:"trace,omitempty"`
	// Surprisals are bought after the last step, too; absent: not.
	Surprisals *score.Surprisals `json:"surprisals,omitempty"`
	// DesignEffects are bought last; absent: not.
	DesignEffects *score.DesignEffects `json:"design_effects,omitempty"`
}

// Before are the events before the first step, in their order.
func (m *Mechanism) Before() []event.Event {
	return plan.Before(m.Levels, m.Bounds, m.Units, m.Purchase)
}

// After are the events after the last step, in their order.
func (m *Mechanism) After(rel event.Relation) []event.Event {
	return plan.After(m.SideQueries, m.Surprisals, m.DesignEffects, rel)
}

// Sampler describes how batches were drawn.
type Sampler struct {
	Scheme  string  `json:"scheme"`
	Batches string  `json:"batches,omitempty"` // how subsets were drawn, see docs/privacy.md, claim 5; none: the scheme draws none
	Rate    float64 `json:"rate"`
	// Schedule has the factors of the rate by step; absent: 1.
	Schedule  schedule.Factors `json:"schedule,omitempty"`
	BatchSize int              `json:"batch_size"` // of fixed-size schemes, else 0
}

// rateWords are the rate of the steps.
func (s Sampler) rateWords() string {
	if s.Schedule == nil {
		return fmt.Sprintf("rate %.4g", s.Rate)
	}
	least, most := s.Schedule.Range()
	return fmt.Sprintf("rates from %.4g to %.4g by a public schedule", least*s.Rate, most*s.Rate)
}

// Clip describes how a record's gradient was bounded.
type Clip struct {
	Mode string  `json:"mode"`
	Norm float64 `json:"norm"` // the first one when adaptive
	// Bound bounds the norm of every gradient, so that a norm of Bound clips none; 0: none known.
	Bound    float64 `json:"bound,omitempty"`
	Quantile float64 `json:"quantile"`
	// Schedule has the factors of the norm by step; absent: 1.
	Schedule schedule.Factors `json:"schedule,omitempty"`
	// Groups are the separately clipped parts of a gradient; absent: the whole is one.
	Groups      clipgroups.Groups `json:"groups,omitempty"`
	Granularity string            `json:"granularity"`
}

// Accounting describes how the price was computed. Event has the form of Google's
// dp_accounting, so that a third party can compute the price again.
type Accounting struct {
	Method       string          `json:"method"`
	Certified    bool            `json:"certified"`
	EpsilonLower float64         `json:"epsilon_lower"`
	Epsilon      float64         `json:"epsilon_estimate"`
	EpsilonUpper float64         `json:"epsilon_upper"`
	CrossCheck   *CrossCheck     `json:"cross_check"` // null without one
	Event        json.RawMessage `json:"event"`
	Notes        []string        `json:"notes"`
}

// CrossCheck is the answer of an accountant that shares nothing with the one behind the
// claim. It may be larger, but is never smaller than EpsilonLower.
type CrossCheck struct {
	Method  string  `json:"method"`
	Epsilon float64 `json:"epsilon"`
	Order   float64 `json:"order"`
}

// Spent is the epsilon of the first T steps.
type Spent struct {
	T       int     `json:"t"`
	Epsilon float64 `json:"epsilon"`
}

// Assumption is something that the claim rests on.
type Assumption struct {
	ID       string `json:"id"`
	Text     string `json:"text"`
	Status   string `json:"status"` // holds, declared, unknown or fails
	Evidence string `json:"evidence"`
}

// The values of Assumption.Status.
const (
	Holds    = "holds"    // by construction of the program
	Declared = "declared" // the custodian's word; the program does not check it
	Unknown  = "unknown"  // not declared
	Fails    = "fails"
)

// Guarantee is the claim: (Epsilon, Delta) holds for everything in scope.
type Guarantee struct {
	Epsilon float64 `json:"epsilon"` // the accountant's upper bound
	Delta   float64 `json:"delta"`
	Target  Target  `json:"target"`
	Slack   float64 `json:"slack"` // target less claim
	Curve   []Point `json:"curve"`
	GDP     GDP     `json:"gdp"`
	ZCDP    *ZCDP   `json:"zcdp"` // null when the mechanism has no useful rho
	// Variants are the claims under other assumptions.
	Variants []Variant `json:"variants"`
	// Together is the guarantee for several units at once.
	Together []Together `json:"group"`
	// Limits bound an attacker's beliefs after any outcome.
	Limits []Limit `json:"posterior_belief_limit"`
}

// GDP is the smallest Gaussian differential privacy that covers the curve at every delta of
// at least From, and a bound on how much it overstates the attacker. Dong, Roth and Su
// 2022; Gomez, Kulynych et al. 2025, arXiv:2503.10945.
type GDP struct {
	Mu     float64 `json:"mu"`
	Regret float64 `json:"regret"`
	From   float64 `json:"from_delta,omitempty"` // absent: 1e-10
}

// GDPOf is the Gaussian differential privacy of a curve.
func GDPOf(c *accountant.Curve) (g GDP) {
	g.Mu, g.Regret = c.DominatingMu()
	if from := c.MuFrom(); from > 1e-10 {
		g.From = from
	}
	return g
}

// Covers is the part of the curve that it covers, in words.
func (g GDP) Covers() string {
	if g.From == 0 {
		return "the whole curve"
	}
	return fmt.Sprintf("the curve from delta %.2g on", g.From)
}

// Together is the guarantee of k units together.
type Together struct {
	K       int     `json:"k"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// Target is the requested budget. Its epsilon is 0 if the user gave the noise multiplier
// instead.
type Target struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// Point is one (epsilon, delta) of the privacy curve.
type Point struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// Risk is the meaning of the guarantee for an attacker who knows everything except
// whether one unit is in the data.
type Risk struct {
	Method    string             `json:"method"`
	Advantage float64            `json:"advantage"` // largest true minus false positive rate
	TPRAtFPR  map[string]float64 `json:"tpr_at_fpr"`
	Belief    []Belief           `json:"posterior_belief"`
	Tradeoff  []Rates            `json:"tradeoff"`
}

// Belief is an attacker's largest posterior probability of membership, from a prior,
// after a positive test with that false positive rate.
type Belief struct {
	Prior        float64 `json:"prior"`
	AtFPR        float64 `json:"at_fpr"`
	MaxPosterior float64 `json:"max_posterior"`
}

// Limit is the largest probability of membership that any outcome can lead to, from a
// prior, except for outcomes of probability delta.
type Limit struct {
	Prior        float64 `json:"prior"`
	MaxPosterior float64 `json:"max_posterior"`
}

// Rates is a point of the trade-off curve: no test of membership has a smaller
// false negative rate.
type Rates struct {
	FPR float64 `json:"fpr"`
	FNR float64 `json:"fnr"`
}

// Reading is the notation by which the table was read, as declared: no record decides it.
type Reading struct {
	// MissingTokens are the cells without a value, besides empty ones; a column may have more, in Preprocessing.
	MissingTokens []string `json:"missing_tokens"`
	Decimal       string   `json:"decimal"`             // the decimal sign in files of text
	Thousands     string   `json:"thousands,omitempty"` // between groups of three digits; absent: nothing
	Dates         string   `json:"dates"`               // the order of dates in files of text: ymd (ISO 8601), dmy or mdy
}

// Preprocessing is one transform of a column before the mechanism.
type Preprocessing struct {
	Column          string         `json:"column"`
	Operation       string         `json:"operation"`
	Parameters      map[string]any `json:"parameters"`
	Source          string         `json:"source"`
	UsesPrivateData bool           `json:"uses_private_data"`
	Epsilon         float64        `json:"epsilon"`
}

// Hazard is a risk to the claim, and the measure against it.
type Hazard struct {
	ID       string `json:"id"`
	Severity string `json:"severity"` // low, medium or high
	Status   string `json:"status"`   // mitigated, accepted or open
	Note     string `json:"note"`
}

// Randomness is the source of noise and batches.
type Randomness struct {
	Generator     string `json:"generator"`
	SeedSource    string `json:"seed_source"`
	SeedReleased  bool   `json:"seed_released"`
	Noise         string `json:"noise"`
	FloatingPoint string `json:"floating_point_statement"`
}

// Utility is the effect of the noise, from public and released values only.
type Utility struct {
	NoiseToSignal float64            `json:"noise_to_signal"` // sqrt(P)/(mu N)
	NoiseShare    map[string]float64 `json:"dp_noise_share"`  // of each parameter's posterior variance
	Note          string             `json:"note"`
	// Whole is the verdict on the whole fit, Verdicts are those on parameters; absent for
	// runs without privacy and for plans.
	Whole    *outputs.Verdict           `json:"verdict,omitempty"`
	Verdicts map[string]outputs.Verdict `json:"verdicts,omitempty"`
}

// Reproducibility has the commands and versions to run and check this again.
type Reproducibility struct {
	Command []string `json:"command"` // flags only; file names are left out
	Spec    string   `json:"spec"`
	Verify  string   `json:"verify"`
}

// Statements are sentences ready to paste.
type Statements struct {
	OneLine   string `json:"one_line"`
	Paragraph string `json:"paragraph"`
	Odds      string `json:"odds"`
}
