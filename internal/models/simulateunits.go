package models

import (
	"strconv"

	"d3p/internal/models/data"
	"d3p/internal/models/dist"
	"d3p/internal/models/source"
)

// SimulateUnits is Simulate for n units: where units have ids, each gets from one
// to all of the rows that it may have, each number equally likely, and the table
// a first column that names the unit.
func (m *Model) SimulateUnits(n int, rng dist.Rand) (Table, []float64) {
	unit := &m.Spec.Data.Unit
	if !unit.ID.IsSet() {
		return m.Simulate(n, rng)
	}
	id := &data.Column{Name: unit.ID, Type: source.Value[string]{V: data.Category}}
	var units []float64
	for i := range n {
		id.Levels = append(id.Levels, source.Value[string]{V: strconv.Itoa(i + 1)})
		for range 1 + rng.Uint64()%uint64(unit.RowsPerUnit.V) {
			units = append(units, float64(i))
		}
	}
	t, theta := m.Simulate(len(units), rng)
	t.Columns = append([]*data.Column{id}, t.Columns...)
	t.Values, t.Shape = append([][]float64{units}, t.Values...), nil
	return t, theta
}
