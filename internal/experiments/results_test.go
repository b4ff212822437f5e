package main

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A stopped task measures each fit once: the file has what was measured before the stop, also
// scores that are no finite numbers.
func TestResultsContinue(t *testing.T) {
	path, made := filepath.Join(t.TempDir(), "results.csv"), 0
	stop := errors.New("stopped")
	for stopAt := 1; stopAt <= 4; stopAt++ {
		results, err := openResults(path)
		if err != nil {
			t.Fatal(err)
		}
		for k := range 3 {
			metrics, err := results.of(fitKey{"a, task", "1", "plain", k}, func() (map[string]float64, error) {
				if k == stopAt {
					return nil, stop
				}
				made++
				return map[string]float64{"auc": float64(k) / 3, "log score": math.Inf(-1)}, nil
			})
			if errors.Is(err, stop) && k == stopAt {
				break
			}
			if err != nil || metrics["auc"] != float64(k)/3 || !math.IsInf(metrics["log score"], -1) {
				t.Errorf("fit %d: %v, %v", k, metrics, err)
			}
		}
		if want := min(stopAt, 3); made != want {
			t.Errorf("before stop %d: %d fits made, want %d", stopAt, made, want)
		}
	}
	if err := os.WriteFile(path, []byte("x,y\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openResults(path); err == nil || !strings.Contains(err.Error(), "name another file") {
		t.Errorf("a file of other columns: %v", err)
	}
}

// Tasks of tables and of images take up the fits of the file.
func TestTasksContinue(t *testing.T) {
	shared, folder := t.TempDir(), t.TempDir()
	path := filepath.Join(folder, "results.csv")
	labels := filepath.Join(shared, "data", "mnist")
	if err := os.MkdirAll(labels, 0o755); err != nil {
		t.Fatal(err)
	}
	one := task{name: "hlr_N100", runs: 1, load: func(string) ([]replicate, error) { return make([]replicate, 1), nil }}
	text := strings.Join(resultColumns, ",") + "\nhlr_N100,1,default,0,auc,0.8\nhlr_N100,1,plain,0,auc,0.8\nvae-mnist,,image,0,score,100\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	opt := options{shared: shared, d3p: "no-program", results: path}
	epsilon := 1.0
	reference := []threshold{{Task: "hlr_N100", Metric: "auc", Epsilon: &epsilon, Direction: ">=", Threshold: 0.7}}
	image := mnistTask{config: "vae-mnist", target: threshold{Task: "image", Direction: "<=", Threshold: 101}}
	var out strings.Builder
	report := newReport(&out)
	if err := errors.Join(one.judge(opt, reference, folder, report), image.judge(opt, nil, folder, report), report.flush()); err != nil {
		t.Fatal(err)
	}
	if strings.Count(out.String(), "met") < 2 || report.failed != 0 {
		t.Errorf("the scores of the file are not judged:\n%s", out.String())
	}
}
