package main

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// threshold is one row of thresholds.json: the mean of Metric over runs of the
// task at Epsilon (nil: no privacy) must not be worse than Threshold.
type threshold struct {
	Task      string   `json:"task"`
	Epsilon   *float64 `json:"epsilon"`
	Metric    string   `json:"metric"`
	Mean      float64  `json:"mean"`
	SE        float64  `json:"se"`
	Threshold float64  `json:"threshold"`
	Direction string   `json:"direction"`
}

// met reports whether value is on the right side.
func (t threshold) met(value float64) bool {
	if t.Direction == "<=" {
		return value <= t.Threshold
	}
	return value >= t.Threshold
}

// thresholdsFile has the mean of an independent implementation of the same defaults, less
// three standard errors.
//
//go:embed thresholds.json
var thresholdsFile []byte

func readThresholds() ([]threshold, error) {
	var file struct {
		Rows []threshold `json:"rows"`
	}
	err := json.Unmarshal(thresholdsFile, &file)
	return file.Rows, err
}

// settingsOf groups the thresholds of one task by epsilon, in file order.
func settingsOf(rows []threshold, task, epsilons string) []setting {
	var out []setting
	index := map[string]int{}
	for _, row := range rows {
		label := "none"
		if row.Epsilon != nil {
			label = strconv.FormatFloat(*row.Epsilon, 'g', -1, 64)
		}
		if row.Task != task || (epsilons != "" && !slices.Contains(strings.Split(epsilons, ","), label)) {
			continue
		}
		i, ok := index[label]
		if !ok {
			i = len(out)
			index[label] = i
			out = append(out, setting{label: label, epsilon: row.Epsilon})
		}
		out[i].thresholds = append(out[i].thresholds, row)
	}
	return out
}

// setting is one epsilon of one task with everything it must meet.
type setting struct {
	label      string
	epsilon    *float64 // nil: fit-nonprivate
	thresholds []threshold
}
