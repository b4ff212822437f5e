package spec

import "strings"

// raw adds, as quantities, the population-level coefficients in the units of
// the file, beside those at the declared scales that the priors are about:
//
//	b_raw: b * y.by / coef.by
//	Intercept_raw: y.center + y.by * (Intercept - sum(b * coef.center / coef.by, over=coef))
//	sigma_raw: sigma * y.by
//
// y.center and y.by drop out unless the response is on a scale; a response that
// is modelled relative to its scale has log(y.by) + Intercept instead. A column with a
// transform has its coefficient per transformed unit. There are none when all
// scales are one, none with interactions of scaled columns or curves in them, whose
// coefficients do not change unit one by one, and none where another link than the family's
// own stands between predictor and scaled response.
func (l *lowering) raw(f *family, labels []string) {
	m, y := l.model, l.data.Column(l.model.Terms.Response.V)
	predictors, ok := l.data.scaled(labels)
	response := f.scaled && !y.unscaled()
	if !ok || len(m.Terms.Smooths) > 0 || !predictors && !response && !f.relative {
		return
	}
	if (response || f.relative) && f.link(m.Link.V) != &f.links[0] {
		return
	}
	times, plus := "", ""
	if f.relative {
		plus = "log(" + y.Name.V + ".by) + "
	}
	if response {
		times, plus = y.Name.V+".by * ", y.Name.V+".center + "
	}
	define := func(name, text string) {
		l.define(&l.core.Let, name, Value[string]{text, m.Formula.At})
	}
	center := ""
	if predictors {
		define("b_raw", times+"b / coef.by")
		center = "sum(b * coef.center / coef.by, over=coef)"
	} else if len(labels) > 0 && response {
		define("b_raw", times+"b")
	}
	switch {
	case f.replacesIntercept():
	case m.Terms.Intercept && center != "":
		define("Intercept_raw", plus+times+"(Intercept - "+center+")")
	case m.Terms.Intercept:
		define("Intercept_raw", plus+times+"Intercept")
	case center != "":
		define("Intercept_raw", strings.TrimSuffix(plus, "+ ")+"-"+times+center)
	}
	for _, a := range f.aux {
		if a.name == "sigma" && response && m.predicted(a.name) == nil {
			define("sigma_raw", times+"sigma")
		}
	}
}

// unscaled reports whether a column's declared scale is one about zero.
func (c *Column) unscaled() bool {
	center, by := c.Scale()
	return center == 0 && by == 1
}

// scaled reports whether some of the labels stand for columns on a scale; ok is
// false when an interaction of such columns is among them.
func (d *Data) scaled(labels []string) (some, ok bool) {
	for _, label := range labels {
		factors, _ := d.Factors(label)
		for _, f := range factors {
			if !f.Column.Numeric() || f.Missing || f.Column.unscaled() {
				continue
			}
			if len(factors) > 1 {
				return some, false
			}
			some = true
		}
	}
	return some, true
}

// Scales returns what NAME.center and NAME.by stand for: the declared scale of
// the columns that labels name, 0 and 1 for levels; ok is false when a label is
// no predictor or an interaction of columns on a scale.
func (d *Data) Scales(labels []string) (center, by []float64, ok bool) {
	if _, ok := d.scaled(labels); !ok {
		return nil, nil, false
	}
	for _, label := range labels {
		factors, ok := d.Factors(label)
		if !ok {
			return nil, nil, false
		}
		c, s := 0.0, 1.0
		if f := factors[0]; len(factors) == 1 && f.Column.Numeric() && !f.Missing {
			c, s = f.Column.Scale()
		}
		center, by = append(center, c), append(by, s)
	}
	return center, by, true
}
