package verdict

import (
	"fmt"
	"math"
	"slices"

	"d3p/internal/models"
	"d3p/internal/models/data"
	"d3p/internal/models/law"
	"d3p/internal/models/simulate"
	"d3p/internal/models/support"
	"d3p/internal/outputs"
	"d3p/internal/privacy/noise"
)

// A predictive check simulates checkTables tables of checkRecords records. It finds a misfit
// that chance explains in 1 of 1000 fits (unlikely, a normal quantile). One that concerns more
// than a share of severe of the records leaves nothing resolved. ofLaw is the part of a share that simulated
// predictors move, which are even within the cells of the law: of 24 right fits of 10,000 and 40,000
// records ten were called misfits without it and without wholeCells, one is.
const (
	checkTables  = 20
	checkRecords = 2000
	unlikely     = 3.09
	severe       = 0.1
	ofLaw        = 0.02
)

// misfit compares the bought distribution of the response with that in tables which m
// simulates at the draws, each with a law that the predictors may have by l, the bought one: a
// posterior predictive check (Gelman, Meng and Stern 1996). If they differ, intervals are those of a wrong model,
// or of a fit that went wrong. The verdict is about all variables; it has no value if there
// is no sign of a misfit. It reads released numbers only. Positive responses have no check:
// the cells of a long tail are moved so that mean and standard deviation are right. Without a
// misfit, a real response with an unknown tail has the verdict of openTail.
func misfit(m *models.Model, d *outputs.Draws, response *data.Column, l *law.Law, advice string) outputs.Verdict {
	own, at := l.Column(response.Name.V), slices.Index(m.Spec.Data.AllColumns(), response)
	of := slices.IndexFunc(m.Observed, func(o models.Observation) bool { return slices.Contains(o.Columns, response) })
	if d.Free == nil || own.Shares == nil || of < 0 || m.Observed[of].Support.Kind == support.Positive {
		return outputs.Verdict{}
	}
	if own.Edges != nil {
		counted := own.AsCounted()
		if response.Whole() {
			counted.Edges = wholeCells(counted.Edges, response.Lower.V)
		}
		own = &counted
	}
	cells, rng := len(own.Shares), noise.NewRandom(noise.Public(0).Stream(noise.Simulation))
	mean, square := make([]float64, cells), make([]float64, cells)
	for k := range checkTables {
		first := k * d.S / checkTables * m.P
		values := simulate.At(m, d.Free[first:first+m.P], checkRecords, l.Drawn(rng), rng).Values[at]
		if own.Edges != nil && response.Whole() { // cells are those of numbers before they are rounded
			for i := range values {
				values[i] += rng.Uniform() - 0.5
			}
		}
		for c, share := range sharesOf(own, values) {
			mean[c] += share / checkTables
			square[c] += share * share / checkTables
		}
	}
	sum, distance := 0.0, 0.0
	for c, share := range own.Shares {
		ofRecords := mean[c] * (1 - mean[c])
		ofDraws := math.Max(0, square[c]-mean[c]*mean[c]-ofRecords/checkRecords)
		// a share that was shrunk may be off by more than its noise: by that of a count
		noise := math.Max(own.ShareSD[c], l.RecordsSD/math.Max(l.Records, 1))
		variance := noise*noise + ofDraws + ofRecords/math.Max(l.Records, 1) + ofRecords/(checkTables*checkRecords) + math.Pow(ofLaw*mean[c], 2)
		off := math.Abs(share - mean[c])
		sum += off * off / variance
		distance += math.Max(0, off-math.Sqrt(variance)) / 2
	}
	if !(sum > mostSquares(float64(cells), unlikely)) {
		if m.Observed[of].Support.Kind != support.Real {
			return outputs.Verdict{}
		}
		return openTail(response.Name.V, own.ScaleSD)
	}
	value := outputs.Partly
	if distance > severe {
		value = outputs.Not
	}
	return outputs.Verdict{Value: value, Why: fmt.Sprintf("the model predicts %s otherwise than Table 1 has it, for at least %.0f %% of the records: %s", response.Name.V, 100*distance, advice)}
}

// Rounding matters little in cells of whole numbers that are mostOfCell wide or wider.
const mostOfCell = 8

// wholeCells are cells of whole numbers, from lower on, as they were counted. Table 1 moves and
// stretches cells until mean and standard deviation are those of the moments, and cuts them off at the bounds,
// so .07 of the ones may be in the cell of the zeros; those of few numbers are brought back to halves.
func wholeCells(edges []float64, lower float64) []float64 {
	unit := math.Inf(1)
	for i := 1; i+2 < len(edges); i++ { // the first and the last cell may be cut off
		if wide := edges[i+1] - edges[i]; wide > 0.5 {
			unit = math.Min(unit, wide)
		}
	}
	if unit >= mostOfCell {
		return edges
	}
	unit /= math.Max(1, math.Round(unit))
	out := make([]float64, len(edges))
	out[0] = math.Max(math.Round(edges[0]+0.5), lower) - 0.5
	for i, x := range edges[1:] {
		out[i+1] = out[i] + math.Max(1, math.Round((x-edges[i])/unit))
	}
	return out
}

// A standard deviation of the response is open by a tail from these errors of its log on.
const (
	openSome = 0.25
	openFar  = 0.5
)

// openTail is the verdict on a model without long tails, if the log of the standard deviation of
// the response has this error: the fit follows the records that are not far out.
func openTail(response string, logSD float64) outputs.Verdict {
	value := graded(logSD, openSome, openFar)
	if value == outputs.Resolved {
		return outputs.Verdict{}
	}
	return outputs.Verdict{Value: value, Why: fmt.Sprintf("Table 1 has the sd of %s to within ± %.0f %%: a long tail may hold the rest", response, 100*math.Expm1(logSD))}
}

// mostSquares is the limit of the sum of n squares of standard normals, by a normal quantile
// (Wilson and Hilferty 1931).
func mostSquares(n, quantile float64) float64 {
	return n * math.Pow(1-2/(9*n)+quantile*math.Sqrt(2/(9*n)), 3)
}

// sharesOf are the shares of the values in the cells or levels of a column, without missing
// ones.
func sharesOf(c *law.Column, values []float64) []float64 {
	counts := make([]float64, len(c.Shares)+1)
	for _, x := range values {
		counts[c.Cell(x)]++
	}
	shares := counts[:len(c.Shares)]
	known := math.Max(float64(len(values))-counts[len(shares)], 1)
	for i := range shares {
		shares[i] /= known
	}
	return shares
}
