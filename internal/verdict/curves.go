package verdict

import (
	"d3p/internal/models/naming"
	"d3p/internal/outputs"
)

// judgeCurves caps the verdict of a coefficient of a curve by those of the curve's other coefficients, because it has a meaning
// only beside them. Of a
// polynomial in a column with bounds 50 times too wide (ε = 3) the first was as its prior, and the second, called
// resolved, 16 standard deviations off.
func (d *judged) judgeCurves() {
	open := map[string]int{}
	for v := range d.Variables {
		base, _ := naming.Split(d.Variables[v].Name)
		if naming.CurveOf(base) != "" && d.Variables[v].Verdict.Value != outputs.Resolved {
			open[base] = v
		}
	}
	for v := range d.Variables {
		base, _ := naming.Split(d.Variables[v].Name)
		if w, ok := open[base]; ok {
			d.cap(v, outputs.Partly, "%s of the same curve is not resolved: %s", d.Variables[w].Name, d.Variables[w].Verdict.Why)
		}
	}
}
