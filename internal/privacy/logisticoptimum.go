package privacy

import (
	"context"
	"fmt"
	"math"

	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/exactdraw"
	"d3p/internal/privacy/noise"
)

// LogisticOptimum is the release of a perturbed optimum of a logistic regression: with φ the
// coefficients in units of their prior, the minimum φ* of
//
//	λ|φ|²/2 − Σ log p(y_i | x_i, φ) + b·φ.
//
// Rows whose design is longer than C in units of the prior are shortened to C, so that a unit
// adds a function with slopes of at most C. Output perturbation (Chaudhuri, Monteleoni and
// Sarwate 2011, arXiv:0912.0071): b = 0 and φ* + N(0, (zC/λ)²I) is released; a unit moves φ* by
// at most C/λ. Objective perturbation (Kifer, Smith and Thakurta 2012; approximate minima:
// Iyengar et al. 2019): b is normal, and φ* is released with a little noise, which covers that φ*
// is found approximately. docs/privacy.md, claim 30.
type LogisticOptimum struct {
	Purpose string
	Logistic
	Bound float64 // C
	Ridge float64 // λ; the prior alone gives 1
	// Noise is z, the noise multiplier of a Gaussian with the same guarantee.
	Noise float64
	// Objective: the objective is perturbed, else the output.
	Objective bool
}

// LongestDesign is the greatest C: beside longer rows the curvature of other directions is lost in rounding, and
// the search for the minimum may not end.
const LongestDesign = exactdraw.Longest

// ofOutput is the part of μ² for the noise of the output of a perturbed objective.
const ofOutput = 0.01

// Event is the event of the release.
func (m LogisticOptimum) Event() event.Event { return event.Gaussian{NoiseMultiplier: m.Noise} }

// Tilt is the standard deviation of b; +Inf if the ridge is too small for the budget.
func (m LogisticOptimum) Tilt() float64 {
	// a record multiplies the determinant of the curvature by at most 1 + C²/4λ
	return m.Bound / accountant.ObjectiveMu(math.Sqrt(1-ofOutput)/m.Noise, 1+m.Bound*m.Bound/(4*m.Ridge))
}

// frame is the public frame of an optimum over units of rowsPerUnit rows.
func (m LogisticOptimum) frame(rowsPerUnit int) exactdraw.Optimum {
	o := exactdraw.Optimum{D: len(m.SD), Records: 2 * m.Records * rowsPerUnit, Bound: m.Bound / float64(rowsPerUnit), Shift: m.shift(), Ridge: m.Ridge}
	if m.Objective {
		o.Noise = m.Tilt()
	}
	return o
}

// OutputSD is the standard deviation of the noise of the output. What is found is at most Gap/λ from
// the minimum, for each of two tables.
func (m LogisticOptimum) OutputSD(rowsPerUnit int) float64 {
	return m.outputSD(m.frame(rowsPerUnit).Gap())
}

func (m LogisticOptimum) outputSD(gap float64) float64 {
	if m.Objective {
		return m.Noise / math.Sqrt(ofOutput) * 2 * gap / m.Ridge
	}
	return m.Noise * (m.Bound + 2*gap) / m.Ridge
}

// MinimiseLogistic charges the release and makes it: d coefficients. Over budget: *BudgetError,
// and nothing is spent. How long it takes depends on the records.
func (c *Curator) MinimiseLogistic(ctx context.Context, m LogisticOptimum) ([]float64, error) {
	if !(m.Ridge >= 1 && m.Ridge <= mostNoise && m.Bound >= clipMin && m.Bound <= LongestDesign) {
		return nil, fmt.Errorf("privacy: an optimum with ridge %g and rows of at most %g", m.Ridge, m.Bound)
	}
	reader, err := c.readLogistic(m.Logistic, m.Noise)
	if err != nil {
		return nil, err
	}
	most := max(1, c.columns.rows.Codes.Most)
	frame := m.frame(most)
	sd := m.outputSD(frame.Gap())
	if m.Objective && most > 1 || !(sd <= math.MaxFloat64/0x1p60) {
		return nil, fmt.Errorf("privacy: a perturbed optimum with units of %d rows and noise of standard deviation %g", most, sd)
	}
	stream, err := c.charge(m.Purpose, m.Event())
	if err != nil {
		return nil, err
	}
	defer stream.Wipe()
	phi, err := c.columns.minimum(ctx, m, frame, reader, stream)
	if err != nil {
		return nil, err
	}
	far := 0x1p49 * noise.LatticeSpacing(sd) // the lattice ends there
	for j := range phi {
		phi[j] = min(max(phi[j], -far), far)
	}
	stream.AddGaussian(phi, sd)
	return m.coefficients(phi), nil
}

// minimum is that of the rows in the frame o.
func (c *Columns) minimum(ctx context.Context, m LogisticOptimum, o exactdraw.Optimum, d *designReader, stream *noise.Stream) ([]float64, error) {
	var b []float64
	if m.Objective {
		b = make([]float64, o.D)
		stream.ExactNormals(b)
	}
	return o.Minimum(ctx, c.objective(m, d, o, b))
}

// objective is what the optimum is of; b are normals, or nil.
func (c *Columns) objective(m LogisticOptimum, d *designReader, o exactdraw.Optimum, b []float64) *exactdraw.Posterior {
	p := o.New(b)
	bound := o.Bound * (1 - 0x1p-40) // the norm is rounded
	c.designs(m.Logistic, d, func(a []float64, offset, norm float64) {
		factor := min(1, bound/norm)
		for j := range a {
			a[j] *= factor
		}
		p.Add(a, max(-o.Bound*o.Shift, min(offset*factor, o.Bound*o.Shift)), 1)
	})
	return p
}
