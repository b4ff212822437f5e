package simulate

import (
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/dist"
)

// censor ends the observation of n drawn values of observation i, if that is censored, at
// times independent of the values: uniform up to a common limit, and at most the upper
// bound. With that limit about as many values are known as the event's column had. So the
// likelihood has a score of mean zero on such records. Times that begin at an entry of each
// record are censored from that entry on.
func (s *sampler) censor(i int, t Table, first, n int, rng dist.Rand) {
	o := &s.m.Observed[i]
	if len(o.Columns) != 1 || o.Columns[0].Derive != nil {
		return
	}
	var event *data.Column
	var entries []float64 // nil: all begin at the lower bound
	switch d := o.Density.(type) {
	case dist.Censored:
		event = s.m.Spec.Data.Column(d.Column)
	case dist.Truncated:
		event = s.m.Spec.Data.Column(d.EventColumn)
		if at, ok := s.at[headerOf(s.m.Spec.Data.Column(d.LowerColumn))]; ok {
			entries = t.Values[at][first : first+n]
		}
	}
	if event == nil || event.Derive != nil || slices.ContainsFunc(s.m.Observed, func(o models.Observation) bool { return slices.Contains(o.Columns, event) }) {
		return
	}
	known := t.Values[s.at[event.HeaderName()]][first : first+n]
	times := t.Values[s.at[o.Columns[0].HeaderName()]][first : first+n]
	uniform, ratios, events := make([]float64, n), make([]float64, n), 0
	end := o.Columns[0].Upper.V
	start := func(b int) float64 {
		if entries == nil {
			return o.Columns[0].Lower.V
		}
		return entries[b]
	}
	for b, x := range known {
		if x == 1 {
			events++
		}
		uniform[b] = rng.Uniform()
		ratios[b] = (times[b] - start(b)) / uniform[b]
	}
	if events == n {
		return
	}
	slices.Sort(ratios)
	limit := 0.
	if events > 0 {
		limit = ratios[events-1]
	}
	for b := range times {
		stop := min(start(b)+limit*uniform[b], end)
		known[b] = 0
		if times[b] <= stop && times[b] < end {
			known[b] = 1
		} else {
			times[b] = declared(o.Columns[0], min(times[b], stop))
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

// headerOf is the name of a column in a table; "" for none.
func headerOf(c *data.Column) string {
	if c == nil {
		return ""
	}
	return c.HeaderName()
}
