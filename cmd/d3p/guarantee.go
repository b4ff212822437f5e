package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"d3p/cmd/d3p/internal/outfile"
	"d3p/cmd/d3p/internal/status"
	"d3p/cmd/d3p/internal/terminal"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/report"
	"d3p/internal/report/figure"
)

// accounted is the JSON result of account and sigma.
type accounted struct {
	EpsilonLower    float64          `json:"epsilon_lower"`
	Epsilon         float64          `json:"epsilon"`          // the claim: the upper bound
	EpsilonUpper    float64          `json:"epsilon_upper"`    // the same
	EpsilonEstimate float64          `json:"epsilon_estimate"` // between the bounds, and no bound itself
	RelativeWidth   float64          `json:"relative_width"`   // of the bracket; a note says so where it is not narrow
	Delta           float64          `json:"delta"`
	Sampling        string           `json:"sampling"`
	Relation        string           `json:"relation"`
	GroupSize       int              `json:"group_size,omitempty"` // records that all of this is about at once; none: one
	SamplingRate    float64          `json:"sampling_rate"`
	NoiseMultiplier float64          `json:"noise_multiplier"`
	Steps           int64            `json:"steps"`
	Engine          string           `json:"engine"`
	Certified       bool             `json:"certified"`
	Seconds         float64          `json:"seconds"`
	Directions      []directionEntry `json:"directions"`
	AttackLower     *float64         `json:"attack_lower_bound,omitempty"` // when an explicit attack shows how loose the bound can be
	Renyi           *renyiEntry      `json:"rdp,omitempty"`                // the looser cross-check, where it exists
	Other           *otherRelation   `json:"other_relation,omitempty"`
	Group           *groupEntry      `json:"group,omitempty"` // of --group
	Risk            *riskEntry       `json:"risk,omitempty"`
	Notes           []string         `json:"notes"`
	Warnings        []string         `json:"warnings"`
}

type directionEntry struct {
	Name         string  `json:"name"`
	Engine       string  `json:"engine"`
	EpsilonLower float64 `json:"lower"`
	Epsilon      float64 `json:"estimate"`
	EpsilonUpper float64 `json:"upper"`
}

type renyiEntry struct {
	Epsilon float64 `json:"epsilon_upper"`
	Order   float64 `json:"order"`
}

// otherRelation is the same run under the relation that was not asked for, so
// that nobody quotes the one where the other applies.
type otherRelation struct {
	Relation     string   `json:"relation"`
	EpsilonLower *float64 `json:"epsilon_lower"`
	EpsilonUpper *float64 `json:"epsilon_upper"` // null: no accounting, see why
	Why          string   `json:"why,omitempty"`
}

// riskEntry is what an attacker can do; every rate is an upper bound.
type riskEntry struct {
	Advantage float64            `json:"advantage"`
	Mu        float64            `json:"dominating_mu"`
	Regret    float64            `json:"regret"`
	TPR       map[string]float64 `json:"tpr_at_fpr"`
	Belief    []report.Belief    `json:"posterior_belief"`
	Curve     []report.Point     `json:"curve"`
}

func directionEntries(ds []accountant.Direction) []directionEntry {
	entries := make([]directionEntry, len(ds))
	for i, d := range ds {
		entries[i] = directionEntry{d.Name, d.Engine, d.Lower, d.Estimate, d.Upper}
	}
	return entries
}

// answer fills in the epsilon at delta, its cross-check and the other relation.
func (r *accounted) answer(ev event.Event, rel event.Relation, delta float64) error {
	answer, err := accountant.Epsilon(ev, rel, delta)
	if err != nil {
		return err
	}
	r.fill(answer, ev, rel, delta)
	return nil
}

