package simulate

import (
	"slices"
	"strconv"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/dist"
	"d3p/internal/models/law"
	"d3p/internal/models/source"
)

// Inside draws n units as Records, [n x Encoding.Width()], each with as many rows as l states, independent of each
// other. It tells which units have a row that was drawn inside the declared bounds of the observed columns. A record
// outside is at a bound, and is no evidence of a rate far beyond; a unit of several rows has only those inside.
func Inside(m *models.Model, theta []float64, n int, l *law.Law, rng dist.Rand) (units []float64, inside []bool) {
	sizes, total := sizesOf(m, n, l, rng)
	t := At(m, theta, total, l, rng)
	within := slices.Repeat([]bool{true}, total)
	for _, i := range t.Clamped {
		within[i] = false
	}
	rows, k := Encode(m, t, total), m.Encoding.K
	if sizes == nil {
		return rows, within
	}
	inside = make([]bool, n)
	var kept []float64
	for i, size := range sizes {
		kept = kept[:0]
		for r := range size {
			if within[r] {
				kept = append(kept, rows[r*k:(r+1)*k]...)
			}
		}
		if inside[i] = len(kept) > 0; inside[i] {
			units = m.Encoding.AppendUnit(units, kept)
		} else {
			units = append(units, make([]float64, m.Encoding.Width())...)
		}
		rows, within = rows[size*k:], within[size:]
	}
	return units, inside
}

// WithErrors draws n units as Records of a model whose response is normal, with errors errorOf(w) of normals w:
// [n x Encoding.Width()].
func WithErrors(m *models.Model, theta []float64, n int, l *law.Law, rng dist.Rand, errorOf func(w float64) float64) (units []float64) {
	sizes, total := sizesOf(m, n, l, rng)
	rows, k := Encode(m, draw(m, theta, total, l, rng, errors{rng, errorOf}), total), m.Encoding.K
	if sizes == nil {
		return rows
	}
	for _, size := range sizes {
		units = m.Encoding.AppendUnit(units, rows[:size*k])
		rows = rows[size*k:]
	}
	return units
}

type errors struct {
	dist.Rand
	of func(w float64) float64
}

func (e errors) Normal() float64 { return e.of(e.Rand.Normal()) }

// sizesOf draws the numbers of rows of n units, nil where each has one, and how many rows that makes together.
// Each number is equally likely where l has no shares of them.
func sizesOf(m *models.Model, n int, l *law.Law, rng dist.Rand) (sizes []int, total int) {
	most := m.Encoding.RowsPerUnit
	if most <= 1 {
		return nil, n
	}
	sizes = make([]int, n)
	for i := range sizes {
		if l.Rows == nil {
			sizes[i] = 1 + int(rng.Uniform()*float64(most))
		} else {
			left := rng.Uniform()
			for sizes[i] = 1; sizes[i] < len(l.Rows) && left >= l.Rows[sizes[i]-1]; sizes[i]++ {
				left -= l.Rows[sizes[i]-1]
			}
		}
		total += sizes[i]
	}
	return sizes, total
}

// Units is Prior for n units: where units have ids, each gets from one
// to all of the rows that it may have, each number equally likely, and the table
// a first column that names the unit.
func Units(m *models.Model, n int, rng dist.Rand) (Table, []float64) {
	unit := &m.Spec.Data.Unit
	if !unit.ID.IsSet() {
		return Prior(m, n, rng)
	}
	id := &data.Column{Name: unit.ID, Type: source.Value[string]{V: data.Category}}
	var units []float64
	for i := range n {
		id.Levels = append(id.Levels, source.Value[string]{V: strconv.Itoa(i + 1)})
		for range 1 + rng.Uint64()%uint64(unit.RowsPerUnit.V) {
			units = append(units, float64(i))
		}
	}
	t, theta := Prior(m, len(units), rng)
	t.Columns = append([]*data.Column{id}, t.Columns...)
	t.Values, t.Shape = append([][]float64{units}, t.Values...), nil
	return t, theta
}
