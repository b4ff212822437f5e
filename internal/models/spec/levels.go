package spec

import (
	"bytes"
	"encoding/csv"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/data"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
	"d3p/internal/spell"
)

var errEmptyTable = errors.New("the file is empty")

// Loader returns the contents of a public file that a model file names, by a
// path relative to that model file.
type Loader func(path string) ([]byte, error)

// loadLevels fills the levels of the columns that name a file for them.
func (r *reader) loadLevels(d *data.Data, load Loader) {
	for _, c := range d.Columns {
		from := c.LevelsFrom
		if !from.IsSet() {
			continue
		}
		if len(c.Levels) > 0 {
			r.Add(from.At, "", "column %s has both levels and levels_from", c.Name.V)
			continue
		}
		file, column, _ := strings.Cut(from.V, "#")
		if column == "" {
			r.Add(from.At, "", "levels_from must be file.csv#column, not %s", from.V)
			continue
		}
		table, header, err := readCSV(r.relative(file), load)
		if err != nil {
			r.Add(from.At, "", "cannot read the levels of %s: %v", c.Name.V, err)
			continue
		}
		at := slices.Index(header, column)
		if at < 0 {
			r.Add(from.At, spell.Suggest(column, "columns", header), "%s has no column %s", file, column)
			continue
		}
		seen := make(map[string]bool)
		for _, row := range table {
			if row[at] != "" && !seen[row[at]] {
				seen[row[at]] = true
				c.Levels = append(c.Levels, source.Value[string]{V: row[at]})
			}
		}
	}
}

// checkLevelPrices reports what a column whose levels are bought cannot have: their names are not
// known before the fit, but for the one that takes all other texts.
func (r *reader) checkLevelPrices(c *data.Column) {
	if !c.BuysLevels() {
		return
	}
	at := c.Prices.Levels.At
	switch {
	case c.Type.V != data.Category:
		r.Add(at, "list them", "levels of type %s cannot be bought, only those of a category", c.Type.V)
	case c.Prices.MostLevels.V > data.LimitMostLevels:
		r.Add(c.Prices.MostLevels.At, "", "most must be at most %d", data.LimitMostLevels)
	case c.Reference.IsSet() && c.Reference.V != c.Unknown.V:
		r.Add(c.Reference.At, "leave it out: the commonest level is the reference", "which levels %s has is bought, so %s may be none", c.Name.V, c.Reference.V)
	case len(c.Unknown.V) > 0 && strings.ContainsFunc(c.Unknown.V, func(x rune) bool { return !unicode.IsPrint(x) }):
		r.Add(c.Unknown.At, "", "the name of a level must be printable")
	}
}

// ofPlaceholder is a place in a model file that means a level to buy by the name of its placeholder.
var ofPlaceholder = regexp.MustCompile(`[=\'\x60"]` + data.Placeholder + `[0-9]`)

// namesBoughtLevels reports a text that names levels before they are bought, as `d3p render --core`
// prints them.
func (r *reader) namesBoughtLevels(src []byte) {
	at := ofPlaceholder.FindIndex(src)
	if at == nil || !slices.ContainsFunc(r.spec.Data.Columns, (*data.Column).BuysLevels) {
		return
	}
	line := 1 + bytes.Count(src[:at[0]], []byte("\n"))
	r.Add(expr.Position{File: r.file, Line: line, Column: at[0] - bytes.LastIndexByte(src[:at[0]], '\n') + 1}, "list the levels, or write a formula", "levels have no names before they are bought")
}

// maxWhole bounds the number of levels from one number to another.
const maxWhole = 1 << 16

// wholeLevels are the levels of the text first..last.
func (r *reader) wholeLevels(n *ast.StringNode) (levels []source.Value[string]) {
	first, last, ok := strings.Cut(n.Value, "..")
	from, err := strconv.Atoi(strings.TrimSpace(first))
	to, err2 := strconv.Atoi(strings.TrimSpace(last))
	switch {
	case !ok || err != nil || err2 != nil:
		r.Add(r.at(n), "write [a, b, c], or 1..61 for whole numbers", "levels must be a list, not %s", describe(n))
		return nil
	case to < from || to-from >= maxWhole:
		r.Add(r.at(n), "the first number, two points and the last", "%s stands for no levels, or for more than %d", n.Value, maxWhole)
		return nil
	}
	for k := from; k <= to; k++ {
		levels = append(levels, source.Value[string]{V: strconv.Itoa(k), At: r.at(n)})
	}
	return levels
}

// readCSV reads a public table with a header line. Spaces around cells are no part
// of them, as in data files.
func readCSV(path string, load Loader) (rows [][]string, header []string, err error) {
	src, err := load(path)
	if err != nil {
		return nil, nil, err
	}
	reader := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(src, []byte("\ufeff"))))
	rows, err = reader.ReadAll()
	if err != nil {
		return nil, nil, err
	}
	if len(rows) == 0 {
		return nil, nil, errEmptyTable
	}
	for _, row := range rows {
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
	}
	return rows[1:], rows[0], nil
}
