package main

import (
	"path/filepath"
	"strconv"
)

// abaloneTask is the design of the DP-VI paper's code: sex coded I 0, F 1,
// M 2, then the seven measures, all z-scored over all 4177 rows, no intercept,
// y = rings > 9, the first 3341 rows to train, prior N(0, I).
var abaloneTask = task{name: "abalone", delta: 1e-3, runs: 20, load: loadAbalone, score: scoreBinary}

func scoreBinary(r replicate, predicted []float64, _ map[string]float64) map[string]float64 {
	return binaryMetrics(predicted, r.y)
}

func loadAbalone(shared string) ([]replicate, error) {
	_, cells, err := readCells(filepath.Join(shared, "data", "abalone", "abalone.csv"))
	if err != nil {
		return nil, err
	}
	sex := map[string]float64{"I": 0, "F": 1, "M": 2}
	rows := make([][]float64, len(cells))
	for i, cell := range cells {
		row := make([]float64, 9)
		row[0] = sex[cell[0]]
		for j := 1; j < 8; j++ {
			if row[j], err = strconv.ParseFloat(cell[j], 64); err != nil {
				return nil, err
			}
		}
		if rings, err := strconv.ParseFloat(cell[8], 64); err != nil {
			return nil, err
		} else if rings > 9 {
			row[8] = 1
		}
		rows[i] = row
	}
	for j := range 8 {
		standardise(rows, j)
	}
	names := numbered("x", 8)
	const train = 3341
	return []replicate{binaryReplicate("abalone", names, rows, train, false)}, nil
}

// binaryReplicate splits rows (features, then y) after the first train rows.
func binaryReplicate(name string, names []string, rows [][]float64, train int, intercept bool) replicate {
	header := append(append([]string(nil), names...), "y")
	r := replicate{
		model: logisticModel(name, train, names, intercept, 1),
		train: table{header, rows[:train]},
		test:  table{header, rows[train:]},
	}
	for _, row := range rows[train:] {
		r.y = append(r.y, row[len(names)])
	}
	return r
}
