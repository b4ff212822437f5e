package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
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

// met reports whether value is on the right side of the threshold.
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

// setting is one epsilon of one task with all its thresholds.
type setting struct {
	label      string
	epsilon    *float64 // nil: fit-nonprivate
	thresholds []threshold
}

// report prints measured values beside their thresholds.
type report struct {
	w      *tabwriter.Writer
	failed int
}

func newReport(out io.Writer) *report {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "task\tepsilon\tmetric\tmeasured\tse\truns\tthreshold\treference\tverdict")
	return &report{w: w}
}

func (r *report) line(epsilon string, t threshold, values []float64) {
	verdict := "met"
	if mean, _ := meanSE(values); len(values) == 0 || !t.met(mean) {
		verdict = "MISSED"
		r.failed++
	}
	fmt.Fprintf(r.w, "%s\t%s\t%s\t%s\t%s %.4f\t%.4f\t%s\n",
		t.Task, epsilon, t.Metric, summary(values), t.Direction, t.Threshold, t.Mean, verdict)
}

// summary has the columns measured, se and runs. One value has no standard error.
func summary(values []float64) string {
	mean, se := meanSE(values)
	if len(values) < 2 {
		return fmt.Sprintf("%.4f\t\t%d", mean, len(values))
	}
	return fmt.Sprintf("%.4f\t%.4f\t%d", mean, se, len(values))
}

// note prints a measurement without a threshold.
func (r *report) note(task, epsilon, text string) {
	fmt.Fprintf(r.w, "%s\t%s\t%s\n", task, epsilon, text)
}

func (r *report) flush() error { return r.w.Flush() }
