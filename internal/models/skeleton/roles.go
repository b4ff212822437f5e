package skeleton

import (
	"cmp"
	"slices"
	"strings"

	"d3p/internal/models/data"
)

// The roles of columns in a model, by words of codebooks.
var (
	responseRoles  = []string{"response", "outcome", "target", "dependent"}
	predictorRoles = []string{"predictor", "covariate", "feature", "independent", "exposure"}
	groupRoles     = []string{"group", "cluster"}
	idRoles        = []string{"id", "identifier", "unit"}
	ignoredRoles   = []string{"ignore", "ignored", "drop", "none"}
)

// plays reports whether the column has one of these roles.
func (c Described) plays(roles []string) bool {
	return slices.ContainsFunc(roles, func(r string) bool { return strings.EqualFold(r, c.Role) })
}

// byRoles applies the roles of columns: the columns that the file needs, the id of a unit,
// and, if nothing else states them, formula and family.
func (k Known) byRoles(columns []Described) ([]Described, Known) {
	var rest []Described
	var header []string
	for _, c := range columns {
		switch {
		case c.plays(idRoles):
			k.id = c.Name
		case !c.plays(ignoredRoles):
			rest, header = append(rest, c), append(header, c.Name)
		}
	}
	var responses, terms, groups []string
	family := ""
	for i, name := range plainNames(header) {
		switch c := rest[i]; {
		case c.plays(responseRoles):
			responses, family = append(responses, name), c.usualFamily()
		case c.plays(predictorRoles):
			terms = append(terms, name)
		case c.plays(groupRoles):
			groups = append(groups, "(1 | "+name+")")
		}
	}
	if k.Formula == "" && !k.Twin && len(responses) == 1 {
		k.Formula = strings.Join(append(append([]string{responses[0] + " ~ 1"}, terms...), groups...), " + ")
		k.Family = cmp.Or(k.Family, family)
	}
	return rest, k
}

// usualFamily is the family of a response of this type; "" where several are usual.
func (c Described) usualFamily() string {
	return map[string]string{
		data.Binary: "bernoulli", data.Category: "categorical", data.Ordinal: "cumulative", data.Real: "normal",
	}[typeOf(c.Type, splitList(c.Levels), c.Lower+c.Upper)]
}
