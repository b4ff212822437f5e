package score

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"d3p/internal/predict"
)

// A utility needs few cells, because each brings its own noise: bins of the probability of
// the level that came, or of the error over the response's range.
var (
	utilityProbabilities = []float64{0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.98}
	utilityErrors        = []float64{0.01, 0.025, 0.045, 0.07, 0.1, 0.14, 0.19, 0.25}
)

// ForUtility gives the table the cells of a utility.
func (t *Table) ForUtility() {
	t.closeness, t.Edges = true, utilityProbabilities
	if t.Target.Levels == 0 {
		t.Edges = utilityErrors
	}
}

// Utility is the sum over records of 1 minus the squared probability of the levels that did
// not occur, or of 1 minus the error over a quarter of the response's range. It subtracts
// the mean over cells, which halves the noise. A record without a prediction so counts as a
// poor one, and releases are comparable on the same records.
func (t *Table) Utility(counts []float64) (sum float64) {
	utilities := make([]float64, t.Cells()[0])
	for i := range utilities {
		x := t.centre(i, 0, 1)
		if t.Target.Levels == 0 {
			utilities[i] = math.Max(0, 1-x/slices.Max(utilityErrors))
		} else {
			utilities[i] = 1 - (1-x)*(1-x)
		}
	}
	mean := stat.Mean(utilities, nil)
	for i, n := range counts {
		sum += n * (utilities[i] - mean)
	}
	return sum
}

// close is the cell of a utility for a prediction and an outcome.
func (t *Table) close(p *predict.Summary, outcome float64) int {
	if t.Target.Levels == 0 {
		return bin(t.Edges, math.Abs(outcome-p.Mean)/t.Range)
	}
	level := int(outcome)
	switch {
	case !t.asMean:
		return bin(t.Edges, p.Levels[level])
	case level == 1:
		return bin(t.Edges, p.Mean)
	}
	return bin(t.Edges, 1-p.Mean)
}
