package simulate

import (
	"math"

	"d3p/internal/models"
	"d3p/internal/models/graph"
)

// constraints evaluates conditions, for up to maxB records at a time.
type constraints struct {
	*models.Constraints
	machine *graph.Machine
	rows    []float64
}

func newConstraints(c *models.Constraints, maxB int) *constraints {
	if c == nil {
		return nil
	}
	return &constraints{Constraints: c, machine: graph.NewMachine(c.Tape, maxB)}
}

// met sets ok[b] to whether record b of the table, by all declared columns, meets
// every condition. A condition about a missing value is met, as in SQL.
func (m *constraints) met(ok []bool, values [][]float64) { m.meets(ok, values, -1) }

// meets is met for one condition, or for all when only is -1.
func (m *constraints) meets(ok []bool, values [][]float64, only int) {
	for b := range ok {
		ok[b] = true
	}
	if m == nil {
		return
	}
	k := len(values)
	m.rows = m.rows[:0]
	for b := range ok {
		for _, column := range values {
			m.rows = append(m.rows, column[b])
		}
	}
	m.machine.Globals(nil, nil)
	m.machine.Records(m.rows, k, len(ok), nil)
	for i, reads := range m.Reads {
		if only >= 0 && i != only {
			continue
		}
		out := m.machine.Output(i)
		for b := range ok {
			known := true
			for _, j := range reads {
				known = known && !math.IsNaN(values[j][b])
			}
			ok[b] = ok[b] && (!known || out[b] != 0)
		}
	}
}