// fill takes over the answer for the event, which is about r.GroupSize records.
func (r *accounted) fill(answer accountant.Answer, ev event.Event, rel event.Relation, delta float64) {
	r.EpsilonLower, r.Epsilon, r.EpsilonUpper, r.EpsilonEstimate = answer.Lower, answer.Upper, answer.Upper, answer.Estimate
	r.RelativeWidth = answer.RelativeWidth()
	r.Relation, r.Delta, r.Engine, r.Certified, r.Seconds = string(rel), delta, answer.Engine, answer.Certified, answer.Seconds
	r.Directions, r.Notes = directionEntries(answer.Directions), append([]string{}, answer.Notes...)
	r.Warnings = []string{}
	for _, d := range answer.Directions {
		if strings.HasPrefix(d.Name, "attack") && (r.AttackLower == nil || d.Lower > *r.AttackLower) {
			lower := d.Lower
			r.AttackLower = &lower
		}
	}
	if r.AttackLower != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("fixed-size batches under substitution: proven at most %s; an explicit attack reaches %s", terminal.AtMost(r.EpsilonUpper), terminal.AtLeast(*r.AttackLower)))
	}
	if renyi, err := accountant.Renyi(ev, rel, delta); r.GroupSize <= 1 && err == nil && !math.IsInf(renyi.Epsilon, 1) {
		r.Renyi = &renyiEntry{renyi.Epsilon, renyi.Order}
	}
	other := event.Substitute
	if rel == event.Substitute {
		other = event.AddRemove
	}
	r.Other = &otherRelation{Relation: string(other)}
	if answer, err := accountant.Outline(ev, other, max(1, r.GroupSize), delta); err != nil {
		r.Other.Why = err.Error()
	} else {
		r.Other.EpsilonLower, r.Other.EpsilonUpper = &answer.Lower, &answer.Upper
	}
}

// addRisk computes the curve where it was asked for, and draws it.
func (r *accounted) addRisk(ev event.Event, rel event.Relation, o *accountOptions) error {
	if !o.risk && o.plot == "" && o.curve == "" {
		return nil
	}
	format := strings.TrimPrefix(filepath.Ext(o.plot), ".")
	if o.plot != "" && !slices.Contains(figure.Formats(), format) {
		return status.Usagef("--plot: %s: name the figure .%s", o.plot, strings.Join(figure.Formats(), " or ."))
	}
	c, err := accountant.NewCurve(ev, rel)
	if err != nil {
		return err
	}
	r.Risk = riskOf(c)
	if o.plot != "" {
		var b bytes.Buffer
		page, err := report.CurvePage(c, report.Point{Epsilon: r.EpsilonUpper, Delta: r.Delta})
		if err == nil {
			err = page.Write(&b, format)
		}
		if err == nil {
			err = outfile.Write(o.plot, b.Bytes())
		}
		if err != nil {
			return status.With(status.Numeric, err)
		}
	}
	if o.curve != "" {
		return status.With(status.Numeric, writeCurves(o.curve, c, ev, rel))
	}
	return nil
}

func riskOf(c *accountant.Curve) *riskEntry {
	e := &riskEntry{Advantage: c.Advantage(), TPR: map[string]float64{}}
	e.Mu, e.Regret = c.DominatingMu()
	for _, fpr := range []float64{0.001, 0.01, 0.05, 0.1} {
		e.TPR[strconv.FormatFloat(fpr, 'g', -1, 64)] = c.TPR(fpr)
	}
	for _, prior := range []float64{0.01, 0.1, 0.5} {
		e.Belief = append(e.Belief, report.Belief{Prior: prior, AtFPR: 0.01, MaxPosterior: c.Belief(prior, 0.01)})
	}
	for delta := 1e-2; delta > 1e-13; delta /= 10 {
		delta := math.Pow(10, math.Round(math.Log10(delta)))
		if eps := c.Epsilon(delta); !math.IsInf(eps, 1) {
			e.Curve = append(e.Curve, report.Point{Epsilon: eps, Delta: delta})
		}
	}
	return e
}

// print writes the result for people.
func (r *accounted) print(w io.Writer) {
	certified := "certified"
	if !r.Certified {
		certified = "a valid but loose bound"
	}
	fmt.Fprintf(w, "epsilon <= %s (%s; exact value in [%s, %s]) at delta = %v\n",
		terminal.AtMost(r.EpsilonUpper), certified, terminal.AtLeast(r.EpsilonLower), terminal.AtMost(r.EpsilonUpper), r.Delta)
	r.printDetails(w)
}

