package manual

import (
	"strings"

	"d3p/internal/models/formula"
	"d3p/internal/models/twin"
)

// families lists the families of formulas and those of columns of a twin.
func families() string {
	var p page
	p.paragraph("model: family: with the names that R and brms use, the response, the links (the default first) and the family's own parameters with their default priors:")
	for _, f := range formula.Describe() {
		facts := []string{f.Response, "link " + strings.Join(f.Links, ", ")}
		if len(f.Parameters) > 0 {
			facts = append(facts, strings.Join(f.Parameters, ", "))
		}
		if f.Note != "" {
			facts = append(facts, f.Note)
		}
		p.entry(strings.Join(f.Names, ", "), strings.Join(facts, "; "))
	}
	p.WriteString("\n")
	p.paragraph("twin: features: with the columns that may have the family and the priors of its arguments. Each component has its own arguments. In the priors {log} is the logarithm of the declared middle m of the column and {rate} is 2/m:")
	for _, f := range twin.Families() {
		var priors []string
		for _, a := range f.Args {
			priors = append(priors, a.Name+": "+a.Prior)
		}
		p.entry(f.Name, f.Columns()+"; "+strings.Join(priors, ", "))
	}
	return p.String()
}
