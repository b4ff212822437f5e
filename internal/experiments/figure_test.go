package main

import (
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
