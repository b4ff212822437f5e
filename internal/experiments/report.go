package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

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
	mean, se := meanSE(values)
	if len(values) == 0 || !t.met(mean) {
		verdict = "MISSED"
		r.failed++
	}
	fmt.Fprintf(r.w, "%s\t%s\t%s\t%.4f\t%.4f\t%d\t%s %.4f\t%.4f\t%s\n",
		t.Task, epsilon, t.Metric, mean, se, len(values), t.Direction, t.Threshold, t.Mean, verdict)
}

// note prints a measurement that has no threshold.
func (r *report) note(task, epsilon, text string) {
	fmt.Fprintf(r.w, "%s\t%s\t%s\n", task, epsilon, text)
}

func (r *report) flush() error { return r.w.Flush() }
