package verdict

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"d3p/internal/models"
	"d3p/internal/outputs"
	"d3p/internal/score"
)

// OfRows is the verdict on all variables of a model of units with several rows, where their design effects q are not bought.
// Their log densities add up as if rows were independent. If all m rows of a unit are the same, an interval of what differs
// between units is then √m times too narrow (Kish 1965): of 20,000 subjects with 10 answers and a deviation of 1 between
// subjects, the effect of a group was called resolved with 0.6 of its standard deviation.
func OfRows(m *models.Model, q *score.DesignEffects) outputs.Verdict {
	rows := m.Encoding.RowsPerUnit
	if rows <= 1 || q.Known() && len(q.Open) == m.P {
		return outputs.Verdict{Value: outputs.Resolved}
	}
	return outputs.Verdict{Value: outputs.Partly, Why: fmt.Sprintf(
		"rows of one %s are taken as independent: if they are alike, intervals are up to %.2g times too narrow (rows_per_unit: 1 keeps one of each)",
		m.Spec.Data.Unit.Entity.V, math.Sqrt(float64(rows)))}
}

// leastKnown is what may be unknown of the log of a design effect: an interval is then wrong by half as much.
const leastKnown = 0.3

// judgeRows caps the verdicts of variables whose design effects are hardly known: open (P) is what is not known of those of
// the parameters. Of a variable that depends on several it is their mean, by what they give its variance.
func (d *judged) judgeRows(m *models.Model, open []float64) {
	if open == nil || len(open) != m.P || d.Free == nil {
		return
	}
	mean, sd := make([]float64, m.P), make([]float64, m.P)
	for k := range mean {
		var column []float64
		for s := range d.S {
			column = append(column, d.Free[s*m.P+k])
		}
		mean[k], sd[k] = stat.MeanStdDev(column, nil)
	}
	at, moved := make([]float64, len(d.Variables)), make([]float64, len(d.Variables))
	sum, weights := make([]float64, len(d.Variables)), make([]float64, len(d.Variables))
	d.Constrain(m, at, mean)
	for k := range mean {
		mean[k] += sd[k]
		d.Constrain(m, moved, mean)
		mean[k] -= sd[k]
		for v := range moved {
			weight := (moved[v] - at[v]) * (moved[v] - at[v])
			sum[v], weights[v] = sum[v]+weight*open[k], weights[v]+weight
		}
	}
	for v := range d.Variables {
		if sum[v] > leastKnown*weights[v] {
			d.cap(v, outputs.Partly, "how alike rows of one %s are is hardly known: the interval may be too narrow or too wide (a larger epsilon, or rows_per_unit: 1)",
				m.Spec.Data.Unit.Entity.V)
		}
	}
}
