package records

import (
	"fmt"
	"strings"
	"testing"
)

// The encoder finds every level and no other spelling, also if all levels begin and end
// alike.
func TestLevelSet(t *testing.T) {
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprint("l", i), fmt.Sprintf("aaaaaaaa%dbbbbbbbb", i), strings.Repeat("x", i))
	}
	s := newLevelSet(names, nil)
	for code, name := range names {
		if got, ok := s.find([]byte(name)); got != code || !ok {
			t.Fatalf("%q has the code %d (%v), want %d", name, got, ok, code)
		}
		for _, other := range []string{name + "y", "y" + name, name + "\x00"} {
			if got, ok := s.find([]byte(other)); ok {
				t.Fatalf("%q is taken for %q", other, names[got])
			}
		}
	}
	if _, ok := s.findFolded([]byte("L7")); !ok {
		t.Error("a level in other case is not found")
	}
	if _, ok := newLevelSet(nil, nil).find([]byte("a")); ok {
		t.Error("a level of none is found")
	}
}
