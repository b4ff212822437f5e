package formula

import (
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/source"
)

// Every form of the manual can be read.
func TestManualForms(t *testing.T) {
	for _, row := range Manual() {
		for _, form := range row.Forms {
			if !strings.Contains(form, "~") {
				form = "y ~ " + form
			}
			var p source.Problems
			if Parse(source.Value[string]{V: form}, &p) == nil || len(p.List) > 0 {
				t.Errorf("%s: %v", form, p.List)
			}
		}
	}
}

// The manual has every family with its aliases, links and parameters.
func TestDescribe(t *testing.T) {
	list := Describe()
	if len(list) != len(families) {
		t.Fatalf("%d of %d families", len(list), len(families))
	}
	for i, f := range families {
		d := list[i]
		if !slices.Contains(d.Names, f.Name) || len(d.Links) != len(f.links) || len(d.Parameters) != len(f.aux) || d.Response == "" {
			t.Errorf("%s is described as %+v", f.Name, d)
		}
		for _, alias := range f.aliases {
			if !slices.Contains(d.Names, alias) {
				t.Errorf("%s lacks the alias %s", f.Name, alias)
			}
		}
	}
}
