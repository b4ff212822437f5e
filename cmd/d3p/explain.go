package main

import (
	"fmt"
	"strings"

	"d3p/internal/models"
	"d3p/internal/models/spec"
	"d3p/internal/report"
)

// rawSuffix marks coefficients in the units of the data file.
const rawSuffix = "_raw"

// explain says what the numbers of the table are.
func explain(m *models.Model, v view) string {
	points := report.PointScalars(m)
	if points == m.P {
		return fmt.Sprintf("The posterior is a point: %d weights of networks, in %s.", points, report.WeightsName)
	}
	ratios := ""
	if v.ratio != "" {
		ratios = " of exp of the coefficients"
	}
	low, high := tails(v.prob)
	text := fmt.Sprintf("%s, sd and %s to %s describe the posterior%s; noise is the part of its variance that stands for the privacy noise.", v.center(), low, high, ratios)
	if v.ratio != "" {
		text += fmt.Sprintf("\nEach is the %s for one unit more, or for a level against the reference; that of the intercept, or baseline, is the value where all predictors are 0.", v.ratio)
	}
	scales := scalesOf(m)
	switch {
	case v.raw:
		text += "\nCoefficients are per unit of the data file, transformed where the model file says so."
	case len(scales) > 0:
		text += "\nCoefficients are on the declared scales: " + strings.Join(scales, ", ") + "."
	}
	if ones := onesOf(m); len(ones) > 0 {
		text += "\nOf two levels the second one counts as 1: " + strings.Join(ones, ", ") + "."
	}
	if raw := inFileUnits(m); len(raw) > 0 && !v.raw {
		text += fmt.Sprintf("\nIn the unit of the data file, by d3p summary --raw and in summary.csv: %s.", strings.Join(raw, ", "))
	}
	if points > 0 {
		text += fmt.Sprintf("\nThe %d weights of networks are points, in %s.", points, report.WeightsName)
	}
	return text
}

// onesOf names the level that counts as 1 of each binary column in use, where that
// is not plain from the level.
func onesOf(m *models.Model) (ones []string) {
	for _, f := range m.Encoding.Fields {
		if f.Type == models.Binary && f.Kind == models.LevelCode && f.Levels[1] != "1" {
			ones = append(ones, f.Column+" "+f.Levels[1])
		}
	}
	return ones
}

// inFileUnits lists what the model derives for the unit of the data file.
func inFileUnits(m *models.Model) (names []string) {
	for i := range m.Derived {
		if name := m.Derived[i].Name; strings.HasSuffix(name, rawSuffix) {
			names = append(names, name)
		}
	}
	return names
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
		center, by := c.Scale()
		switch {
		case !scaled[c.HeaderName()]:
		case c.Type.V == spec.Date:
			scales = append(scales, fmt.Sprintf("%s per %.4g days from %s", name, by, spec.FormatDay(c.Day(center))))
		case c.Transform.IsSet():
			scales = append(scales, fmt.Sprintf("%s(%s) per %.4g from %.4g", c.Transform.V, name, by, center))
		default:
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
