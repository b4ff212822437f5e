package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// simlrTask is the Python package's own example (10 000 simulated records, an
// intercept and four features), three data seeds.
var simlrTask = task{name: "simlr10000x4", delta: 1e-8, runs: 9, load: loadSimLR, score: scoreSimLR}

func loadSimLR(shared string) ([]replicate, error) {
	dir := filepath.Join(shared, "reference", "utility", "data")
	var out []replicate
	for seed := range 3 {
		t, err := readTable(filepath.Join(dir, fmt.Sprintf("simlr_seed%d.csv.gz", seed)))
		if err != nil {
			return nil, err
		}
		var ordered [][]float64 // train rows first; columns x1..x4, y
		train := 0
		for _, held := range []float64{0, 1} {
			for _, row := range t.rows {
				if row[0] == held {
					ordered = append(ordered, append(append([]float64(nil), row[2:]...), row[1]))
				}
			}
			if held == 0 {
				train = len(ordered)
			}
		}
		r := binaryReplicate("simlr", numbered("x", 4), ordered, train, true)
		raw, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("simlr_seed%d_truth.json", seed)))
		if err != nil {
			return nil, err
		}
		var truth struct {
			W []float64 `json:"w_true"`
		}
		if err := json.Unmarshal(raw, &truth); err != nil {
			return nil, err
		}
		r.truth = truth.W
		out = append(out, r)
	}
	return out, nil
}

// scoreSimLR adds the root mean squared error of the posterior means.
func scoreSimLR(r replicate, predicted []float64, params map[string]float64) map[string]float64 {
	metrics := binaryMetrics(predicted, r.y)
	w := []float64{params["Intercept"]}
	for _, name := range numbered("x", 4) {
		w = append(w, params["b["+name+"]"])
	}
	metrics["rmse"] = rmse(w, r.truth)
	return metrics
}
