package main

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
)

// threshold is one row of must_meet.json: the mean of Metric over runs of the
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

func readThresholds(path string) ([]threshold, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Rows []threshold `json:"rows"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, err
	}
	return file.Rows, nil
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
		if row.Task != task || (epsilons != "" && !contains(strings.Split(epsilons, ","), label)) {
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

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}
