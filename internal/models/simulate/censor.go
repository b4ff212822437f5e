package simulate

import (
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/dist"
)

// censor ends the observation of n drawn values of observation i, if that is censored, at
// times that have nothing to do with them: uniform ones up to a common limit, and at most
// the upper bound. The limit is the one that leaves about as many values known as the
// event's column said. So the likelihood has a score of mean zero on such records.
func (s *sampler) censor(i int, t Table, first, n int, rng dist.Rand) {
	o := &s.m.Observed[i]
	censored, ok := o.Density.(dist.Censored)
	if !ok || len(o.Columns) != 1 || o.Columns[0].Derive != nil {
		return
	}
	event := s.m.Spec.Data.Column(censored.Column)
	if event == nil || event.Derive != nil || slices.ContainsFunc(s.m.Observed, func(o models.Observation) bool { return slices.Contains(o.Columns, event) }) {
		return
	}
	known := t.Values[s.at[event.HeaderName()]][first : first+n]
	times := t.Values[s.at[o.Columns[0].HeaderName()]][first : first+n]
	uniform, ratios, events := make([]float64, n), make([]float64, n), 0
	start, end := o.Columns[0].Lower.V, o.Columns[0].Upper.V
	for b, x := range known {
		if x == 1 {
			events++
		}
		uniform[b] = rng.Uniform()
		ratios[b] = (times[b] - start) / uniform[b]
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
		stop := min(start+limit*uniform[b], end)
		known[b] = 0
		if times[b] <= stop && times[b] < end {
			known[b] = 1
		} else {
			times[b] = declared(o.Columns[0], min(times[b], stop))
		}
	}
}