// printDetails writes all but the claim.
func (r *accounted) printDetails(w io.Writer) {
	what := r.Sampling
	if r.Steps > 0 {
		what = fmt.Sprintf("%s batches, q = %v, noise multiplier %v, %d steps", r.Sampling, r.SamplingRate, r.NoiseMultiplier, r.Steps)
	}
	neighbours := "neighbours"
	if r.GroupSize > 1 {
		neighbours = fmt.Sprintf("neighbours that differ in up to %d records", r.GroupSize)
	}
	fmt.Fprintf(w, "%s, %s %s\n", what, r.Relation, neighbours)
	for _, d := range r.Directions {
		fmt.Fprintf(w, "  %-14s [%s, %s]  %s\n", d.Name, terminal.AtLeast(d.EpsilonLower), terminal.AtMost(d.EpsilonUpper), d.Engine)
	}
	if r.Renyi != nil {
		fmt.Fprintf(w, "  %-14s <= %s at order %v, looser\n", "rdp", terminal.AtMost(r.Renyi.Epsilon), r.Renyi.Order)
	}
	if o := r.Other; o != nil && o.EpsilonUpper != nil {
		fmt.Fprintf(w, "the same run under %s: epsilon <= %s\n", o.Relation, terminal.AtMost(*o.EpsilonUpper))
	} else if o != nil {
		fmt.Fprintf(w, "the same run under %s: no epsilon: %s\n", o.Relation, o.Why)
	}
	if r.Group != nil {
		r.Group.print(w)
	}
	if r.Risk != nil {
		r.Risk.print(w)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	for _, n := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", n)
	}
}

func (e *riskEntry) print(w io.Writer) {
	fmt.Fprintf(w, "attacker: advantage <= %s; covered by mu-GDP with mu = %s (regret %s)\n", terminal.AtMost(e.Advantage), terminal.AtMost(e.Mu), terminal.AtMost(e.Regret))
	for _, fpr := range []string{"0.001", "0.01", "0.05", "0.1"} {
		fmt.Fprintf(w, "  true-positive rate <= %s at false-positive rate %s\n", terminal.AtMost(e.TPR[fpr]), fpr)
	}
	for _, b := range e.Belief {
		fmt.Fprintf(w, "  belief from %v to at most %s at false-positive rate %v\n", b.Prior, terminal.AtMost(b.MaxPosterior), b.AtFPR)
	}
}

// groupEntry is what a run costs a group of records, at the run's delta.
type groupEntry struct {
	Size         int      `json:"size"`
	EpsilonLower float64  `json:"epsilon_lower"`
	EpsilonUpper float64  `json:"epsilon_upper"` // the claim
	Engine       string   `json:"engine"`        // "lemma": a general bound, which may be far above the exact value
	Certified    bool     `json:"certified"`
	Notes        []string `json:"notes"`
}

// addGroup computes the epsilon of a group of size records, if --group asks for it.
func (r *accounted) addGroup(ev event.Event, rel event.Relation, size int) error {
	if size == 0 {
		return nil
	}
	var unsupported *accountant.UnsupportedError
	answer, err := accountant.GroupEpsilon(ev, rel, size, r.Delta)
	if errors.As(err, &unsupported) {
		answer, err = accountant.GroupLemma(ev, rel, size, r.Delta)
		answer.Notes = append(answer.Notes, fmt.Sprintf("this is the general lemma on groups, which may be far above the exact value: %v", unsupported))
	}
	if err != nil {
		return err
	}
	r.Group = &groupEntry{size, answer.Lower, answer.Upper, answer.Engine, answer.Certified, append([]string{}, answer.Notes...)}
	return nil
}

// checkGroup reports a --group that is out of range.
func checkGroup(size int) error {
	if size < 0 || size > accountant.MostGroup {
		return status.Usagef("--group: %d is not a number of records from 1 to %d", size, accountant.MostGroup)
	}
	return nil
}

func (g *groupEntry) print(w io.Writer) {
	exact := fmt.Sprintf("certified; exact value in [%s, %s]", terminal.AtLeast(g.EpsilonLower), terminal.AtMost(g.EpsilonUpper))
	if !g.Certified {
		exact = "a valid but loose bound"
	}
	fmt.Fprintf(w, "a group of up to %d records at once: epsilon <= %s (%s)\n", g.Size, terminal.AtMost(g.EpsilonUpper), exact)
	for _, n := range g.Notes {
		fmt.Fprintf(w, "  note: %s\n", n)
	}
}
