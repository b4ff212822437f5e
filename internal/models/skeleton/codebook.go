package skeleton

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/models/data"
	"d3p/internal/models/source"
	"d3p/internal/models/spec"
)

// Described is a line of a public codebook: its texts about a column, empty if it has none.
type Described struct {
	Name         string // in the header of the data file
	Type         string // real, integer, binary, category, ...
	Lower, Upper string
	Levels       string // separated by "|", or by ";"
	Center, By   string // scale
	Transform    string
	Unknown      string // the level for values that are not listed; of a number, as Missing
	Missing      string // cells without a value, such as -9, separated as Levels
	Source       string // "" means the codebook itself
	Label        string // becomes a comment
	Role         string // in the model: response, predictor, group, id, ignore; see byRoles
}

// FromCodebook is Skeleton for columns that a public codebook describes: a check asks only
// for the missing values.
func FromCodebook(columns []Described, known Known) []byte {
	var b strings.Builder
	columns, known = known.byRoles(columns)
	b.WriteString(known.top())
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = c.Name
	}
	names := plainNames(header)
	needed := known.needed(names)
	var others []string
	for i, c := range columns {
		if !needed(names[i]) {
			others = append(others, c.Name)
			continue
		}
		line := fmt.Sprintf("    %s: {%s}", names[i], strings.Join(c.entries(names[i], known.groups(names[i])), ", "))
		if label := strings.Join(strings.Fields(c.Label), " "); label != "" {
			line += "  # " + label
		}
		b.WriteString(line + "\n")
	}
	b.WriteString(leftOut(others))
	b.WriteString(known.bottom())
	return []byte(b.String())
}

// missingTokens are the cells that mean "no value" in the column, besides the usual ones.
func (c Described) missingTokens() []string {
	tokens := splitList(c.Missing)
	if levels := splitList(c.Levels); len(levels) == 0 && typeOf(c.Type, levels, c.Lower+c.Upper) != data.Category {
		tokens = append(tokens, splitList(c.Unknown)...)
	}
	return slices.DeleteFunc(tokens, func(token string) bool { return slices.Contains(data.UsualMissingTokens(), token) })
}

// entries are the keys and values of a column's declaration. If the column groups
// records, whole numbers are names of levels.
func (c Described) entries(name string, groups bool) (list []string) {
	add := func(key, value string) {
		if value != "" {
			list = append(list, key+": "+scalar(value))
		}
	}
	if name != c.Name {
		list = append(list, "header: "+strconv.Quote(c.Name))
	}
	levels := splitList(c.Levels)
	kind := typeOf(c.Type, levels, c.Lower+c.Upper)
	whole := groups && kind == data.Integer && c.Lower != "" && c.Upper != ""
	if whole {
		kind = data.Category
	}
	add("type", kind)
	if whole {
		list = append(list, "levels: "+c.Lower+".."+c.Upper)
	} else if len(levels) > 0 {
		list = append(list, "levels: "+quotedList(levels))
		add("unknown", c.Unknown)
	} else if kind == data.Category || kind == data.Ordinal {
		add("levels", spec.Blank)
	} else if kind == data.Real || kind == data.Integer || kind == data.Date {
		add("lower", orBlank(c.Lower))
		add("upper", orBlank(c.Upper))
	}
	add("transform", c.Transform)
	if c.Center != "" || c.By != "" {
		list = append(list, fmt.Sprintf("scale: {center: %s, by: %s}", scalar(orBlank(c.Center)), scalar(orBlank(c.By))))
	}
	if tokens := c.missingTokens(); len(tokens) > 0 {
		list = append(list, "missing_tokens: "+quotedList(tokens))
	}
	add("source", cmp.Or(c.Source, "codebook"))
	return list
}

// quotedList writes a list of texts of YAML.
func quotedList(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = strconv.Quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// typeOf is the type for a codebook's word. Without a word it follows from levels and
// bounds; an unknown word stays, and the check asks about it.
func typeOf(word string, levels []string, bounds string) string {
	word = strings.ToLower(word)
	switch word {
	case "numeric", "number", "num", "continuous", "float", "double", "dbl", "float32", "float64", "decimal":
		return data.Real
	case "int", "int32", "int64", "count", "whole":
		return data.Integer
	case "datetime", "timestamp", "posixct":
		return data.Date
	case "bool", "boolean", "logical", "lgl", "dichotomous", "indicator":
		return data.Binary
	case "ordered", "ordered factor":
		return data.Ordinal
	case "", "categorical", "nominal", "factor", "fct", "text", "string", "str", "char", "chr", "character", "object":
	default:
		return word
	}
	switch {
	case len(levels) == 2:
		return data.Binary
	case len(levels) > 0 || word != "":
		return data.Category
	case bounds != "":
		return data.Real
	}
	return spec.Blank
}

// splitList splits a list of levels or of codes, at its bars or else at its semicolons.
func splitList(text string) (list []string) {
	separator := "|"
	if !strings.Contains(text, separator) {
		separator = ";"
	}
	for _, item := range strings.Split(text, separator) {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

func orBlank(text string) string {
	if text == "" {
		return spec.Blank
	}
	return text
}

// scalar writes a value of YAML, unquoted if it is a number or a name.
func scalar(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil || source.IsName(text) {
		return text
	}
	return strconv.Quote(text)
}
