package main

import (
	"fmt"
	"strings"

	"d3p/internal/models"
	"d3p/internal/models/spec"
	"d3p/internal/report"
)

// explain says what the numbers of the table are.
func explain(m *models.Model) string {
	points := report.PointScalars(m)
	if points == m.P {
		return fmt.Sprintf("The posterior is a point: %d weights of networks, in %s.", points, report.WeightsName)
	}
	text := "mean, sd and 5 % to 95 % describe the posterior; noise is the part of its variance that stands for the privacy noise."
	if scales := scalesOf(m); len(scales) > 0 {
		text += "\nCoefficients are on the declared scales: " + strings.Join(scales, ", ") + "."
		for i := range m.Derived {
			if m.Derived[i].Name == "b"+rawSuffix {
				text += "\nb_raw in summary.csv has them per unit of the data file."
			}
		}
	}
	if points > 0 {
		text += fmt.Sprintf("\nThe %d weights of networks are points, in %s.", points, report.WeightsName)
	}
	return text
}

// scalesOf says on which scales the model reads columns: not of a count, an
// exposure or a time, which it reads in the unit of the file.
func scalesOf(m *models.Model) (scales []string) {
	scaled := map[string]bool{}
	for _, f := range m.Encoding.Fields {
		if f.Kind == models.Numeric && f.Scale != 0 && f.Scale != 1 {
			scaled[f.Column] = true
		}
	}
	add := func(name string, c *spec.Column) {
		if center, by := c.Scale(); scaled[c.HeaderName()] {
			scales = append(scales, fmt.Sprintf("%s per %.4g from %.4g", name, by, center))
		}
	}
	for _, c := range m.Spec.Data.Columns {
		add(c.Name.V, c)
	}
	for _, t := range m.Spec.Data.Tensors {
		add(t.Name.V, t.Columns()[0])
	}
	return scales
}
