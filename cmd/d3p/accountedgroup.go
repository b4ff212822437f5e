package main

import (
	"errors"
	"fmt"
	"io"

	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
)

// groupEntry is what a run costs a group of records, at the run's delta.
type groupEntry struct {
	Size         int      `json:"size"`
	EpsilonLower float64  `json:"epsilon_lower"`
	EpsilonUpper float64  `json:"epsilon_upper"` // the claim
	Engine       string   `json:"engine"`        // "lemma": a general bound, which may be far above the exact value
	Certified    bool     `json:"certified"`
	Notes        []string `json:"notes"`
}

// addGroup computes the epsilon of a group of so many records, where it was asked for.
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
		return usagef("--group: %d is not a number of records from 1 to %d", size, accountant.MostGroup)
	}
	return nil
}

func (g *groupEntry) print(w io.Writer) {
	exact := fmt.Sprintf("certified; exact value in [%s, %s]", roundDown(g.EpsilonLower), roundUp(g.EpsilonUpper))
	if !g.Certified {
		exact = "a valid but loose bound"
	}
	fmt.Fprintf(w, "a group of up to %d records at once: epsilon <= %s (%s)\n", g.Size, roundUp(g.EpsilonUpper), exact)
	for _, n := range g.Notes {
		fmt.Fprintf(w, "  note: %s\n", n)
	}
}
