package outputs

import (
	"fmt"
	"math"

	"d3p/internal/models"
	"d3p/internal/models/naming"
	"d3p/internal/score"
)

// FarPredictor are the records far out in a predictor.
type FarPredictor struct {
	Records, SD float64 // SD is the noise of Records
	// Share is about the part that they have in the column's sum of squares.
	Share float64
}

// meanDistances are about the distances of the records in the cells of a predictor, in standard deviations.
var meanDistances = []float64{10, 27}

// FarPredictors are the records that q counts far out in predictors, of about records in all, by column. Chance
// shows some in 1 of 500 columns without any.
func FarPredictors(m *models.Model, q *score.Surprisals, records float64) map[string]FarPredictor {
	if q == nil || !q.Complete(m) {
		return nil
	}
	found := map[string]FarPredictor{}
	for j, of := range q.Far {
		counts, all, square := q.OfPredictor(j), FarPredictor{}, 0.0
		seen := false
		for cell := len(counts) - 1; cell >= 0; cell-- {
			all.Records += counts[cell]
			all.SD = math.Hypot(all.SD, q.Noise)
			square += max(counts[cell], 0) * meanDistances[cell] * meanDistances[cell]
			seen = seen || all.Records > unlikely*all.SD
		}
		if seen {
			all.Share = square / (math.Max(records, 1) + square)
			found[of.Column] = all
		}
	}
	return found
}

// farEffect is how many posterior standard deviations a coefficient moves if all that records far out add to a
// predictor's coefficient is wrong, and is then partly resolved: where the effect ends, about a half is.
const farEffect = 4

// judgeBesideFarPredictors caps the verdicts of coefficients of predictors with records far out, and of those that
// move with them; an intercept of a mean that is not linear does. A fit without privacy follows these records, and a
// private one clips them: it answers for the others. Of 10,000 records 1 % were 20 times farther out, beyond where the
// effect ends: the coefficient was 4 standard deviations off, in other tables 6 to 20, and that of a column correlated
// by .6 half as far.
func (d *Draws) judgeBesideFarPredictors(known Known) {
	for o := range d.Variables {
		of := d.Variables[o].Name
		far := known.farOutIn(of)
		if far.Records == 0 {
			continue
		}
		mean, variance := meanVariance(d.Of(o))
		effect := far.Share * math.Abs(mean) / math.Sqrt(variance)
		why := fmt.Sprintf("about %.0f ± %.0f records are far out in its column, and the fit clips them: they may decide about it (declare narrower bounds or a transform)", far.Records, far.SD)
		for v := range d.Variables {
			name, moves := d.Variables[v].Name, math.Abs(correlation(d.Of(v), d.Of(o)))
			if !known.Normal && isIntercept(name) {
				moves = 1
			}
			switch verdict := d.Variables[v].Verdict; {
			case !isOfPredictors(name) || !(moves*effect > farEffect):
			case v == o:
				*verdict = worse(*verdict, Partly, "%s", why)
			default:
				*verdict = worse(*verdict, Partly, "it moves with %s: %s", of, why)
			}
		}
	}
}

// farOutIn are the records far out in a column of a coefficient, or in that of a curve.
func (k Known) farOutIn(variable string) FarPredictor {
	for _, column := range columnsOf(variable) {
		if far := k.FarPredictors[column]; far.Records != 0 {
			return far
		}
	}
	base, _ := naming.Split(variable)
	return k.FarPredictors[naming.CurveOf(base)]
}

// isOfPredictors reports whether a variable is an intercept, a coefficient or a part of a curve.
func isOfPredictors(variable string) bool {
	base, _ := naming.Split(variable)
	return isIntercept(variable) || base == naming.Slopes || base == naming.Raw(naming.Slopes) || naming.CurveOf(base) != ""
}
