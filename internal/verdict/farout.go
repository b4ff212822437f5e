package verdict

import (
	"fmt"
	"math"

	"d3p/internal/models"
	"d3p/internal/models/law"
	"d3p/internal/outputs"
	"d3p/internal/score"
)

// FarOut are the records that are farther from the model than hardly any record that it predicts: those
// in the last cells of the surprisals. The zero value is that of no sign of any.
type FarOut struct {
	Records, SD float64
	// Extreme reports that the last cell alone has more of them than chance shows in 1 of 500 fits.
	Extreme bool
	// Shift is about the least distance, in standard deviations without privacy, by which they move an
	// intercept together.
	Shift float64
	// Unlike reports that the numbers of all surprisals are not those of the model's records: chance shows
	// such in 1 of 1000 fits.
	Unlike bool
}

// mostChecked is the largest number of records of a simulated table: of many records, more are far by chance.
const mostChecked = 20000

// farOut compares the bought surprisals with those of records that m simulates at the draws, each table
// with a law that the predictors may have by l. A fit without privacy follows records far out. A private
// one clips them: of 10,000 counts of which 1 % were tenfold, an intercept was 15 standard deviations off.
func farOut(m *models.Model, d *outputs.Draws, q *score.Surprisals, l *law.Law) (far FarOut) {
	if q == nil || !q.Complete(m) || d.Free == nil {
		return far
	}
	units, last := math.Max(l.Records, 1), len(q.Edges)
	rows := units * float64(max(1, m.Encoding.RowsPerUnit)) // at most; one far out puts its unit in the last cells
	records := min(max(checkRecords, int(rows)/10), mostChecked)
	mean, between := q.Expected(m, func(k int) []float64 {
		first := k * d.S / checkTables * m.P
		return d.Free[first : first+m.P]
	}, l, checkTables, records)
	most, simulated := rare, float64(checkTables*records)
	variance := func(n, cells, share, between float64) float64 { // of the count of n in so many cells
		return cells*q.Noise*q.Noise + n*share + n*n*(between+(share+1/simulated)/simulated)
	}
	squares := 0.0
	for c, count := range q.Counts[:last+1] {
		n, share := units, mean[c]
		if c >= last-1 {
			n = rows
		}
		off := count - n*share
		squares += off * off / variance(n, 1, share, between[c]+math.Pow(ofLaw*share, 2))
	}
	far.Unlike = squares > mostSquares(float64(last+1), unlikely)
	for from := last - 1; from <= last; from++ {
		count, share, ofTables := 0.0, 0.0, 0.0
		for c := from; c <= last; c++ {
			count, share, ofTables = count+q.Counts[c], share+mean[c], ofTables+between[c]
		}
		sd := math.Sqrt(variance(rows, float64(last+1-from), share, ofTables))
		excess := (count - rows*share) / sd
		far.Extreme = from == last && excess > unlikely
		if excess > most {
			most = excess
			// a residual of r standard deviations adds about r²/2 nats
			far.Records, far.SD, far.Shift = count, sd, count*math.Sqrt(2*(q.Edges[from-1]-q.Edges[0])/units)
		}
	}
	return far
}

// farShift is the shift by records far out from which nothing is resolved.
const farShift = 1

// besideFarOut is the verdict on a variable by records far out. A fit by second moments allows for errors
// with longer tails than the normal's: they make only sigma wrong, by many of its standard deviations even if
// they are few. It does not allow for the farthest records, nor for records far out that move slopes together:
// of 1319 customers the 12 who spend most have high incomes, too, and the slope of income was 4.2 standard
// deviations off.
func (d *judged) besideFarOut(variable string) outputs.Verdict {
	far := d.known.FarOut
	allowed := d.StepMisfit != nil && !isSigma(variable) && !far.Extreme && far.Shift <= farShift
	if far.Records == 0 || allowed {
		return outputs.Verdict{Value: outputs.Resolved}
	}
	value := outputs.Partly
	if isSigma(variable) || !d.known.Normal && far.Shift > farShift {
		value = outputs.Not
	}
	return outputs.Verdict{Value: value, Why: fmt.Sprintf("about %.0f ± %.0f records are far from all that the model predicts, and the fit clips them: look for mistakes in the response, or choose a family with longer tails", far.Records, far.SD)}
}

// besideSurprisals is the verdict on all variables by surprisals that are not those of the model's records, and by
// a parameter of spread that is far from the last steps; empty if there is none. The correction for clipping by
// simulated records moved it so far, and a small fault of the model moves other variables by many sds.
func (d *judged) besideSurprisals() outputs.Verdict {
	spread, distance := d.unarrived()
	unlike := "the records' likelihoods are not those that the model predicts: " + d.known.advice()
	isUnlike := d.known.FarOut.Unlike && d.StepMisfit == nil
	switch {
	case isUnlike && spread != "":
		return outputs.Verdict{Value: outputs.Not, Why: fmt.Sprintf("%s (the fit did not arrive at %s)", unlike, spread)}
	case isUnlike:
		return outputs.Verdict{Value: outputs.Partly, Why: unlike}
	case distance > correctedFar:
		return outputs.Verdict{Value: outputs.Partly, Why: fmt.Sprintf("the fit did not arrive at %s: the interval is right only if family and formula are", spread)}
	}
	return outputs.Verdict{Value: outputs.Resolved}
}
