package manual

import (
	"strings"

	"d3p/internal/models/formula"
)

// formulas lists the forms of a formula.
func formulas() string {
	var p page
	p.paragraph("model: formula: is RESPONSE ~ TERM + TERM ..., as in R and brms:")
	for _, row := range formula.Manual() {
		p.entry(strings.Join(row.Forms, ",  "), row.Meaning)
	}
	return p.String()
}
