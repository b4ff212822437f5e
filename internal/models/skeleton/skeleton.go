// Package skeleton writes the model file that `d3p init` starts with, from a header
// or from a public codebook.
package skeleton

import (
	"fmt"
	"strconv"
	"strings"

	"d3p/internal/models/source"
	"d3p/internal/models/spec"
)

// Known is public information about a table besides its columns; the user fills in values
// that are "" or 0.
type Known struct {
	Entity          string // name of one protected entity
	Records         int    // their public number
	Formula, Family string
	Twin            bool // the model is of whole records, for synthetic tables
	// Buys: the file shows how to buy unknown numbers.
	Buys bool
	// Semicolons: they separate the fields of the file, so decimals may be commas.
	Semicolons bool
	Decimal    string            // decimal sign, if Semicolons is set
	id         string            // column of the units' ids
	Encoding   string            // of the file; "" is UTF-8
	Lists      map[string]string // setting of a tensor that reads a column of lists, such as tokens: 30000
}

// Skeleton returns a model file for a table with these column names: a complete, commented
// file with Blank in every place that needs knowledge, so that a check lists exactly the
// missing values. With a formula it has only the needed columns. It reads no rows.
func Skeleton(header []string, known Known) []byte {
	var b strings.Builder
	b.WriteString(known.top())
	names := plainNames(header)
	needed := known.needed(names)
	var others, lists []string
	for i, h := range header {
		setting, list := known.Lists[h]
		switch name := names[i]; {
		case list:
			lists = append(lists, fmt.Sprintf("  #   %s: {from: %s, %s, dims: [t], shape: [64]}\n", name, scalar(h), setting))
		case strings.TrimSpace(h) == "":
			why := "row numbers, or a separator at the end of lines?"
			if len(header) > 2 && nameless(header) == len(header)-1 {
				why = "is the first line a title? The names must stand there."
			}
			fmt.Fprintf(&b, "    # Column %d of the file has no name and is left out: %s\n", i+1, why)
		case !needed(name):
			others = append(others, h)
		case name == h:
			fmt.Fprintf(&b, "    %s: %s\n", name, spec.Blank)
		default:
			fmt.Fprintf(&b, "    %s: {header: %s, type: %s}\n", name, strconv.Quote(h), spec.Blank)
		}
	}
	b.WriteString(leftOut(others))
	if len(lists) > 0 {
		b.WriteString(skeletonLists + strings.Join(lists, ""))
	}
	b.WriteString(known.bottom())
	return []byte(b.String())
}

// top is the file up to the columns.
func (k Known) top() string {
	records, text, decimal := spec.Blank, "", spec.Blank
	if k.Decimal != "" {
		decimal = strconv.Quote(k.Decimal)
	}
	unit := "rows_per_unit: 1"
	if k.id != "" {
		unit = fmt.Sprintf("id: %s, rows_per_unit: %s", scalar(k.id), spec.Blank)
	}
	if k.Records > 0 {
		records = strconv.Itoa(k.Records)
	}
	if k.Semicolons {
		text = fmt.Sprintf(skeletonDecimal, decimal)
	}
	if k.Encoding != "" {
		text += "  encoding: " + k.Encoding + "\n"
	}
	rows, columns := "", ""
	if k.Buys {
		rows, columns = skeletonBoughtRows, skeletonBoughtColumns
	}
	return fmt.Sprintf(skeletonTop, spec.Blank, scalar(orBlank(k.Entity)), unit, rows, records, text, columns)
}

// bottom is the file after the columns.
func (k Known) bottom() string {
	family := orBlank(k.Family)
	if k.Family == "piecewise_exponential" {
		family += "\n  # the times at which the rate changes, such as [0.5, 1, 5]\n  cuts: " + spec.Blank
	}
	missing, model := skeletonMissing, fmt.Sprintf(skeletonModel, orBlank(k.Formula), family)
	if k.Twin {
		missing, model = skeletonMissingTwin, skeletonTwin
	}
	return missing + skeletonText + model + skeletonPrivacy
}

