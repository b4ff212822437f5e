package manual

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"d3p/internal/models/dist"
	"d3p/internal/models/expr"
	"d3p/internal/models/support"
)

// distributions lists the distributions, the forms that combine densities and the functions.
func distributions() string {
	var p page
	p.paragraph("Distributions of parameters and columns. Give arguments in this order or by name; those with a value may be left out, of two joined by `or` give one:")
	for _, d := range dist.Table {
		p.entry(signature(d), values(d)+"; "+d.Summary)
	}
	functions, forms := expr.Signatures()
	p.WriteString("\n")
	p.paragraph("Forms that combine densities:")
	p.entry(strings.Join(forms, "  "), "")
	p.WriteString("\n")
	p.paragraph("Functions. Those with `over` work along that dim; without it they take all dims, and softmax, log_softmax and cumsum need it. max(x, y) and min(x, y) compare element by element:")
	p.entry(strings.Join(functions, "  "), "")
	return p.String()
}

// signature is a distribution with its arguments: normal(loc=0, scale=1).
func signature(d *dist.Distribution) string {
	var args []string
	for _, a := range d.Args {
		switch {
		case a.Instead != "":
			i := slices.Index(args, a.Instead)
			if i < 0 {
				i = len(args) - 1
			}
			args[i] += " or " + a.Name
		case a.Optional:
			args = append(args, fmt.Sprintf("%s=%g", a.Name, a.Default))
		default:
			args = append(args, a.Name)
		}
	}
	return d.Name + "(" + strings.Join(args, ", ") + ")"
}

// values is the support of a distribution in words.
func values(d *dist.Distribution) string {
	unknown := make([]float64, len(d.Args))
	for i := range unknown {
		unknown[i] = math.NaN()
	}
	s := d.Support(unknown)
	if s.Kind == support.Interval {
		return "between its bounds"
	}
	return s.String()
}
