package event

import (
	"fmt"
	"slices"
	"strings"
)

// Relation defines which pairs of data sets are neighbours.
type Relation string

const (
	// AddRemove: one data set has one record more than the other.
	AddRemove Relation = "add_remove"
	// Substitute: one record differs, the number of records is the same and public.
	Substitute Relation = "substitute"
	// ZeroOut: one record is replaced by a null record that contributes nothing.
	ZeroOut Relation = "zero_out"
)

// Relations lists every relation in the order in which help texts show them.
func Relations() []Relation { return []Relation{AddRemove, Substitute, ZeroOut} }

// RelationNames lists the names of the relations.
func RelationNames() (names []string) {
	for _, r := range Relations() {
		names = append(names, string(r))
	}
	return names
}

// ParseRelation returns the relation named s.
func ParseRelation(s string) (Relation, error) {
	if !slices.Contains(RelationNames(), s) {
		return "", fmt.Errorf("unknown neighbouring relation %q (use one of %s)", s, strings.Join(RelationNames(), ", "))
	}
	return Relation(s), nil
}
