package synthesis_test

import (
	"fmt"
	"strings"
	"testing"

	"d3p/internal/privacy/event"
)

// The page has one picture of each counted pair. It shows the finest cells, or groups of cells,
// that the pair was counted by.
func TestPageShowsCountedPairs(t *testing.T) {
	m := read(t, model)
	table, _ := learn(t, m, people(2000, public(70)), event.AddRemove, 12, 71)
	page := table.Utility(m)
	grouped, cells := 0, make(map[string]int)
	for _, x := range table.Tables {
		if len(x.Columns) != 2 {
			continue
		}
		name := fmt.Sprintf("\n%s by %s (across", table.Columns[x.Columns[0]].Name, table.Columns[x.Columns[1]].Name)
		cells[name] = max(cells[name], len(x.Counts))
		if x.Groups != nil && x.Groups[0] != nil {
			grouped++
		}
	}
	if grouped == 0 {
		t.Error("no pair was counted by groups")
	}
	for name, want := range cells {
		_, after, _ := strings.Cut(page, name)
		picture, _, _ := strings.Cut(after, "```")
		_, row, _ := strings.Cut(picture, "|")
		if got := strings.Count(picture, "|\n") * strings.IndexByte(row, '|'); got != want || strings.Count(page, name) != 1 {
			t.Errorf("%s: %d pictures, of %d cells, want one of %d", name[1:], strings.Count(page, name), got, want)
		}
	}
}
