package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/stattest"
)

// TestSimulatedTablesFit simulates a table for every example and fits it for a
// few steps: d3p simulate writes what the declaration states.
func TestSimulatedTablesFit(t *testing.T) {
	stattest.SkipNumerics(t)
	t.Parallel()
	files, err := filepath.Glob("../../configs/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			data := filepath.Join(dir, name+".csv")
			if _, images := imageConfigs()[name]; images {
				t.Skip("TestImagesFit fits it")
			}
			if textConfigs()[name] != "" {
				t.Skip("TestTextsFit fits it")
			}
			d3p(t, "simulate", file, "-n", "40", "--out", data)
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			length := []string{"--steps", "3"}
			if strings.Contains(string(src), "epochs:") {
				length = []string{"--epochs", "1"}
			}
			if strings.Contains(string(src), "batch_size:") {
				length = append(length, "--batch-size", "20") // of these few records
			}
			// without the accounting, whose time is not the question here
			d3p(t, append([]string{"fit-nonprivate", data, "--model", file, "--records", "40", "--draws", "10",
				"--out", filepath.Join(dir, "run"), "--quiet"}, length...)...)
		})
	}
}
