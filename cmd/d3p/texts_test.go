package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// textConfigs are the examples of configs/ that read text, with their data.
func textConfigs() map[string]string {
	return map[string]string{
		"reviews-embedding": "reviews.csv", "reviews-lstm": "reviews.csv", "reviews-transformer": "reviews.csv", "names-gru": "names.csv",
	}
}

// TestTextsFit fits every example of text for a few steps and uses the run. A simulated
// table would have no text, so simulate refuses.
func TestTextsFit(t *testing.T) {
	t.Parallel()
	for name, data := range textConfigs() {
		t.Run(name, func(t *testing.T) {
			file, run := filepath.Join("../../configs", name+".yaml"), filepath.Join(t.TempDir(), "run")
			data := filepath.Join("../../datasets", data)
			d3p(t, "fit", data, "--model", file, "--steps", "2", "--sampling-rate", "1", "--draws", "10", "--out", run, "--quiet", "--accept-risk", "noise-dominates")
			if _, err := os.Stat(filepath.Join(run, "release", "weights.safetensors")); err != nil {
				t.Error(err)
			}
			d3p(t, "verify", run)
			predictions := filepath.Join(t.TempDir(), "p.csv")
			d3p(t, "predict", run, data, "--draws", "3", "--out", predictions)
			if src, err := os.ReadFile(predictions); err != nil || bytes.Count(src, []byte("\n")) != 1501 {
				t.Errorf("%d lines of predictions, %v", bytes.Count(src, []byte("\n")), err)
			}
			var out, problem bytes.Buffer
			if code := (&app{out: &out, err: &problem}).run(context.Background(), []string{"simulate", file}); code == 0 || !strings.Contains(problem.String(), "has texts or tokens") {
				t.Errorf("simulate: status %d, %s", code, problem.String())
			}
		})
	}
}
