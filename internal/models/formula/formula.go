// Package formula is the front end of regression models: it parses a formula, checks
// it against the declared table and lowers it to the core language.
package formula

import (
	"strings"

	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// Formula is a parsed model formula, `y ~ 1 + x + a:b + (1 + x | g) + offset(e)`,
// in the notation of Wilkinson & Rogers 1973 as extended by lme4. The response
// may be surv(time, event), surv(entry, time, event), y | trials(n) or
// y | trunc(lb = 1, ub = 9).
type Formula struct {
	Response source.Value[string]
	Compared []string             // columns of a response such as num > 0
	Event    source.Value[string] // of surv(time, event): 1 when the time is known, 0 when censored
	Entry    source.Value[string] // of surv(entry, time, event): when the record entered the study
	Trials   source.Value[string] // of y | trials(n): the column with the number of trials
	// TrialsNumber is the number of trials of y | trials(10).
	TrialsNumber source.Value[float64]
	// Lowest and Highest are the bounds of y | trunc(lb = 1, ub = 9), between which alone a
	// record is in the table.
	Lowest, Highest source.Value[float64]
	Intercept       bool
	Rest            expr.Position // of the point in y ~ .; expand replaces it by all other columns
	Terms           []Term
	Functions       []*core.Definition // functions of columns, log(x) or I(x^2), that terms name
	Groups          []GroupTerm
	Smooths         []*Smooth          // curves in one number
	Offsets         []*core.Definition // expressions that are added unchanged to the linear predictor
}

// Truncated reports whether only a part of the values can be in the table.
func (f *Formula) Truncated() bool {
	return f.Entry.IsSet() || f.Lowest.IsSet() || f.Highest.IsSet()
}

// Term is one column, or the interaction of several.
type Term struct {
	At      expr.Position
	Columns []string
}

// String returns a:b.
func (t Term) String() string { return strings.Join(t.Columns, ":") }

// GroupTerm is `(1 + x | g)`: an intercept and slopes that vary by the levels of a
// category. Uncorrelated: written with ||.
type GroupTerm struct {
	At           expr.Position
	Of           string // the parameter of the family that the effects are of; "" for the linear predictor
	Group        source.Value[string]
	Crossed      []string // of (1 | a:b), the categories that Group crosses; nil for others
	Intercept    bool
	Terms        []Term
	Uncorrelated bool
}

// String prints the formula in canonical form; parsing it gives the same formula.
func (f *Formula) String() string {
	var b strings.Builder
	switch {
	case f.Event.IsSet():
		b.WriteString("surv(")
		if f.Entry.IsSet() {
			b.WriteString(f.Entry.V + ", ")
		}
		b.WriteString(f.Response.V + ", " + f.Event.V + ") ~ ")
	case f.Trials.IsSet():
		b.WriteString(f.Response.V + " | trials(" + f.Trials.V + ") ~ ")
	case f.TrialsNumber.IsSet():
		b.WriteString(f.Response.V + " | trials(" + source.FormatNumber(f.TrialsNumber.V) + ") ~ ")
	case f.Truncated():
		var bounds []string
		if f.Lowest.IsSet() {
			bounds = append(bounds, "lb = "+source.FormatNumber(f.Lowest.V))
		}
		if f.Highest.IsSet() {
			bounds = append(bounds, "ub = "+source.FormatNumber(f.Highest.V))
		}
		b.WriteString(f.Response.V + " | trunc(" + strings.Join(bounds, ", ") + ") ~ ")
	default:
		b.WriteString(f.Response.V + " ~ ")
	}
	b.WriteString(f.rightSide())
	return b.String()
}

// rightSide prints the formula without its response.
func (f *Formula) rightSide() string {
	var b strings.Builder
	b.WriteString(SumText(f.Intercept, f.Terms))
	for _, s := range f.Smooths {
		b.WriteString(" + " + s.String())
	}
	for _, g := range f.Groups {
		bar := " | "
		if g.Uncorrelated {
			bar = " || "
		}
		b.WriteString(" + (" + SumText(g.Intercept, g.Terms) + bar + g.groupText() + ")")
	}
	for _, o := range f.Offsets {
		b.WriteString(" + offset(" + o.Expr.String() + ")")
	}
	return b.String()
}

// groupText is the group as a formula has it, g or a:b.
func (g *GroupTerm) groupText() string {
	if len(g.Crossed) > 0 {
		return strings.Join(g.Crossed, ":")
	}
	return g.Group.V
}

// SumText prints an intercept and terms.
func SumText(intercept bool, terms []Term) string {
	parts := []string{"0"}
	if intercept {
		parts[0] = "1"
	}
	for _, t := range terms {
		parts = append(parts, t.String())
	}
	return strings.Join(parts, " + ")
}

// columnsOf lists the names of columns that the formula mentions, with their
// places.
func (f *Formula) columnsOf() []source.Value[string] {
	var names []source.Value[string]
	for _, v := range []source.Value[string]{f.Response, f.Event, f.Entry, f.Trials} {
		if v.IsSet() {
			names = append(names, v)
		}
	}
	addTerms := func(terms []Term) {
		for _, t := range terms {
			for _, c := range t.Columns {
				names = append(names, source.Value[string]{V: c, At: t.At})
			}
		}
	}
	addTerms(f.Terms)
	for _, s := range f.Smooths {
		names = append(names, source.Value[string]{V: s.Column, At: s.At})
	}
	for _, g := range f.Groups {
		names = append(names, g.Group)
		addTerms(g.Terms)
	}
	for _, o := range f.Offsets {
		expr.Walk(o.Expr, func(e expr.Expr) bool {
			if n, ok := e.(*expr.Name); ok {
				names = append(names, source.Value[string]{V: n.ID, At: n.At})
			}
			return true
		})
	}
	return names
}

// expand replaces the point by the columns that the formula does not mention,
// in the order of their declaration.
func (f *Formula) expand(d *data.Data) {
	if f.Rest.Line == 0 {
		return
	}
	used := f.usedBy()
	for _, c := range d.Columns {
		if !used[c.Name.V] {
			f.Terms = append(f.Terms, Term{At: f.Rest, Columns: []string{c.Name.V}})
		}
	}
	f.Rest = expr.Position{}
}

// usedBy collects the columns that a formula mentions.
func (f *Formula) usedBy() map[string]bool {
	used := make(map[string]bool)
	for _, name := range f.columnsOf() {
		used[name.V] = true
	}
	for _, name := range f.Compared {
		used[name] = true
	}
	return used
}
