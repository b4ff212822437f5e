package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A figure makes each fit once, however often it is stopped; an exact panel needs one fit a
// point.
func TestFiguresContinue(t *testing.T) {
	var made []string
	of := func(name string) []curve {
		return []curve{{name, []float64{1, 2}, func(_ options, x float64, k int, _ string) (float64, error) {
			made = append(made, name)
			return x + float64(k), nil
		}}}
	}
	panels := []panel{{title: "exact", curves: of("exact"), exact: true}, {title: "random", curves: of("random")}}
	f, path := figureTask{name: "fig-test"}, filepath.Join(t.TempDir(), "fig-test.csv")
	for _, fits := range []int{1, 3, 3} {
		rows, err := readFitted(path)
		if err == nil {
			_, err = f.measure(options{}, panels, rows, fits, path, t.TempDir())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(made)
	if want := []string{"exact", "exact", "random", "random", "random", "random", "random", "random"}; !slices.Equal(made, want) {
		t.Errorf("made %v, want %v", made, want)
	}
}

// Figures whose fits need no tables of others have a line for each curve.
func TestFiguresHaveLines(t *testing.T) {
	shared := t.TempDir()
	if err := os.MkdirAll(filepath.Join(shared, "data", "mnist"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range figures {
		panels, err := f.panels(shared)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var rows []fitted
		for _, p := range panels {
			for _, c := range p.curves {
				for _, x := range c.places {
					rows = append(rows, fitted{panel: p.title, curve: c.name, x: x, value: 1})
				}
			}
		}
		if page := f.page(panels, rows, newReport(io.Discard)); len(page.Figures) != len(panels) {
			t.Errorf("%s has %d drawings of %d panels", f.name, len(page.Figures), len(panels))
		}
	}
}
