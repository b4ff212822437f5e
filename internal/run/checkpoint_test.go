package run

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"d3p/internal/fit"
	"d3p/internal/fit/plan"
)

// A note that a state holds an infinite number would tell the iterates while the fit runs; one
// that the folder is gone tells nothing.
func TestNotesOfCheckpoints(t *testing.T) {
	for name, c := range map[string]struct {
		number float64
		gone   bool
		notes  int
	}{"written": {1, false, 0}, "infinite": {math.Inf(1), false, 0}, "no folder": {1, true, 1}} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			if err := os.Mkdir(filepath.Join(path, privateName), 0o700); err != nil {
				t.Fatal(err)
			}
			f, err := openFolder(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.close()
			if c.gone {
				if err := os.RemoveAll(filepath.Join(path, privateName)); err != nil {
					t.Fatal(err)
				}
			}
			var notes []string
			o := newObserver(Run{folder: f, Plan: &plan.Plan{}, Host: Host{Notef: func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }}})
			defer o.stop()
			o.Keep(func() (fit.Checkpoint, error) {
				return fit.Checkpoint{State: fit.State{Lambda: []float64{c.number}}}, nil
			}, true)
			if len(notes) != c.notes {
				t.Errorf("notes %q, want %d", notes, c.notes)
			}
		})
	}
}
