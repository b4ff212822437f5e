package settings

import (
	"fmt"
	"slices"
	"strings"

	"d3p/internal/privacy/event"
	"d3p/internal/privacy/sampler"
)

// Need is a condition on another setting, without which a setting has no use.
type Need struct {
	When    []string // values of the setting that have the need; empty: every value
	Unless  string   // the value of the setting that does not have it
	Setting string   // the other setting
	Is      []string // the values that it must have; empty: anything but Not
	Not     []string
	Rather  string // the value to give it; the first of Is unless given, "" to leave the setting out
	Why     string // instead of "optimizer adam does not use it"
}

// Conflict is a setting that contradicts the others.
type Conflict struct {
	Name, Text     string
	Setting, Value string // the other setting and the value to give it; Value "": leave the setting out
	Open           bool   // no source gives the other setting a value
}

// Error states the mistake and the replacement.
func (c Conflict) Error() string {
	if c.Value == "" {
		return fmt.Sprintf("%s (leave one of the two out)", c.Text)
	}
	return fmt.Sprintf("%s (type --%s %s, or leave --%s out)", c.Text, c.Setting, c.Value, c.Name)
}

// Conflicts lists the given settings that another one already decides or that the values
// make useless. Values are the given ones and those that follow from them.
func Conflicts(given, values map[string]any) (list []Conflict) {
	for _, row := range Table() {
		value, ok := given[row.Name]
		if !ok {
			continue
		}
		if _, twice := given[row.Same]; twice {
			list = append(list, Conflict{Name: row.Name, Text: fmt.Sprintf("%s has the same meaning", row.Same), Setting: row.Same})
		}
		for _, need := range row.Needs {
			if c, ok := need.conflict(row, row.Print(value), values); ok {
				list = append(list, c)
			}
		}
	}
	return list
}

func (n Need) conflict(row Setting, value string, values map[string]any) (Conflict, bool) {
	if len(n.When) > 0 && !slices.Contains(n.When, value) || n.Unless != "" && n.Unless == value {
		return Conflict{}, false
	}
	other, known := values[n.Setting].(string)
	if !slices.Contains(n.Not, other) && (len(n.Is) == 0 || slices.Contains(n.Is, other)) {
		return Conflict{}, false
	}
	c := Conflict{row.Name, n.Why, n.Setting, n.Rather, !known}
	if len(n.Is) > 0 {
		c.Value = n.Is[0]
	}
	switch {
	case c.Text != "":
	case known:
		c.Text = fmt.Sprintf("%s %s does not use it", n.Setting, other)
	default:
		c.Text = fmt.Sprintf("only %s %s uses it", n.Setting, strings.Join(n.Is, ", "))
	}
	return c, true
}

// accounted are the needs of schemes without an accounting under every relation.
func accounted() (needs []Need) {
	for _, scheme := range sampler.Schemes() {
		known := sampler.Relations(scheme)
		for _, r := range event.Relations() {
			if !slices.Contains(known, r) {
				needs = append(needs, Need{When: []string{scheme}, Setting: "neighbours", Not: []string{string(r)}, Rather: string(known[0]),
					Why: fmt.Sprintf("%s is not accounted for under neighbours %s", scheme, r)})
			}
		}
	}
	return needs
}
