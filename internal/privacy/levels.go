package privacy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"d3p/internal/models/encoding"
	"d3p/internal/privacy/accountant/numeric"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// Level is a text of a column, with the noisy number of units that have it.
type Level struct {
	Name  string  `json:"name"`
	Count float64 `json:"count"`
}

// LevelQuery asks which texts of a column enough units have. The weight of a unit is 1, in equal
// parts on its rows with a text.
type LevelQuery struct {
	Column string
	Noise  float64 // standard deviation of every count's noise
	Delta  float64 // bounds the probability that a text of one unit alone is released
}

// Threshold is the least noisy count with which a text is released, for units of at most k rows
// each.
//
// Let the texts that one unit alone has weigh w_i: at most k of them, and together at most 1. The
// probability that noise lifts one of them to t is at most Σ Q((t-w_i)/σ), Q(x) = P(N(0,1) > x).
// For t >= 1 this is convex in w, so it is largest at a corner: Q((t-1)/σ) + (k-1) Q(t/σ). t makes
// that Delta. A count is rounded to the lattice of the noise, so Threshold is half a spacing more.
func (q LevelQuery) Threshold(k int) float64 {
	passes := func(t float64) float64 {
		return numeric.NormalTail((t-1)/q.Noise) + float64(max(k, 1)-1)*numeric.NormalTail(t/q.Noise)
	}
	const rounding = 1e-9 // of the tail, relatively
	t := numeric.Bisect(1, 1+40*q.Noise, func(t float64) bool { return passes(t) <= q.Delta*(1-rounding) })
	return t + noise.LatticeSpacing(q.Noise)/2
}

// Event is the event of the query: the Gaussian of one Counts with this noise, and an event of
// probability Delta in which a unit shows itself.
//
// Let D and D' be neighbours, and A the texts that the units of both have. On A the query is a
// Gaussian, then post-processing. The texts of one unit alone have noise of their own, so with
// probability 1-p, whatever comes of A, none of them is released, and p <= Delta (Threshold). So
// the query is M = (1-Delta) G + Delta R for D, with G the Gaussian on A, and M' = (1-Delta) G' +
// Delta R' for D'. For every set S, M(S) - e^ε M'(S) <= Delta + (1-Delta)(G(S) - e^ε G'(S)): the
// profile of both events together (Korolova et al. 2009; Wilkins et al. 2024, arXiv:2306.07884).
func (q LevelQuery) Event(rel event.Relation) event.Event {
	return event.Composed{Events: []event.Event{CountsEvent([]Partition{{Noise: q.Noise}}, rel), event.EpsilonDelta{Delta: q.Delta}}}
}

// Check refuses a query without a proof: convexity needs a threshold of at least 1.
func (q LevelQuery) Check() error {
	if !(q.Noise >= leastNoise && q.Noise <= mostNoise) {
		return fmt.Errorf("privacy: noise %g of counts is not in [%g, %g]", q.Noise, leastNoise, mostNoise)
	}
	if !(q.Delta >= 1e-100 && q.Delta < 0.25) {
		return fmt.Errorf("privacy: delta %g of levels is not in [1e-100, 0.25)", q.Delta)
	}
	return nil
}

// NewTexts returns the texts of a column of cfg's records, for Levels alone.
func NewTexts(cfg TableConfig, column string) *Columns {
	cfg.Encoding, cfg.Spare, cfg.PackFrom = cfg.Encoding.Texts(column), 0, 0
	return NewColumns(cfg)
}

// Levels returns the texts whose noisy counts reach the threshold, the most frequent first. No
// other text leaves. It is one entry of the ledger, charged before a weight is added up. The
// curator's columns are those of NewTexts.
func (c *Curator) Levels(purpose string, q LevelQuery) ([]Level, error) {
	switch {
	case c.columns == nil || !slices.ContainsFunc(c.columns.cfg.Encoding.Fields, func(f encoding.Field) bool { return f.Open && f.Column == q.Column }):
		return nil, errors.New("privacy: the curator has not the texts of column " + q.Column)
	case !alone(c.ranks):
		return nil, errors.New("privacy: levels are bought in one process")
	}
	if err := q.Check(); err != nil {
		return nil, err
	}
	if err := c.ReadColumns(); err != nil {
		return nil, err
	}
	stream, err := c.charge(purpose, q.Event(c.relation))
	if err != nil {
		return nil, err
	}
	defer stream.Wipe()
	names, counts := c.columns.weigh(q.Column)
	stream.Seek(0)
	stream.AddGaussian(counts, q.Noise) // alike for every text, so their order shows nothing
	threshold := q.Threshold(c.columns.rows.Codes.Most)
	released := []Level{}
	for i, name := range names {
		if counts[i] >= threshold {
			released = append(released, Level{name, counts[i]})
		}
	}
	slices.SortFunc(released, func(a, b Level) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	return released, nil
}

// weigh returns the texts of a column with their weights. Each of the k rows of a unit that have a
// text weighs 1/k, rounded down to the grain. A text without weight, as of a malformed row or of a
// row beyond those that a unit keeps, is left out: a unit may have any number of them.
func (c *Columns) weigh(column string) (names []string, weights []float64) {
	coded, codes := c.coded(column), c.rows.Codes
	empty := func() sums { return sums{make([]int64, len(coded.Texts()))} }
	sum := c.over(empty, func(to sums, low, high int) {
		var rows []int
		for i := low; i < high; i++ {
			if rows = c.rowsOf(rows[:0], i, true); len(rows) == 0 {
				continue
			}
			for _, r := range rows {
				to[0][coded.Code(codes.Row(i, r))] += grain / int64(len(rows))
			}
		}
	})[0]
	var positive []int64
	for code, name := range coded.Texts() {
		if sum[code] > 0 {
			names, positive = append(names, name), append(positive, sum[code])
		}
	}
	return names, exact(positive)
}
