package predict

import (
	"errors"
	"math"
	"slices"
	"strconv"

	"d3p/internal/models"
	"d3p/internal/models/dist"
	"d3p/internal/stats"
)

// Contrast compares the expected responses of two rows, over the posterior. Ratios are
// NaN where an expectation is not positive.
type Contrast struct {
	OK            bool    // both rows have every value that the model needs; otherwise the other fields have no meaning
	Mean, Against float64 // of the row, and of the other
	Difference    Interval
	Ratio         Interval
}

// ContrastColumns name the Cells of a contrast with intervals of a probability.
func ContrastColumns(prob float64) []string {
	low, high := QuantileNames(prob)
	return []string{"mean", "against", "difference", "sd", low, high, "ratio", "ratio_sd", "ratio_" + low, "ratio_" + high}
}

// Cells are the numbers of the contrast in the order of ContrastColumns; empty for unknown
// ones.
func (c Contrast) Cells() []string {
	numbers := []float64{c.Mean, c.Against}
	for _, i := range []Interval{c.Difference, c.Ratio} {
		numbers = append(numbers, i.Mean, i.SD, i.Lower, i.Upper)
	}
	cells := make([]string, len(numbers))
	for i, x := range numbers {
		if c.OK && !math.IsNaN(x) {
			cells[i] = Cell(x)
		}
	}
	return cells
}

// Cell prints a number of a table of predictions.
func Cell(x float64) string { return strconv.FormatFloat(x, 'g', 8, 64) }

// Interval is a mean over the posterior, with its standard deviation and the ends of
// its central interval.
type Interval struct{ Mean, SD, Lower, Upper float64 }

// ofPoint is the interval at a point: its spread is not known.
func (i Interval) ofPoint() Interval { return Interval{i.Mean, math.NaN(), math.NaN(), math.NaN()} }

// ErrNoContrast: the model has no single response with an expectation.
var ErrNoContrast = errors.New("the model has not one response with an expected value")

// Compare calls emit for each pair of rows in order, a row of rows and a row of others,
// which have the same number. It returns the contrast of the averages over all pairs: the
// effect of the difference, standardised to the rows.
func Compare(m *models.Model, posterior Posterior, rows, others Rows, rng dist.Rand, emit func(row int, c Contrast) error) (average Contrast, err error) {
	if targets := Targets(m); len(targets) != 1 || targets[0].Levels > 0 || m.Reconstruct != nil {
		return average, ErrNoContrast
	}
	this, other := newPredictor(m, posterior, rng), newPredictor(m, posterior, rng)
	sums, otherSums, pairs := make([]float64, posterior.S), make([]float64, posterior.S), 0
	err = this.each(rows, func(row, b int) error {
		if b == 0 { // a block
			other.run(others.Data[row*others.Stride:], others.Stride, this.n)
		}
		if !this.hasMean[0] {
			return ErrNoContrast
		}
		c := Contrast{OK: rows.Valid[row] && others.Valid[row]}
		if c.OK {
			x, y := this.means[0][b*posterior.S:(b+1)*posterior.S], other.means[0][b*posterior.S:(b+1)*posterior.S]
			c = posterior.differences(x, y)
			pairs++
			for s := range sums {
				sums[s] += x[s]
				otherSums[s] += y[s]
			}
		}
		return emit(row, c)
	})
	if err != nil || pairs == 0 {
		return average, err
	}
	for s := range sums {
		sums[s] /= float64(pairs)
		otherSums[s] /= float64(pairs)
	}
	return posterior.differences(sums, otherSums), nil
}

func (p Posterior) differences(x, y []float64) Contrast {
	c := Differences(x, y, p.Prob)
	if p.Point {
		c.Difference, c.Ratio = c.Difference.ofPoint(), c.Ratio.ofPoint()
	}
	return c
}

// Differences compares draws of two expectations.
func Differences(x, y []float64, prob float64) Contrast {
	difference, ratio := make([]float64, len(x)), make([]float64, len(x))
	positive := true
	for s := range x {
		difference[s], ratio[s] = x[s]-y[s], x[s]/y[s]
		positive = positive && x[s] > 0 && y[s] > 0
	}
	c := Contrast{OK: true, Mean: mean(x), Against: mean(y), Difference: intervalOf(difference, prob), Ratio: intervalOf(ratio, prob)}
	if !positive {
		c.Ratio = Interval{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	}
	return c
}

// intervalOf sorts x.
func intervalOf(x []float64, prob float64) Interval {
	slices.Sort(x)
	if x[0] == x[len(x)-1] { // of a point; rounding makes the sum of squares inexact
		return Interval{x[0], 0, x[0], x[0]}
	}
	i := Interval{Mean: mean(x)}
	i.Lower, i.Upper = stats.Central(x, prob)
	for _, v := range x {
		i.SD += (v - i.Mean) * (v - i.Mean) / float64(len(x))
	}
	i.SD = math.Sqrt(i.SD)
	return i
}

func mean(x []float64) (sum float64) {
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}
