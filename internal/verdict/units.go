package verdict

import (
	"fmt"
	"math"

	"d3p/internal/models"
	"d3p/internal/outputs"
)

// dependentRows is the verdict on all variables of a model of units with several rows. Their log densities add up as if
// rows were independent, and nothing that is released shows whether they are. If all m rows of a unit are the same, an
// interval of what differs between units is √m times too narrow (Kish 1965): of 20,000 subjects with 10 answers and a
// deviation of 1 between subjects, the effect of a group was called resolved with 0.6 of its standard deviation.
func dependentRows(m *models.Model) outputs.Verdict {
	rows := m.Encoding.RowsPerUnit
	if rows <= 1 {
		return outputs.Verdict{Value: outputs.Resolved}
	}
	return outputs.Verdict{Value: outputs.Partly, Why: fmt.Sprintf(
		"rows of one %s are taken as independent: if they are alike, intervals are up to %.2g times too narrow (rows_per_unit: 1 keeps one of each)",
		m.Spec.Data.Unit.Entity.V, math.Sqrt(float64(rows)))}
}
