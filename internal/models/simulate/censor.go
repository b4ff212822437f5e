package simulate

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/dist"
)

// followUp is the distribution of times at which the observation of records ends.
type followUp struct {
	times []float64 // in rising order
	still []float64 // the share of records whose observation goes on behind each of them
}

// followUpOf is the Kaplan-Meier estimate of when observations end: later than at the times of records with event 1.
func followUpOf(times, event []float64) followUp {
	order := make([]int, len(times))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(times[i], times[j]), cmp.Compare(event[j], event[i])) })
	var f followUp
	still := 1.
	for rank, i := range order {
		if event[i] != 1 {
			still *= 1 - 1/float64(len(order)-rank)
			f.times, f.still = append(f.times, times[i]), append(f.still, still)
		}
	}
	return f
}

// draw draws the end of an observation that goes on at time from, +Inf for one behind all known ends.
func (f followUp) draw(from float64, rng dist.Rand) float64 {
	u := rng.Uniform()
	if i := sort.SearchFloat64s(f.times, from); i > 0 {
		u *= f.still[i-1]
	}
	if i := sort.Search(len(f.still), func(i int) bool { return f.still[i] <= u }); i < len(f.times) {
		return f.times[i]
	}
	return math.Inf(1)
}

// censoring is how a censored observation ends.
type censoring struct {
	event, entry *data.Column // entry: nil where all begin at the lower bound
	ends         followUp
}

// censoringOf is the censoring of observation i of a table whose columns have their law; nil if none is censored.
// The observation of a record ends independently of its time.
func (s *sampler) censoringOf(i int, t *Table) *censoring {
	o := &s.m.Observed[i]
	if len(o.Columns) != 1 || o.Columns[0].Derive != nil {
		return nil
	}
	c := new(censoring)
	switch d := o.Density.(type) {
	case dist.Censored:
		c.event = s.m.Spec.Data.Column(d.Column)
	case dist.Truncated:
		c.event = s.m.Spec.Data.Column(d.EventColumn)
		if entry := s.m.Spec.Data.Column(d.LowerColumn); entry != nil {
			if _, ok := s.at[entry.HeaderName()]; ok {
				c.entry = entry
			}
		}
	}
	if c.event == nil || c.event.Derive != nil || slices.ContainsFunc(s.m.Observed, func(o models.Observation) bool { return slices.Contains(o.Columns, c.event) }) {
		return nil
	}
	c.ends = followUpOf(t.Values[s.at[o.Columns[0].HeaderName()]], t.Values[s.at[c.event.HeaderName()]])
	return c
}

// censor ends the observation of n drawn values of observation i, if that is censored, and at most at the upper
// bound. So the likelihood has a score of mean zero on such records.
func (s *sampler) censor(i int, t *Table, first, n int, rng dist.Rand) {
	c := s.censored[i]
	if c == nil {
		return
	}
	column := s.m.Observed[i].Columns[0]
	known := t.Values[s.at[c.event.HeaderName()]][first : first+n]
	times := t.Values[s.at[column.HeaderName()]][first : first+n]
	for b := range times {
		start := column.Lower.V
		if c.entry != nil {
			start = t.Values[s.at[c.entry.HeaderName()]][first+b]
		}
		stop := min(c.ends.draw(start, rng), column.Upper.V)
		known[b] = 1
		if times[b] > stop || times[b] >= column.Upper.V {
			known[b], times[b] = 0, declared(column, min(times[b], stop))
		}
	}
}

// isCensored reports whether an observation ends at its column's upper bound.
func isCensored(o *models.Observation) bool {
	switch o.Density.(type) {
	case dist.Censored, dist.Truncated:
		return true
	}
	return false
}
