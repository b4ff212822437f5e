package outputs

import (
	"slices"
	"strings"
	"testing"

	"d3p/internal/settings"
)

// Every format of the table of settings has a writer, and every writer a format.
func TestFormatsHaveWriters(t *testing.T) {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	if want := settings.FormatNames(); !slices.Equal(names, want) {
		t.Errorf("package settings lists the formats %v, and there are writers of %v", want, names)
	}
}

func TestStanOrderIsColumnMajor(t *testing.T) {
	g := Group{Name: "z", Dims: []Dim{{"a", []string{"1", "2"}}, {"b", []string{"x", "y", "w"}}}}
	var names []string
	for _, at := range columnMajor(g.Dims) {
		names = append(names, stanName(g, at))
	}
	if got, want := strings.Join(names, " "), "z.1.1 z.2.1 z.1.2 z.2.2 z.1.3 z.2.3"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
	if got := columnMajor(nil); len(got) != 1 || got[0] != 0 {
		t.Errorf("a scalar has places %v", got)
	}
}

// A dimension is never called like a variable, and has no quote in its name.
func TestDimNames(t *testing.T) {
	z := &zarr{sample: &Sample{Draws: Draws{Groups: []Group{{Name: "ward"}}}}}
	for name, want := range map[string]string{"ward": "ward_dim", "hospital": "hospital", "hospital'": "hospital_2"} {
		if got := z.dim(name); got != want {
			t.Errorf("dimension %s is called %s, want %s", name, got, want)
		}
	}
}

// A draw of more than drawnByDefault numbers is written only when a format is named.
func TestLargeDrawsAreWrittenOnRequest(t *testing.T) {
	s := &Sample{Draws: Draws{S: 2, Variables: make([]Variable, drawnByDefault)}}
	if files := s.Files(nil); len(files) == 0 {
		t.Errorf("no files for %d numbers", drawnByDefault)
	}
	s.Draws.Variables = append(s.Draws.Variables, Variable{})
	if files := s.Files(nil); len(files) != 0 {
		t.Errorf("%d files that nobody asked for", len(files))
	}
	if files := s.Files([]string{"csv"}); len(files) != 1 {
		t.Errorf("%d files of the named format, want 1", len(files))
	}
}
