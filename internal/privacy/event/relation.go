package event

import "fmt"

// Relation says which pairs of data sets count as neighbours.
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

// ParseRelation returns the relation named s. A hyphen may stand for the underscore.
func ParseRelation(s string) (Relation, error) {
	switch s {
	case "add_remove", "add-remove":
		return AddRemove, nil
	case "substitute":
		return Substitute, nil
	case "zero_out", "zero-out":
		return ZeroOut, nil
	}
	return "", fmt.Errorf("unknown neighbouring relation %q (use add_remove, substitute or zero_out)", s)
}
