package synthesis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/event"
	"d3p/internal/synthesis"
)

// The page has one picture of each counted pair. It shows the finest cells, or groups of cells,
// that the pair was counted by.
func TestPageShowsCountedPairs(t *testing.T) {
	m := modelstest.Compile(t, "m.yaml", model)
	table, _ := learn(t, m, people(2000, public(70)), event.AddRemove, 12, 71)
	page := table.Utility(m)
	if !strings.Contains(page, "A fit whose `workload:` lists the tables of the analysis\nalone counts more of them.") {
		t.Error("the page does not say how more tables are counted")
	}
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

// A column is unread if its missing cell holds nearly all records, and more than noise. Many
// records are unusable if the estimate of their number is a tenth and three noises below it.
func TestUnread(t *testing.T) {
	table := &synthesis.Table{Records: 1000, Columns: []synthesis.Column{
		{Name: "full", Levels: 2, Missing: true}, {Name: "half", Levels: 2, Missing: true},
		{Name: "empty", Levels: 2, Missing: true}, {Name: "noisy", Levels: 2, Missing: true}, {Name: "complete", Levels: 2}}}
	for k, x := range []synthesis.Counts{
		{Counts: []float64{500, 490, 10}, Variance: 100}, {Counts: []float64{300, 100, 600}, Variance: 100},
		{Counts: []float64{4, 6, 990}, Variance: 100}, {Counts: []float64{-200, 250, 950}, Variance: 160000}, {Counts: []float64{20, 980}, Variance: 100},
	} {
		x.Columns = []int{k}
		table.Tables = append(table.Tables, x)
	}
	if got := table.Unread(); !slices.Equal(got, []string{"empty"}) {
		t.Errorf("unread columns %v, want empty", got)
	}
	for records, want := range map[int]bool{1000: false, 1080: false, 1112: true, 2000: true} {
		if table.Unusable(records) != want { // the noise of three counts is 17
			t.Errorf("1000 of %d records: %v", records, !want)
		}
	}
}
