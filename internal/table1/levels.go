package table1

import (
	"math"

	"d3p/internal/models"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
)

// Levels is the purchase of the levels of a category that the model file leaves open: the texts
// that enough units have, with noisy counts.
type Levels struct {
	Column string `json:"column"`
	// Price is the price in the model file: the epsilon that the levels would cost alone, at the δ
	// of the fit.
	Price float64 `json:"epsilon"`
	// Most is the largest number of levels to keep.
	Most int `json:"most"`
	// Noise is the standard deviation of every count's noise, NoiseMultiplier that of the event.
	Noise           float64 `json:"noise"`
	NoiseMultiplier float64 `json:"noise_multiplier"`
	// Delta bounds the probability that a text of one unit alone is found, a part of the event.
	// Threshold is the least noisy count of a level that follows from it.
	Delta     float64 `json:"delta"`
	Threshold float64 `json:"threshold"`
	// Found are the bought levels, the most frequent first; nil before the purchase.
	Found []privacy.Level `json:"found"`
}

// ofLevels is the part of the δ of a fit that all purchases of levels together may take. The
// threshold hardly depends on it. A group of 50 units has 50 times of it, which must stay below δ.
const ofLevels = 0.02

// LevelsOf are the purchases that m's file asks for, of the columns that m reads.
func LevelsOf(m *models.Model, delta float64, rel event.Relation) (list []Levels) {
	for _, f := range m.Encoding.Columns() {
		if c := find(m, f.Column); c != nil && c.BuysLevels() {
			list = append(list, Levels{Column: c.Name.V, Price: c.Prices.Levels.V, Most: c.MostLevels()})
		}
	}
	for i := range list {
		list[i] = list[i].Planned(m, len(list), delta, rel)
	}
	return list
}

// Planned is l, one of a number of purchases, as its price plans it, before the purchase.
func (l Levels) Planned(m *models.Model, of int, delta float64, rel event.Relation) Levels {
	l.Delta = delta * ofLevels / float64(of)
	// alone, Gaussian and δ together are (Price, delta)-private
	r := noiseOf(1, Mu((delta-l.Delta)/(1-l.Delta), rel, l.Price), rel)
	l.Noise, l.NoiseMultiplier, l.Found = r.Noise, r.NoiseMultiplier, nil
	if q := l.Query(m); q.Check() == nil {
		l.Threshold = q.Threshold(m.Encoding.RowsPerUnit)
	}
	return l
}

// Purpose describes the purchase, and names the release in the ledger.
func (l *Levels) Purpose() string { return "levels of " + l.Column }

// Event is the event of the purchase.
func (l *Levels) Event() event.Event {
	return event.Composed{Events: []event.Event{event.Gaussian{NoiseMultiplier: l.NoiseMultiplier}, event.EpsilonDelta{Delta: l.Delta}}}
}

// Query asks the curator for the levels; m is the model that the plan is of.
func (l *Levels) Query(m *models.Model) privacy.LevelQuery {
	return privacy.LevelQuery{Column: m.Spec.Data.Column(l.Column).HeaderName(), Noise: l.Noise, Delta: l.Delta}
}

// Buy buys the levels from a curator with the texts of the column: the most frequent ones, without
// the text that is the level of all others anyway.
func (l *Levels) Buy(c *privacy.Curator, m *models.Model) ([]privacy.Level, error) {
	all, err := c.Levels(l.Purpose(), l.Query(m))
	if err != nil {
		return nil, err
	}
	found := []privacy.Level{}
	for _, level := range all {
		if level.Name != m.Spec.Data.Column(l.Column).Unknown.V && len(found) < l.Most {
			found = append(found, level)
		}
	}
	return found, nil
}

// Names are the names of the bought levels.
func (l *Levels) Names() []string {
	names := make([]string, len(l.Found))
	for i, level := range l.Found {
		names[i] = level.Name
	}
	return names
}

// Sure is about the least number of units that show a level almost surely: three standard
// deviations above the threshold.
func (l *Levels) Sure() float64 { return math.Ceil(l.Threshold + 3*l.Noise) }
