package score

import (
	"math"

	"d3p/internal/models"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/settings"
)

// SideQueries are noisy sums over all records that are bought after the last step, all at
// once: of the loss and of right predictions at some iterates, and of the response's
// levels. Each is a table of counts of an Iterate.
type SideQueries struct {
	Column     string   `json:"column"`     // the response
	Quantities []string `json:"quantities"` // of settings.TraceQuantities
	Steps      []int    `json:"steps"`      // after which the iterates are measured
	Levels     []string `json:"levels,omitempty"`
	LossUnit   float64  `json:"loss_unit"` // the loss that counts as 1
	Noise      float64  `json:"noise"`     // standard deviation of each count's noise
	// Counts are the noisy counts, in the order of Each; nil before they are bought.
	Counts [][]float64 `json:"counts,omitempty"`
}

// mostMeasured iterates are measured.
const mostMeasured = 10

// NewSideQueries are queries of the quantities, about a fit of m with the given number of
// steps, at the price of a Gaussian with parameter mu.
func NewSideQueries(m *models.Model, quantities []string, steps int, mu float64, rel event.Relation) (*SideQueries, error) {
	q := &SideQueries{Quantities: quantities}
	for _, name := range quantities {
		it, err := NewIterate(m, []string{name}, nil)
		if err != nil {
			return nil, err
		}
		q.Column, q.LossUnit, q.Levels = it.Target.Name, it.Unit(), it.Levels()
	}
	parts := min(mostMeasured, steps)
	for k := range parts {
		q.Steps = append(q.Steps, ((k+1)*steps+parts-1)/parts)
	}
	// the noise multiplier is proportional to the noise
	q.Noise = 1
	one := q.Events(rel)[0].(event.Gaussian).NoiseMultiplier
	q.Noise = 1 / (mu * one)
	return q, nil
}

// Iterates are the steps after which the iterates are measured; none for nil.
func (q *SideQueries) Iterates() []int {
	if q == nil {
		return nil
	}
	return q.Steps
}

// Each calls do for every iterate and every quantity measured of it, in order; first for
// the levels, at step 0. Each quantity of an iterate is a table of counts.
func (q *SideQueries) Each(do func(quantities []string, step int)) {
	var predicted []string
	for _, quantity := range q.Quantities {
		if quantity == settings.TraceClasses {
			do([]string{quantity}, 0)
		} else {
			predicted = append(predicted, quantity)
		}
	}
	for _, step := range q.Steps {
		if len(predicted) > 0 {
			do(predicted, step)
		}
	}
}

// each calls do for every table of counts, in order.
func (q *SideQueries) each(do func(quantity string, step int)) {
	q.Each(func(quantities []string, step int) {
		for _, quantity := range quantities {
			do(quantity, step)
		}
	})
}

// Events is the event of all queries together; none for nil. It equals that of
// privacy.Curator.CountPlaced to the last bit.
func (q *SideQueries) Events(rel event.Relation) []event.Event {
	if q == nil {
		return nil
	}
	var tables []privacy.Partition
	q.each(func(string, int) { tables = append(tables, privacy.Partition{Noise: q.Noise}) })
	return []event.Event{privacy.CountsEvent(tables, rel)}
}

// Measured has the quantities bought of an iterate.
type Measured struct {
	Step     int // 0: of no iterate
	Quantity string
	Level    string  // of classes
	Value    float64 // mean loss, share of right predictions, or number of units
	NoiseSD  float64
}

// Measured are the values of the counts. Means are divided by the number of units in all
// tables together.
func (q *SideQueries) Measured() (list []Measured) {
	units, tables, sound := 0.0, 0, true
	at := func(quantity string) (counts []float64) {
		cells := 2
		if quantity == settings.TraceClasses {
			cells = len(q.Levels)
		}
		if tables++; tables > len(q.Counts) || len(q.Counts[tables-1]) != cells {
			sound = false
			return make([]float64, cells)
		}
		return q.Counts[tables-1]
	}
	// a table of c cells has a sum with noise of variance c·Noise²
	weight := 0.0
	q.each(func(quantity string, _ int) {
		counts := at(quantity)
		for _, x := range counts {
			units += x / float64(len(counts))
		}
		weight += 1 / float64(len(counts))
	})
	units = max(units/weight, 1)
	ofUnits := q.Noise / math.Sqrt(weight)
	tables = 0
	q.each(func(quantity string, step int) {
		counts := at(quantity)
		if quantity == settings.TraceClasses {
			for l, x := range counts {
				list = append(list, Measured{step, quantity, q.Levels[l], x, q.Noise})
			}
			return
		}
		unit := 1.0
		if quantity == settings.TraceLoss {
			unit = q.LossUnit
		}
		mean := counts[1] / units
		list = append(list, Measured{step, quantity, "", unit * mean, unit * math.Hypot(q.Noise, mean*ofUnits) / units})
	})
	if !sound {
		return nil
	}
	return list
}
