package verdict

import (
	"fmt"
	"math"

	"d3p/internal/models"
	"d3p/internal/models/law"
	"d3p/internal/outputs"
)

// Standard deviations of intervals that weights make too small by these factors are partly and not resolved.
const tooNarrow, muchTooNarrow = 1.2, 2

// overweighted is the verdict on all variables by the weights of records, with the law l. A weight counts as so
// many records, but is one: the sum of N weighted scores has the variance N E w² instead of N E w (Kish 1965).
func overweighted(m *models.Model, l *law.Law) outputs.Verdict {
	weights := m.Spec.Data.Weights.V
	own := l.Column(weights)
	if own == nil || own.Shares == nil {
		return outputs.Verdict{}
	}
	mean, square := 0.0, 0.0
	for i, share := range own.Shares {
		first, second := own.CellMoments(i)
		mean, square = mean+share*first, square+share*second
	}
	factor := math.Sqrt(square / mean)
	value := graded(factor, tooNarrow, muchTooNarrow)
	if value == outputs.Resolved {
		return outputs.Verdict{Value: value}
	}
	return outputs.Verdict{Value: value, Why: fmt.Sprintf("weights of a survey make intervals %.2g times too narrow: divide %s by %.3g, in the file", factor, weights, square/mean)}
}
