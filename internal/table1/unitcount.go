package table1

import (
	"math"

	"d3p/internal/models"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
)

// UnitCount is the purchase of the number of units with a usable row.
type UnitCount struct {
	// Price is the epsilon that it would cost alone, at the δ of the fit.
	Price float64 `json:"epsilon"`
	// Noise is the standard deviation of its noise.
	Noise           float64 `json:"noise"`
	NoiseMultiplier float64 `json:"noise_multiplier"`
	// Number is the bought number; nil before the purchase.
	Number *float64 `json:"number,omitempty"`
}

// UnitsOf is the purchase that m's file asks for; nil: none.
func UnitsOf(m *models.Model, delta float64, rel event.Relation) *UnitCount {
	price := m.Spec.Data.Rows.DP
	if !price.IsSet() {
		return nil
	}
	r := noiseOf(1, Mu(delta, rel, price.V), rel)
	return &UnitCount{Price: price.V, Noise: r.Noise, NoiseMultiplier: r.NoiseMultiplier}
}

// Purpose is the name of the release in the ledger.
func (u *UnitCount) Purpose() string { return "number of units" }

// Event is the event of the release.
func (u *UnitCount) Event() event.Event { return event.Gaussian{NoiseMultiplier: u.NoiseMultiplier} }

// Buy returns u with the number bought from a curator.
func (u *UnitCount) Buy(c *privacy.Curator) (*UnitCount, error) {
	counts, err := c.Counts(u.Purpose(), []privacy.Partition{{Usable: true, Noise: u.Noise}})
	if err != nil {
		return nil, err
	}
	bought, number := *u, digits(max(0, math.Round(counts[0][0])))
	bought.Number = &number
	return &bought, nil
}
