package spec

import (
	"fmt"
	"strconv"
	"strings"
)

// Blank marks a place of a skeleton that a person must fill in.
const Blank = "FILL_IN"

// Skeleton returns a model file for a table with these column names: a
// complete, commented file in which every place that needs knowledge holds
// Blank, so that a check lists exactly what is missing. It sees no rows.
func Skeleton(header []string) []byte {
	var b strings.Builder
	b.WriteString(skeletonTop)
	taken := make(map[string]bool)
	for i, h := range header {
		name := plainName(h, i, taken)
		if name == h {
			fmt.Fprintf(&b, "    %s: %s\n", name, Blank)
		} else {
			fmt.Fprintf(&b, "    %s: {header: %s, type: %s}\n", name, strconv.Quote(h), Blank)
		}
	}
	b.WriteString(skeletonBottom)
	return []byte(b.String())
}

const skeletonTop = `# A model for d3p. Replace every ` + Blank + `; then run: d3p check FILE
# State what is known without looking at the data: codebook, physics, law.
d3p: 1

data:
  # What one protected entity is (person, patient, household), one row each. Of
  # several rows three are kept with {entity: patient, id: COLUMN, rows_per_unit: 3}
  # and COLUMN taken out of the columns below.
  unit: {entity: ` + Blank + `, rows_per_unit: 1}
  # The number of rows is private: declare it public, or a public bound on it:
  # {public: 8124} or {upper_bound: 10000}.
  rows: {public: ` + Blank + `}
  # Values outside the bounds are clamped, silently.
  out_of_range: clamp
  # One line per column, in one of these forms; unused columns may go to drop.
  #   {type: real, lower: 18, upper: 100, source: codebook}
  #   {type: integer, lower: 0, upper: 40, scale: {center: 12, by: 8}}
  #   {type: binary, levels: [no, yes]}
  #   {type: category, levels: [never, former, current], unknown: never}
  columns:
`

const skeletonBottom = `  missing:
    default: reject        # such a record contributes nothing; or per column:
    # COLUMN: {impute: 27, indicator: true}
  # drop: [name, postcode]

model:
  # outcome ~ 1 + a + b + a:b + (1 | group)
  formula: ` + Blank + `
  # bernoulli for a binary outcome, normal for a real one, poisson for a count
  family: ` + Blank + `
  # priors:
  #   Intercept: normal(0, 2.5)
  #   b: normal(0, 1)

privacy:
  epsilon: 1
  neighbours: add_remove
`

// plainName returns a name that can stand in a formula and is not yet taken.
func plainName(h string, i int, taken map[string]bool) string {
	name := strings.Map(func(r rune) rune {
		if isName("x" + string(r)) {
			return r
		}
		return '_'
	}, h)
	if !isName(name) {
		name = "x" + name
	}
	if !isName(name) || taken[name] {
		name = fmt.Sprintf("column%d", i+1)
	}
	taken[name] = true
	return name
}
