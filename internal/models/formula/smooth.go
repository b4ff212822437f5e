package formula

import (
	"strconv"
	"strings"

	"d3p/internal/models/core"
	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/naming"
	"d3p/internal/models/source"
)

// Smooth is a curve in one number: poly(x, degree), its powers from x on, or
// spline(x, t1, ..., tn), a natural cubic spline that bends at knots and is a line
// beyond the outer ones. It becomes `basis @ s_x` with s_x along the dim basis_x.
type Smooth struct {
	At     expr.Position
	Of     string // the parameter of the family that the curve is of; "" for the linear predictor
	Column string
	Degree int       // of poly; 0 for a spline
	Knots  []float64 // of spline, rising, in the unit that the column's scale is in
}

// maxDegree bounds the degree of poly: higher powers only count the tails.
const maxDegree = 9

// String prints the term in the formula's spelling.
func (s *Smooth) String() string {
	if s.Degree > 0 {
		return "poly(" + s.Column + ", " + strconv.Itoa(s.Degree) + ")"
	}
	return "spline(" + s.Column + ", " + joinNumbers(s.Knots) + ")"
}

func joinNumbers(list []float64) string {
	parts := make([]string, len(list))
	for i, x := range list {
		parts[i] = source.FormatNumber(x)
	}
	return strings.Join(parts, ", ")
}

// size is the number of coefficients.
func (s *Smooth) size() int {
	if s.Degree > 0 {
		return s.Degree
	}
	return len(s.Knots) - 1
}

// param is the name of the coefficients, dim the name of their dim.
func (s *Smooth) param() string { return naming.Curve(within(s.Of, s.Column)) }

func (s *Smooth) dim() string { return "basis_" + within(s.Of, s.Column) }

// within is the part of a name for a group or a curve: sigma_g in the formula of sigma, g
// in that of the response.
func within(parameter, name string) string {
	if parameter == "" {
		return name
	}
	return parameter + "_" + name
}

// summand is the curve in the core language, where numbers are on their declared
// scales.
func (s *Smooth) summand(c *data.Column) string {
	if s.Degree > 0 {
		return "poly(" + s.Column + ", over=" + s.dim() + ") @ " + s.param()
	}
	center, by := c.Scale()
	knots := make([]float64, len(s.Knots))
	for i, t := range s.Knots {
		knots[i] = (t - center) / by
	}
	return "spline(" + s.Column + ", knots=[" + joinNumbers(knots) + "], over=" + s.dim() + ") @ " + s.param()
}

// isSmooth reports whether a curve comes next.
func (f *parser) isSmooth() bool {
	name := f.peekName()
	return (name == "poly" || name == "spline") && f.isCall()
}

// smooth parses poly(x, degree) or spline(x, knot, knot, knot, ...).
func (f *parser) smooth() *Smooth {
	s := &Smooth{At: f.at()}
	kind := f.name()
	form := "poly(x, 2)"
	if kind == "spline" {
		form = "spline(x, 30, 50, 70), with at least three knots that rise"
	}
	f.take("(")
	s.Column = f.column(form).V
	var numbers []float64
	for !f.failed && f.take(",") {
		numbers = append(numbers, f.number(form))
	}
	f.expect(")", form)
	if f.failed {
		return nil
	}
	if kind == "poly" {
		if len(numbers) != 1 || numbers[0] < 2 || numbers[0] > maxDegree || numbers[0] != float64(int(numbers[0])) {
			f.fail("write "+form, "poly needs one degree, from 2 to %d", maxDegree)
			return nil
		}
		s.Degree = int(numbers[0])
		return s
	}
	rising := len(numbers) >= 3
	for i := 1; i < len(numbers); i++ {
		rising = rising && numbers[i-1] < numbers[i]
	}
	if !rising {
		f.fail("write "+form, "a spline needs at least three knots that rise")
		return nil
	}
	s.Knots = numbers
	return s
}

// number consumes a number where form asks for it.
func (f *parser) number(form string) float64 {
	f.space()
	rest := f.text[f.offset:]
	end := strings.IndexAny(rest, ",) ")
	if end < 0 {
		end = len(rest)
	}
	x, err := strconv.ParseFloat(rest[:end], 64)
	if err != nil || x-x != 0 {
		f.fail("write "+form, "a number must come here, not %s", f.found())
		return 0
	}
	f.offset += end
	return x
}

// checkSmooths reports curves of columns that are no numbers, and columns that occur
// twice in the formula.
func (b *checker) checkSmooths(f *Formula) {
	seen := make(map[string]bool)
	for _, t := range f.Terms {
		if len(t.Columns) == 1 {
			seen[t.Columns[0]] = true
		}
	}
	for _, s := range f.Smooths {
		if c := b.Data.Column(s.Column); c != nil && c.Type.IsSet() && !c.Numeric() {
			b.Add(s.At, "leave it as "+s.Column, "%s: column %s is no number", s, s.Column)
		}
		if seen[s.Column] {
			b.Add(s.At, "a curve has the line in it; leave the other out", "column %s is in the formula besides %s", s.Column, s)
		}
		seen[s.Column] = true
	}
}

// labels are the labels of the coefficients b: those of the terms, and those for missing
// values of columns in curves.
func (f *Formula) labels(d *data.Data) []string {
	labels := labelsOf(d, f.Intercept, f.Terms)
	for _, s := range f.Smooths {
		if c := d.Column(s.Column); c.Missing.Indicator.V {
			labels = append(labels, data.Factor{Column: c, Level: -1, Missing: true}.Label())
		}
	}
	return labels
}

// smooths are the summands of a formula's curves.
func (l *lowering) smooths(f *Formula) (summands []string) {
	m := l.model
	for _, s := range f.Smooths {
		l.AddDim(&core.Dim{Name: source.Value[string]{V: s.dim(), At: m.Formula.At}, Size: source.Value[int]{V: s.size(), At: m.Formula.At}})
		l.Param(s.param(), m.prior(priorB, s.param(), "s"), " ["+s.dim()+l.effect+"]")
		summands = append(summands, s.summand(l.Data.Column(s.Column)))
	}
	return summands
}
