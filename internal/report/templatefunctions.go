package report

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/decimal"
	"d3p/internal/privacy/event"
	"d3p/internal/report/figure"
)

// functions are the functions for the templates of the readable reports.
func functions() map[string]any {
	return map[string]any{
		"figureStyles": figure.StyleSheet,
		"g":            func(x float64) string { return fmt.Sprintf("%.4g", x) },
		"up":           Upward,
		"between":      between,
		"percentUp":    percentUp,
		"percent":      func(x float64) string { return fmt.Sprintf("%.3g %%", 100*x) },
		"f3":           func(x float64) string { return fmt.Sprintf("%.3f", x) },
		"share":        share,
		"shares":       Shares,
		"others":       OtherRuns,
		"join":         strings.Join,
		"constants":    constants,
		"code":         asCode,
		"mark":         func(status string) string { return statusMarks[status] },
		"decades":      decades,
		"breakable":    breakable,
		"relation":     func(name string) string { return RelationWords(event.Relation(name)) },
	}
}

// percentUp prints an upper bound in per cent, never below it.
func percentUp(x float64) string {
	shown, _ := strconv.ParseFloat(decimal.Up(x, 3), 64) // a number that was just printed
	return fmt.Sprintf("%.3g %%", 100*shown)
}

// breakable is a parameter's name as HTML that a narrow column may break before
// its indices.
func breakable(name string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(name), "[", "<wbr>["))
}

// statusMarks are the signs of the states of an assumption.
var statusMarks = map[string]string{Holds: "✓", Declared: "○", Unknown: "?", Fails: "✗"}

// share prints a part of a variance.
func share(x *float64) string {
	if x == nil {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100**x)
}

// OtherRuns prints the number of other runs in a ledger.
func OtherRuns(n int) string {
	if n == 1 {
		return "1 other run"
	}
	return fmt.Sprintf("%d other runs", n)
}

// Shares prints the range of parts of variances.
func Shares(least, most float64) string {
	low, high := fmt.Sprintf("%.0f", 100*least), fmt.Sprintf("%.0f", 100*most)
	if low != high {
		high = low + " to " + high
	}
	return high + " %"
}

// constants prints declared constants in the order of their names.
func constants(m map[string]any) string {
	var parts []string
	for name, v := range m {
		parts = append(parts, fmt.Sprintf("%s %s", name, constant(v)))
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

// constant prints one declared constant, and of a long list its beginning:
// spec.lock.yaml has all of it.
func constant(v any) string {
	const most = 20
	list := listed(v)
	if x, ok := v.(float64); ok {
		return fmt.Sprintf("%.6g", x)
	}
	if list == nil {
		return fmt.Sprint(v)
	}
	text := strings.Join(list[:min(most, len(list))], ", ")
	if n := len(list) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// listed are the texts of a list, as []string or as decoded JSON; nil for any other value.
func listed(v any) (list []string) {
	switch v := v.(type) {
	case []string:
		return v
	case []any:
		for _, x := range v {
			list = append(list, fmt.Sprint(x))
		}
	}
	return list
}

// decades are the points of a curve at whole powers of ten up to 1e-4: the deltas that
// custodians ask for.
func decades(curve []Point) (points []Point) {
	for _, p := range curve {
		for k := 1e-9; k < 2e-4; k *= 10 {
			if p.Delta/k > 0.999 && p.Delta/k < 1.001 {
				points = append(points, p)
			}
		}
	}
	return points
}

// columnRow has the steps of one column, in order.
type columnRow struct {
	Name    string
	Steps   []string
	Source  string
	Epsilon float64
}

// columnRows gathers the transforms by column.
func columnRows(list []Preprocessing) (rows []columnRow) {
	for _, p := range list {
		if len(rows) == 0 || rows[len(rows)-1].Name != p.Column {
			rows = append(rows, columnRow{Name: p.Column, Source: p.Source})
		}
		row := &rows[len(rows)-1]
		step := p.Operation
		if words := constants(p.Parameters); words != "" {
			step += ": " + words
		}
		row.Steps, row.Epsilon = append(row.Steps, step), row.Epsilon+p.Epsilon
	}
	return rows
}

// levelSize states the size of a category's levels: with equal shares N/Levels records
// each, and a noise-to-signal ratio that is Levels times as large.
type levelSize struct {
	Column        string
	Levels        int
	Records       int
	NoiseToSignal float64
}

func levelSizes(p *Privacy) (rows []levelSize) {
	for _, step := range p.Preprocessing {
		if levels := len(listed(step.Parameters["levels"])); levels > 1 {
			rows = append(rows, levelSize{step.Column, levels, p.Neighbours.NPublic / levels, p.Utility.NoiseToSignal * float64(levels)})
		}
	}
	return rows
}

// beliefTable is the table of beliefs: a row per prior, a column per test.
type beliefTable struct {
	Rates []float64 // false positive rates of the columns
	Rows  []beliefRow
}

type beliefRow struct {
	Prior float64
	After []float64
	Limit float64
}

func beliefs(p *Privacy) (t beliefTable) {
	if p.Guarantee == nil {
		return t
	}
	for i, limit := range p.Guarantee.Limits {
		row := beliefRow{Prior: limit.Prior, Limit: limit.MaxPosterior}
		for _, b := range p.Risk.Belief {
			if b.Prior == limit.Prior {
				row.After = append(row.After, b.MaxPosterior)
			}
			if i == 0 && b.Prior == limit.Prior {
				t.Rates = append(t.Rates, b.AtFPR)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// testRow is a test of membership: its false accusations, and a bound on its right ones.
type testRow struct{ FPR, TPR float64 }

// Tests are the tests of membership of TPRAtFPR, in order.
func (r *Risk) Tests() (rows []testRow) {
	for _, fpr := range falsePositives {
		rows = append(rows, testRow{fpr, r.TPRAtFPR[rateName(fpr)]})
	}
	return rows
}