const skeletonTop = `# A model for d3p. Replace every %s; then run: d3p check FILE
# State public knowledge without looking at the data: codebook, physics, law.
d3p: 1

data:
  # The protected entity (person, patient, household), one row each. When it
  # may have several rows, name its id column here and remove that column from the
  # list below: {entity: patient, id: COLUMN, rows_per_unit: 3}
  unit: {entity: %s, %s}
  # The number of rows is private: declare it public, or a public bound on it:
  # {public: 8124} or {upper_bound: 10000}.
%s  rows: {public: %s}
  # Values outside the bounds are clamped, silently.
  out_of_range: clamp
%s  # One line per column, in one of these forms. Take out columns that the model does
  # not need. A scale says where values lie; without one it comes from the bounds, which
  # are wide, and results are less precise.
  #   {type: real, lower: 18, upper: 100, source: codebook}
  #   {type: integer, lower: 0, upper: 40, scale: {center: 12, by: 8}, missing_tokens: [99]}
  #   {type: date, lower: 2015-01-01, upper: 2024-12-31}
  #   {type: binary, levels: [no, yes]}
  #   {type: category, levels: [never, former, current], unknown: never}
  #   {type: ordinal, levels: [low, middle, high]}
%s  columns:
`

const skeletonBoughtRows = `  # Beside a bound a noisy number can be bought, here for epsilon 0.05 alone:
  # {upper_bound: 10000, dp: 0.05}
`

const skeletonBoughtColumns = `  # What is not known of numbers can be bought with a part of the budget, bounds between
  # limits that hold for sure:
  #   {type: real, bounds: {dp: 0.05, within: [0, 500]}}
  #   {type: real, lower: 18, upper: 100, scale: {dp: 0.05}}
  # and of a category the levels that many units have; the others become the unknown one:
  #   {type: category, levels: {dp: 0.05, most: 50}, unknown: other}
`

const skeletonDecimal = `  # How the file writes numbers: "," as in 3,14 or "." as in 3.14.
  decimal: %s
`

const skeletonLists = `  # Lists of whole numbers or words. Networks (d3p help layers) read them as tokens: state how
  # many tokens there are, or the file of a public vocabulary, and how many of a list are kept.
  # tensors:
`

const skeletonMissing = `  missing:
    default: reject        # such a record contributes nothing; or per column:
    # COLUMN: {impute: 27, indicator: true}
`

const skeletonMissingTwin = `  missing:
    default: model         # missing is a value of the column, in the twin too; or per column:
    # COLUMN: reject       # a record without it contributes nothing
`

const skeletonText = `  # missing_tokens: [NA, "-9"]  # beside an empty cell, instead of NA, N/A, NaN, null and a point
  # dates: dmy              # where the file has 31.12.2024; thousands: "," for 1,234; encoding: windows-1252
  # drop: [name, postcode]

`

const skeletonModel = `model:
  # outcome ~ 1 + a + b + a:b + (1 | group)
  formula: %s
  # bernoulli for a binary outcome, normal for a real one, poisson for a count
  family: %s
  # priors:
  #   Intercept: normal(0, 2.5)
  #   b: normal(0, 1)

`

const skeletonTwin = `# A synthetic table from noisy counts of pairs of columns.
twin:
  engine: marginals
  # workload: [[COLUMN, OTHER], all 2-way]   # tables to keep; what is named again weighs more
  # constraints: [COLUMN >= 1 or OTHER == 'no']

`

const skeletonPrivacy = `privacy:
  epsilon: 1
  neighbours: add_remove
`

// nameless is the number of columns without a name.
func nameless(header []string) (n int) {
	for _, h := range header {
		if strings.TrimSpace(h) == "" {
			n++
		}
	}
	return n
}

// plainNames returns a name for each column that a formula can use.
func plainNames(header []string) []string {
	taken, names := make(map[string]bool), make([]string, len(header))
	for i, h := range header {
		names[i] = plainName(h, i, taken)
	}
	return names
}

// plainName returns an unused name that a formula can use.
func plainName(h string, i int, taken map[string]bool) string {
	name := strings.Join(strings.FieldsFunc(h, func(r rune) bool { return !source.IsName("x" + string(r)) }), "_")
	if !source.IsName(name) || strings.EqualFold(name, "null") { // which is no text in YAML
		name = "x" + name
	}
	if !source.IsName(name) || taken[name] {
		name = fmt.Sprintf("column%d", i+1)
	}
	taken[name] = true
	return name
}
