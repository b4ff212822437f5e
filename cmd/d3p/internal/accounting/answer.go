package accounting

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"d3p/cmd/d3p/internal/terminal"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/status"
)

// Answer is the JSON result of account and sigma.
type Answer struct {
	EpsilonLower    float64        `json:"epsilon_lower"`
	Epsilon         float64        `json:"epsilon"`          // the claim: the upper bound
	EpsilonUpper    float64        `json:"epsilon_upper"`    // the same
	EpsilonEstimate float64        `json:"epsilon_estimate"` // between the bounds; itself no bound
	RelativeWidth   float64        `json:"relative_width"`   // width of the bracket; a wide one has a note
	Delta           float64        `json:"delta"`
	Sampling        string         `json:"sampling"`
	Relation        string         `json:"relation"`
	GroupSize       int            `json:"group_size,omitempty"` // number of records in the group; 0: one record
	SamplingRate    float64        `json:"sampling_rate"`
	NoiseMultiplier float64        `json:"noise_multiplier"`
	Steps           int64          `json:"steps"`
	Scheduled       bool           `json:"scheduled,omitempty"` // public factors of the rate or the noise by step are priced, too
	Engine          string         `json:"engine"`
	Certified       bool           `json:"certified"`
	Seconds         float64        `json:"seconds"`
	Directions      []Direction    `json:"directions"`
	AttackLower     *float64       `json:"attack_lower_bound,omitempty"` // set if an attack shows how loose the bound can be
	Renyi           *renyiEntry    `json:"rdp,omitempty"`                // the looser cross-check, if there is one
	Other           *otherRelation `json:"other_relation,omitempty"`
	Group           *groupEntry    `json:"group,omitempty"` // set by --group
	Risk            *riskEntry     `json:"risk,omitempty"`
	Notes           []string       `json:"notes"`
	Warnings        []string       `json:"warnings"`
}

// Direction is the answer for one order of the neighbours.
type Direction struct {
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

// otherRelation is the price of the same run under the other relation, so that nobody
// quotes one price where the other applies.
type otherRelation struct {
	Relation     string   `json:"relation"`
	EpsilonLower *float64 `json:"epsilon_lower"`
	EpsilonUpper *float64 `json:"epsilon_upper"` // null: no price, with the reason in why
	Why          string   `json:"why,omitempty"`
}

// Directions are the answers for both orders of the neighbours.
func Directions(ds []accountant.Direction) []Direction {
	entries := make([]Direction, len(ds))
	for i, d := range ds {
		entries[i] = Direction{d.Name, d.Engine, d.Lower, d.Estimate, d.Upper}
	}
	return entries
}

// Account fills in the epsilon at delta, its cross-check and the other relation.
func (r *Answer) Account(ev event.Event, rel event.Relation, delta float64) error {
	beside := r.besides(ev, rel, delta)
	answer, err := accountant.Epsilon(ev, rel, delta)
	if err != nil {
		return err
	}
	r.fill(answer, rel, delta)
	beside()
	return nil
}

// Fill copies the answer for the event. The answer is about r.GroupSize records.
func (r *Answer) Fill(answer accountant.Answer, ev event.Event, rel event.Relation, delta float64) {
	beside := r.besides(ev, rel, delta)
	r.fill(answer, rel, delta)
	beside()
}

func (r *Answer) fill(answer accountant.Answer, rel event.Relation, delta float64) {
	r.EpsilonLower, r.Epsilon, r.EpsilonUpper, r.EpsilonEstimate = answer.Lower, answer.Upper, answer.Upper, answer.Estimate
	r.RelativeWidth = answer.RelativeWidth()
	r.Relation, r.Delta, r.Engine, r.Certified, r.Seconds = string(rel), delta, answer.Engine, answer.Certified, answer.Seconds
	r.Directions, r.Notes = Directions(answer.Directions), append([]string{}, answer.Notes...)
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
}

// besides starts the cross-check and the other relation in the background; wait puts the
// results in r.
func (r *Answer) besides(ev event.Event, rel event.Relation, delta float64) (wait func()) {
	size := max(1, r.GroupSize)
	renyi, other := make(chan *renyiEntry, 1), make(chan *otherRelation, 1)
	go func() { renyi <- crossCheck(ev, rel, size, delta) }()
	go func() { other <- underOther(ev, rel, size, delta) }()
	return func() { r.Renyi, r.Other = <-renyi, <-other }
}

// crossCheck is the Rényi bound; nil for groups and for pairs without such a bound.
func crossCheck(ev event.Event, rel event.Relation, size int, delta float64) *renyiEntry {
	if size > 1 {
		return nil
	}
	renyi, err := accountant.Renyi(ev, rel, delta)
	if err != nil || math.IsInf(renyi.Epsilon, 1) {
		return nil
	}
	return &renyiEntry{renyi.Epsilon, renyi.Order}
}

// underOther is the price under the other relation.
func underOther(ev event.Event, rel event.Relation, size int, delta float64) *otherRelation {
	other := event.Substitute
	if rel == event.Substitute {
		other = event.AddRemove
	}
	if event.OfOneRelation(ev) {
		return &otherRelation{Relation: string(other), Why: fmt.Sprintf("a step is given by its guarantee under %s alone", rel)}
	}
	answer, err := accountant.Outline(ev, other, size, delta)
	if err != nil {
		return &otherRelation{Relation: string(other), Why: err.Error()}
	}
	return &otherRelation{Relation: string(other), EpsilonLower: &answer.Lower, EpsilonUpper: &answer.Upper}
}

// Print writes the result for people.
func (r *Answer) Print(w io.Writer) {
	certified := "certified"
	if !r.Certified {
		certified = "a valid but loose bound"
	}
	fmt.Fprintf(w, "epsilon <= %s (%s; exact value in [%s, %s]) at delta = %v\n",
		terminal.AtMost(r.EpsilonUpper), certified, terminal.AtLeast(r.EpsilonLower), terminal.AtMost(r.EpsilonUpper), r.Delta)
	r.PrintDetails(w)
}

// PrintDetails writes everything but the claim.
func (r *Answer) PrintDetails(w io.Writer) {
	what := r.Sampling
	switch {
	case r.Steps > 0 && r.NoiseMultiplier == 0:
		what = "one draw of the posterior"
	case r.Steps > 0:
		what = fmt.Sprintf("%s batches, q = %v, noise multiplier %v, %d steps", r.Sampling, r.SamplingRate, r.NoiseMultiplier, r.Steps)
		if r.Scheduled {
			what += ", with the factors of the run's schedule"
		}
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

// groupEntry is the price of a run for a group of records, at the run's delta.
type groupEntry struct {
	Size         int      `json:"size"`
	EpsilonLower float64  `json:"epsilon_lower"`
	EpsilonUpper float64  `json:"epsilon_upper"` // the claim
	Engine       string   `json:"engine"`        // "lemma" for a general bound, which may be far above the exact value
	Certified    bool     `json:"certified"`
	Notes        []string `json:"notes"`
}

// AddGroup computes the epsilon of a group of size records if --group is given.
func (r *Answer) AddGroup(ev event.Event, rel event.Relation, size int) error {
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

// CheckGroup refuses a --group that is out of range.
func CheckGroup(size int) error {
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
