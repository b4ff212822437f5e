package formula

import (
	"strings"

	"d3p/internal/models/source"
)

// raw adds, as quantities, the population-level coefficients in the units of
// the file, beside those at the declared scales that the priors are about:
//
//	b_raw: b * y.by / coef.by
//	Intercept_raw: y.center + y.by * (Intercept - sum(b * coef.center / coef.by, over=coef))
//	sigma_raw: sigma * y.by
//	thresholds_raw: thresholds + sum(b * coef.center / coef.by, over=coef)
//	baseline_raw: baseline - log(y.by) - sum(b * coef.center / coef.by, over=coef)
//
// y.center and y.by drop out unless the response is on a scale; a response that
// is modelled relative to its scale has log(y.by) + Intercept instead. A column with a
// transform has its coefficient per transformed unit. There are none when all
// scales are one, none with interactions of scaled columns or curves in them, whose
// coefficients do not change unit one by one, and none where another link than the family's
// own stands between predictor and scaled response.
func (l *lowering) raw(f *family, labels []string) {
	m, y := l.model, l.Data.Column(l.model.Terms.Response.V)
	predictors, ok := l.Data.Scaled(labels)
	response := f.scaled && !y.Unscaled()
	if !ok || len(m.Terms.Smooths) > 0 || !predictors && !response && !f.relative && !f.Intervals {
		return
	}
	if (response || f.relative) && f.Link(m.Link.V) != &f.links[0] {
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
		l.Define(&l.Core.Let, name, source.Value[string]{V: text, At: m.Formula.At})
	}
	center := ""
	if predictors {
		define("b_raw", times+"b / coef.by")
		center = "sum(b * coef.center / coef.by, over=coef)"
	} else if len(labels) > 0 && response {
		define("b_raw", times+"b")
	}
	switch {
	case f.cuts && center != "":
		define("thresholds_raw", "thresholds + "+center)
	case f.Intervals && center != "":
		define("baseline_raw", "baseline - log("+y.Name.V+".by) - "+center)
	case f.Intervals:
		define("baseline_raw", "baseline - log("+y.Name.V+".by)")
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
