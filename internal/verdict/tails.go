package verdict

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"d3p/internal/models"
	"d3p/internal/models/naming"
	"d3p/internal/outputs"
	"d3p/internal/score"
)

// Tail are records far out in a predictor: counted, not excluded by Table 1, or hidden in the noise of the counts. A
// fit without privacy follows them, and a private one clips them: it answers for the others.
type Tail struct {
	Why string // how many there are or may be, or how far out Table 1 leaves them
	// Share is about the part that they have in the column's sum of squares, or the largest part that they may have.
	Share float64
	// Open reports that Table 1 does not exclude them; Hidden, that the counts show none, and noise may hide them.
	Open, Hidden bool
}

// meanDistances are about the distances of the records in the cells of a predictor, in standard deviations.
var meanDistances = []float64{10, 27}

// hiddenNoise is how many standard deviations of its noise a count hides: more records in 1 of 50 columns.
const hiddenNoise = 2

// farPredictors are the records that q counts, or may hide, far out in predictors, of about records in all, by column.
// Chance shows some in 1 of 500 columns without any.
func farPredictors(m *models.Model, q *score.Surprisals, records float64) map[string]Tail {
	if q == nil || !q.Complete(m) {
		return nil
	}
	found := map[string]Tail{}
	for j, of := range q.Far {
		counts, reach, seen := q.OfPredictor(j), q.Reach(m, j), false
		var count, sd, square, hidden, hiddenSquare float64
		for cell := len(counts) - 1; cell >= 0; cell-- {
			count += counts[cell]
			sd = math.Hypot(sd, q.Noise)
			square += max(counts[cell], 0) * meanDistances[cell] * meanDistances[cell]
			seen = seen || count > unlikely*sd
			if reach > score.FarDistances[cell] {
				most := max(counts[cell], 0) + hiddenNoise*q.Noise
				hidden += most
				hiddenSquare += most * math.Pow(min(meanDistances[cell], reach), 2)
			}
		}
		tail := Tail{Hidden: !seen}
		if seen {
			tail.Why = fmt.Sprintf("about %.0f ± %.0f records are far out in its column, and the fit clips them: they may decide about it (declare narrower bounds or a transform)", count, sd)
		} else {
			square = hiddenSquare
			tail.Why = fmt.Sprintf("up to %.0f records may be far out in its column, which the noise hides, and decide about it (declare narrower bounds)", hidden)
		}
		tail.Share = square / (math.Max(records, 1) + square)
		found[of.Column] = tail
	}
	return found
}

// The limits of the effect of records far out on a coefficient, in posterior standard deviations: how far it moves if all
// that they add to it is wrong. From farEffect on it is partly resolved, from farthestEffect on not, or partly if the
// records are only hidden.
const (
	farEffect      = 4
	farthestEffect = 12
)

// judgeBesideTails caps the verdicts of coefficients of predictors with records far out, and of those that move
// with them; an intercept of a mean that is not linear does. Of 10,000 records 1 % were 20 times farther out, beyond
// where the effect ends: the coefficient was 4 standard deviations off, in other tables 6 to 47, and that of a column
// correlated by .6 half as far. Where the model misses records, too, they may be these: a Poisson rate that turns far out
// had a slope of -.39 ± .13 for 1.31. An intercept that moves with the coefficient is at a declared center in the tail:
// thresholds 34 standard deviations of a column from its records were 17 ± 6 for -2.
func (d *judged) judgeBesideTails() {
	for o := range d.Variables {
		of := d.Variables[o].Name
		tail, ok := d.known.tailIn(of)
		if !ok {
			continue
		}
		mean, variance := stat.MeanVariance(d.Of(o), nil)
		effect := tail.Share * math.Abs(mean) / math.Sqrt(variance)
		if effect <= farEffect && !tail.Open {
			continue
		}
		for v := range d.Variables {
			name := d.Variables[v].Name
			if !isOfPredictors(name) {
				continue
			}
			moves := math.Abs(correlation(d.Of(v), d.Of(o)))
			inTail := tail.Open && isIntercept(name) && moves > movesWith
			if !d.known.Normal && isIntercept(name) {
				moves = 1
			}
			own, value := v == o && tail.Open, outputs.Resolved
			switch {
			case tail.Hidden:
				if moves*effect > farthestEffect {
					value = outputs.Partly
				}
			case moves*effect > farthestEffect || inTail || own && d.known.Misfit.Value != "":
				value = outputs.Not
			case moves*effect > farEffect || own:
				value = outputs.Partly
			}
			why := tail.Why
			if v != o {
				why = "it moves with " + of + ": " + why
			}
			d.cap(v, value, "%s", why)
		}
	}
}

// tailIn are the records far out in a column of a coefficient, or in that of a curve.
func (k Known) tailIn(variable string) (Tail, bool) {
	base, _ := naming.Split(variable)
	for _, column := range append(columnsOf(variable), naming.CurveOf(base)) {
		if tail, ok := k.Tails[column]; ok {
			return tail, true
		}
	}
	return Tail{}, false
}

// isOfPredictors reports whether a variable is an intercept, a coefficient or a part of a curve.
func isOfPredictors(variable string) bool {
	base, _ := naming.Split(variable)
	return isIntercept(variable) || base == naming.Slopes || base == naming.Raw(naming.Slopes) || naming.CurveOf(base) != ""
}
