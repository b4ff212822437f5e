package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"d3p/internal/stattest"
)

// A figure makes each fit once, in a folder that exists, however often it is stopped; an exact panel needs one fit a
// point.
func TestFiguresContinue(t *testing.T) {
	var made []string
	of := func(name string) []curve {
		return []curve{{name, []float64{1, 2}, func(_ options, x float64, k int, dir string) (float64, error) {
			made = append(made, name)
			_, err := os.Stat(dir)
			return x + float64(k), err
		}}}
	}
	panels := []panel{{title: "exact", curves: of("exact"), fits: 1}, {title: "random", curves: of("random")}}
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

// After a fit that fails the others are made, and the figure is drawn from them. The error names
// the fit, which alone is made again.
func TestFiguresGoOn(t *testing.T) {
	broken, made := true, 0
	measure := func(_ options, x float64, _ int, _ string) (float64, error) {
		made++
		if x == 2 && broken {
			return 0, errors.New("no budget")
		}
		return x, nil
	}
	panels := []panel{{title: "three", curves: []curve{{"fits", []float64{1, 2, 3}, measure}}}}
	f := figureTask{name: "fig-test", fits: 1, panels: func(string) ([]panel, error) { return panels, nil }}
	opt := options{figures: t.TempDir()}
	err := f.judge(opt, nil, t.TempDir(), newReport(io.Discard))
	if err == nil || !strings.Contains(err.Error(), "fits at 2, fit 1 of 1: no budget") || made != 3 {
		t.Errorf("%d fits made, error %v", made, err)
	}
	if _, err := os.Stat(filepath.Join(opt.figures, "fig-test.svg")); err != nil {
		t.Error(err)
	}
	broken = false
	if err := f.judge(opt, nil, t.TempDir(), newReport(io.Discard)); err != nil || made != 4 {
		t.Errorf("%d fits made in all, error %v", made, err)
	}
}

// Where the data are missing, a figure ends after the first fit.
func TestFiguresWithoutData(t *testing.T) {
	made := 0
	panels := []panel{{title: "three", curves: []curve{{"fits", []float64{1, 2, 3}, func(options, float64, int, string) (float64, error) {
		made++
		_, err := os.Stat(filepath.Join(t.TempDir(), "train.csv"))
		return 0, err
	}}}}}
	_, err := figureTask{name: "fig-test"}.measure(options{}, panels, nil, 10, filepath.Join(t.TempDir(), "fig-test.csv"), t.TempDir())
	if !errors.Is(err, fs.ErrNotExist) || made != 1 {
		t.Errorf("%d fits made, error %v", made, err)
	}
}

// Times of another processor are measured again, other fits are not.
func TestTimesAreOfOneProcessor(t *testing.T) {
	panels := []panel{{title: "one", curves: []curve{{"fits", []float64{1}, func(options, float64, int, string) (float64, error) { return 3, nil }}}}}
	for _, timed := range []bool{false, true} {
		f := figureTask{name: "fig-test", fits: 1, timed: timed, panels: func(string) ([]panel, error) { return panels, nil }}
		opt := options{figures: t.TempDir()}
		path := filepath.Join(opt.figures, "fig-test.csv")
		stored := []fitted{{panel: "one", curve: "fits", x: 1, value: 7, machine: "another"}}
		if err := errors.Join(writeFitted(path, stored), f.judge(opt, nil, t.TempDir(), newReport(io.Discard))); err != nil {
			t.Fatal(err)
		}
		rows, err := readFitted(path)
		if err != nil || len(rows) != 1 || (rows[0].value == 3) != timed {
			t.Errorf("timed %v: %v, %v", timed, rows, err)
		}
	}
}

// Figures whose fits need no tables of others have a line for each curve.
func TestFiguresHaveLines(t *testing.T) {
	stattest.SkipNumerics(t)
	shared := t.TempDir()
	for _, folder := range []string{"mnist", "fashion-mnist"} {
		if err := os.MkdirAll(filepath.Join(shared, "data", folder), 0o755); err != nil {
			t.Fatal(err)
		}
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
