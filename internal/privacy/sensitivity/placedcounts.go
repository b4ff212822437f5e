package sensitivity

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"d3p/internal/privacy"
)

// A PlacedResult is the result of AttackPlacedCounts: the number of cases, and in Counted the number
// of those that counted the record.
type PlacedResult struct{ Cases, Counted int }

// AttackPlacedCounts searches for a record that moves a table of placed counts by more than 1 in
// L1, lowers a count, or causes an error. Claim 28 of docs/privacy.md says that none
// exists. It varies the record (undeclared values included), the other records, their
// order and the parameters. open makes the placer for given parameters.
func AttackPlacedCounts(m Model, open func(theta []float64) (privacy.Placer, error), rng *rand.Rand, more func(PlacedResult) bool) (p PlacedResult, err error) {
	target := Target{Model: m, Precision: privacy.Float64}
	s, err := target.search(rng)
	if err != nil {
		return p, err
	}
	most := max(1, m.Encoding.RowsPerUnit)
	for more(p) {
		wildly := rng.IntN(4) == 0
		c := s.draw(wildly)
		placer, err := open(c.Theta)
		if err != nil {
			return p, err
		}
		records := s.company(&c, wildly)
		place := rng.IntN(len(records) + 1)
		without, err := s.placed(records, most, placer)
		if err != nil {
			return p, err
		}
		with, err := s.placed(slices.Insert(slices.Clone(records), place, c.Record), most, placer)
		if err != nil {
			return p, err
		}
		p.Cases++
		counted := false
		for i := range with {
			moved, least := 0.0, 0.0
			for j := range with[i] {
				by := with[i][j] - without[i][j]
				moved, least = moved+math.Abs(by), min(least, by)
			}
			if !(moved <= 1+1e-9) || least < -1e-9 {
				return p, fmt.Errorf("a record at place %d of %d moves table %d by %.17g, a count by %.17g: record %v, parameters %.17g",
					place, len(records)+1, i, moved, least, c.Record, c.Theta)
			}
			counted = counted || moved > 0.5
		}
		if counted {
			p.Counted++
		}
	}
	return p, nil
}

// company are other records of a case's table: none, some that differ from its record in
// little, or a crowd.
func (s *search) company(c *Case, wildly bool) (records [][]float64) {
	n := s.rng.IntN(8)
	if s.rng.IntN(8) == 0 && s.Tape.P <= largeTape/16 {
		n = crowd
	}
	for i := range n {
		switch {
		case i >= 8:
			records = append(records, records[s.rng.IntN(8)])
		case s.rng.IntN(2) == 0:
			records = append(records, s.mutated(c, wildly).Record)
		default:
			records = append(records, s.draw(wildly).Record)
		}
	}
	return records
}

// placed are the counts of valid records. A panic of the placer is an error.
func (s *search) placed(records [][]float64, most int, placer privacy.Placer) (counts [][]float64, err error) {
	valid := slices.Repeat([]bool{true}, len(records))
	rows, err := s.rows(records, valid)
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			err = errors.Join(err, fmt.Errorf("panic: %v: records %v", r, records))
		}
	}()
	return privacy.CountPublic(rows, most, placer)
}
