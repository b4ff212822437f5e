package privacy

import (
	"context"
	"errors"
	"fmt"
	"math"

	"d3p/internal/privacy/event"
	"d3p/internal/privacy/exactdraw"
)

// LogisticDraw is the release of one exact draw of the posterior of a logistic regression
// with independent normal priors,
//
//	p(θ) ∝ Π N(θ_j; m_j, s_j²) · Π p(y_i | x_i, θ)^w_i.
//
// The weight w_i of a row, at most Most, is such that w_i·log p(y_i | x_i, θ) has a slope of at
// most s in units of the prior, in which the log density is strongly concave. So the draw is
// s-Gaussian differentially private when a unit comes or goes, and 2s when one replaces
// another: that of one Gaussian with noise multiplier 1/s. Gopi, Lee and Liu 2022,
// arXiv:2203.00263; docs/privacy.md, claim 29.
type LogisticDraw struct {
	Purpose string
	Logistic
	// Noise is the noise multiplier of a Gaussian with the same guarantee.
	Noise float64
	// Most bounds the weight of a row. It is at most 1.
	Most float64
}

// Logistic is a logistic regression with independent normal priors.
type Logistic struct {
	Products [][]Reading // the design (d), its constant included
	Response Reading
	Outcome  Comparison // of the response
	Mean, SD []float64  // of the priors (d)
	Records  int        // N, declared
}

// Comparison is true where a number stands in this relation to Number.
type Comparison struct {
	Operator string // >, >=, < or <=
	Number   float64
}

func (c Comparison) of(x float64) bool {
	switch c.Operator {
	case ">=":
		return x >= c.Number
	case "<":
		return x < c.Number
	case "<=":
		return x <= c.Number
	}
	return x > c.Number
}

// Event is the event of the draw.
func (m LogisticDraw) Event() event.Event { return event.Gaussian{NoiseMultiplier: m.Noise} }

// shift is the length of the prior's mean in its standard deviations.
func (m Logistic) shift() float64 {
	square := 0.0
	for j, x := range m.Mean {
		square += x / m.SD[j] * (x / m.SD[j])
	}
	return math.Sqrt(square)
}

// Slope is s of a unit: 1/Noise, less what the rounding of the sampler may cost with up to
// 2N units. The error states that nothing is left.
func (m LogisticDraw) Slope(rowsPerUnit int) (float64, error) {
	whole := 1 / m.Noise
	slack := exactdraw.Slack(len(m.SD), 2*m.Records*rowsPerUnit, whole/float64(rowsPerUnit), m.shift())
	slope := whole - (exactdraw.Gaussian(whole, slack) - whole)
	if !(slope > whole/2) {
		return 0, fmt.Errorf("privacy: a draw from %d records with a budget of noise multiplier %g: rounding takes more than half of it", m.Records, m.Noise)
	}
	return slope, nil
}

// check refuses what is no logistic regression.
func (m Logistic) check(noise float64) error {
	d := len(m.Products)
	if d == 0 || len(m.Mean) != d || len(m.SD) != d || !(noise >= leastNoise && noise <= mostNoise) || m.Records < 1 {
		return fmt.Errorf("privacy: %d coefficients with %d and %d numbers of priors, noise multiplier %g, %d records", d, len(m.Mean), len(m.SD), noise, m.Records)
	}
	for j, s := range m.SD {
		if !(s > 0 && s <= math.MaxFloat64) || m.Mean[j]-m.Mean[j] != 0 {
			return fmt.Errorf("privacy: a prior of mean %g and standard deviation %g", m.Mean[j], s)
		}
	}
	return nil
}

// DrawLogistic charges the draw and makes it: d coefficients. Over budget: *BudgetError, and
// nothing is spent. How long it takes depends on the records.
func (c *Curator) DrawLogistic(ctx context.Context, m LogisticDraw) ([]float64, error) {
	if !(m.Most > 0 && m.Most <= 1) {
		return nil, fmt.Errorf("privacy: rows of a draw weigh at most %g, which is not between 0 and 1", m.Most)
	}
	reader, err := c.readLogistic(m.Logistic, m.Noise)
	if err != nil {
		return nil, err
	}
	slope, err := m.Slope(max(1, c.columns.rows.Codes.Most))
	if err != nil {
		return nil, err
	}
	stream, err := c.charge(m.Purpose, m.Event())
	if err != nil {
		return nil, err
	}
	defer stream.Wipe()
	draw, _, err := c.columns.logistic(m, reader, slope).Draw(ctx, stream)
	if err != nil {
		return nil, err
	}
	return m.coefficients(draw), nil
}

// coefficients takes φ, in units of the prior, to coefficients.
func (m Logistic) coefficients(phi []float64) []float64 {
	for j := range phi {
		phi[j] = m.Mean[j] + m.SD[j]*phi[j]
	}
	return phi
}

// readLogistic checks m and reads the columns.
func (c *Curator) readLogistic(m Logistic, noise float64) (*designReader, error) {
	switch {
	case c.columns == nil:
		return nil, errors.New("privacy: the curator has no columns of a logistic regression")
	case c.ranks != nil && c.ranks.Size() > 1:
		return nil, errors.New("privacy: this fit is made in one process (type the command without mpirun)")
	}
	if err := m.check(noise); err != nil {
		return nil, err
	}
	reader, err := c.columns.design(Design{Products: append(m.Products, []Reading{m.Response}), Bound: 1, Noise: 1})
	if err != nil {
		return nil, err
	}
	return reader, c.ReadColumns()
}

// logistic is the posterior of a draw whose units have this slope.
func (c *Columns) logistic(m LogisticDraw, d *designReader, slope float64) *exactdraw.Posterior {
	most := max(1, c.rows.Codes.Most)
	slope *= (1 - 0x1p-40) / float64(most) // of a row; the norm below is rounded
	p := exactdraw.New(len(m.SD), 2*m.Records*most, slope, m.shift())
	c.designs(m.Logistic, d, func(a []float64, offset, norm float64) {
		weight := min(m.Most, slope/norm)
		if norm > exactdraw.Longest { // shortened, with the same slope
			factor := exactdraw.Longest / norm
			for j := range a {
				a[j] *= factor
			}
			offset, weight = offset*factor, min(m.Most*norm, slope)/exactdraw.Longest
		}
		p.Add(a, offset, weight)
	})
	return p
}

// designs calls add for each usable row with its design a in units of the prior times its
// outcome ±1, its length, and what the prior's mean adds. It leaves out rows with a number that
// is not finite, and those without a slope.
func (c *Columns) designs(m Logistic, d *designReader, add func(a []float64, offset, norm float64)) {
	d.bind(c)
	size := len(m.SD)
	x, a := make([]float64, size+1), make([]float64, size)
	var usable []int
	for i := range c.rows.N {
		usable = c.rowsOf(usable[:0], i, true)
		for _, r := range usable {
			d.row(x, c.rows, i, r)
			sign, offset := 1.0, 0.0
			if !m.Outcome.of(x[size]) {
				sign = -1
			}
			for j := range a {
				a[j] = sign * x[j] * m.SD[j]
				offset += sign * x[j] * m.Mean[j]
			}
			norm, ok := length(a)
			if !ok || x[size]-x[size] != 0 || norm == 0 || offset-offset != 0 {
				continue
			}
			add(a, offset, norm)
		}
	}
}
