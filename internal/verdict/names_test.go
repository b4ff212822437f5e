package verdict

import (
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/outputs"
)

// Names of levels may have commas and colons, and coefficients of a category end in its effect.
func TestLevelsWithCommas(t *testing.T) {
	known := Known{
		Levels: map[string][]Level{"job": {{"Army", 9, 1, true}, {"Sales", 9, 1, false}, {"Sales, office", 9, 1, false}, {"a:b", 9, 1, false}}},
		Open:   map[string]string{"x": "site", "max(x,3)": "site"}, Constant: []string{"z"},
	}
	for variable, want := range map[string]string{
		"b[job=Sales, office]":            "job=Army job=Sales, office",
		"b[job=Sales]":                    "job=Army job=Sales",
		"b[x:job=a:b]":                    "job=Army job=a:b",
		"b[job=a:b:x]":                    "job=Army job=a:b",
		"b[job=Sales, office,former]":     "job=Army job=Sales, office",
		"r_job[Sales, office,Intercept]":  "job=Sales, office",
		"r_job[a:b,x:job2=c, d]":          "job=a:b",
		"r_job[Sales,Intercept,former]":   "job=Sales",
		"b[jobs=Sales]":                   "",
		"z_job[Sales, office,x,a former]": "job=Sales, office",
	} {
		var names []string
		for _, level := range known.levelsOf(variable, nil) {
			names = append(names, level.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s compares %q, want %q", variable, got, want)
		}
	}
	for variable, want := range map[string]string{
		"b[x]": outputs.Not, "b[x,former]": outputs.Not, "b[w:x,former]": outputs.Not, "b[max(x,3)]": outputs.Not, "b[z,former]": outputs.Not, "b[w,former]": "", "b[xx]": "",
	} {
		if got := known.besideColumns(variable).Value; got != want {
			t.Errorf("%s is %q, want %q", variable, got, want)
		}
	}
}

// Effects of a level with a comma, and coefficients of a category, depend on the spread between groups.
func TestSpreadOfGroupsWithCommas(t *testing.T) {
	m := modelstest.Compile(t, "commas.yaml", strings.NewReplacer("[p, q]", `["p, a", q]`, "y: {type: real, lower: -50, upper: 50, scale: {center: 0, by: 1}}", "y: {type: category, levels: [never, former, now]}", "family: normal", "family: categorical").Replace(verdictModel))
	known := Known{Declared: 1000, Within: map[string]string{"x": "site"}}
	got := verdicts(t, m, known, nil, nil, map[string]float64{"sd_site[Intercept,now]": 0.6}, nil, nil)
	for variable, want := range map[string]string{
		"sd_site[Intercept,now]": outputs.Partly, "r_site[p, a,Intercept,now]": outputs.Partly, "r_site[q,Intercept,now]": outputs.Partly, "b[x,now]": outputs.Partly,
		"sd_site[Intercept,former]": outputs.Resolved, "b[x,former]": outputs.Resolved, "b[band=b,now]": outputs.Resolved,
	} {
		if got[variable].Value != want {
			t.Errorf("%s is %+v, want %s", variable, got[variable], want)
		}
	}
}
