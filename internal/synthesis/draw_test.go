package synthesis

import (
	"slices"
	"testing"

	"d3p/internal/marginals"
)

// A drawer compares every triple once, and none where their tables are too large.
func TestCompared(t *testing.T) {
	table := &Table{Columns: []Column{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}}
	table.Distances = []Distance{{Columns: []string{"b", "a"}}, {Columns: []string{"d", "c", "a"}}}
	small := marginals.Domain{2, 3, 4, 5}
	sets, triples := table.compared(small)
	want := []marginals.Set{{0, 1, 2}, {0, 1, 3}, {1, 2, 3}}
	if !slices.EqualFunc(triples, want, slices.Equal) || len(sets) != 2 || !slices.Equal(sets[1], marginals.Set{0, 2, 3}) {
		t.Errorf("sets %v, triples %v", sets, triples)
	}
	if sets, triples = table.compared(marginals.Domain{2, 300, 300, 300}); len(sets) != 2 || triples != nil {
		t.Errorf("large: sets %v, triples %v", sets, triples)
	}
	if sets, _ = table.compared(marginals.Domain{300, 2, 300, 300}); sets != nil {
		t.Errorf("a workload too large has sets %v", sets)
	}
}
