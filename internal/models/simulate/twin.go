package simulate

import (
	"fmt"
	"strings"

	"d3p/internal/models"
	"d3p/internal/models/dist"
)

// Twin draws synthetic tables: whole records from the model's distribution of a
// record, which meet its constraints.
type Twin struct {
	sampler  *sampler
	all      Table // for all declared columns, and the number of records drawn at a time
	keep     []int // the columns that the model describes
	met      *constraints
	accepted []bool
}

// NewTwin prepares synthetic tables. It returns an error if the model does not describe
// whole records: a regression has no law of its predictors.
func NewTwin(m *models.Model) (*Twin, error) {
	if given := m.Given(); len(given) > 0 {
		return nil, fmt.Errorf("the model has no distribution of %s, so it has no synthetic records; write a twin: or core: block that observes every column", listed(given))
	}
	if _, err := m.Ancestral(); err != nil {
		return nil, err
	}
	columns := m.Spec.Data.AllColumns()
	sampler := newSampler(m, columns)
	t := &Twin{
		sampler: sampler, met: newConstraints(m.Constraints, sampler.together),
		all: Table{Columns: columns}, accepted: make([]bool, sampler.together),
	}
	for range columns {
		t.all.Values = append(t.all.Values, make([]float64, sampler.together))
	}
	for i, c := range columns {
		for _, f := range m.Encoding.Fields {
			if f.Column == c.HeaderName() {
				t.keep = append(t.keep, i)
				break
			}
		}
	}
	return t, nil
}

// listed writes some names of a list.
func listed(names []string) string {
	const most = 5
	if len(names) > most {
		names = append(names[:most:most], fmt.Sprintf("%d more", len(names)-most))
	}
	return strings.Join(names, ", ")
}

// Table returns a table of n records, all zero, for Draw to fill in.
func (t *Twin) Table(n int) Table {
	var out Table
	for _, i := range t.keep {
		out.Columns = append(out.Columns, t.all.Columns[i])
		out.Values = append(out.Values, make([]float64, n))
	}
	out.Shape = shapeOf(t.sampler.m, out.Columns)
	return out
}

// ExpectArrays sets every array of later records, such as an image, to its expected value
// given the rest of the record and its local latents, if it has one: the output of a
// decoder for a code.
func (t *Twin) ExpectArrays() { t.sampler.expectArrays = true }

// hopeless is the number of records in a row that Draw draws in vain before it gives up.
const hopeless = 100000

// Draw fills in records first to first+n-1 of a table made by Table at the
// unconstrained parameters theta. Records that do not meet the constraints are
// drawn again; it returns an error when hardly any does.
func (t *Twin) Draw(out Table, first, n int, theta []float64, rng dist.Rand) error {
	t.sampler.predictive.Set(theta)
	vain := 0
	for n > 0 {
		size := t.sampler.together
		if t.met == nil {
			size = min(size, n)
		}
		t.all.Clamped = t.all.Clamped[:0]
		t.sampler.draw(&t.all, 0, size, rng)
		t.met.met(t.accepted[:size], t.all.Values)
		for b := 0; b < size && n > 0; b++ {
			if !t.accepted[b] {
				vain++
				continue
			}
			vain = 0
			for k, i := range t.keep {
				out.Values[k][first] = t.all.Values[i][b]
			}
			first++
			n--
		}
		if vain >= hopeless {
			return fmt.Errorf("none of %d synthetic records in a row meets the constraints: they contradict the fitted model", vain)
		}
	}
	return nil
}

// Met sets ok[b] to whether record b meets one constraint of Conditions, or all of them
// when only is -1. values has all declared columns, in the units of the file. A record
// without a value meets every constraint on that column.
func (t *Twin) Met(ok []bool, values [][]float64, only int) {
	part := make([][]float64, len(values))
	for first := 0; first < len(ok); first += t.sampler.together {
		next := min(len(ok), first+t.sampler.together)
		for k := range values {
			part[k] = values[k][first:next]
		}
		t.met.meets(ok[first:next], part, only)
	}
}

// Conditions are the constraints, each as the columns that it reads, by index of the
// declared columns.
func (t *Twin) Conditions() [][]int {
	if t.met == nil {
		return nil
	}
	return t.met.Reads
}
