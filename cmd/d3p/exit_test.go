package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"d3p/internal/run"
)

func TestStatusOf(t *testing.T) {
	inner := failWith(statusData, errors.New("inner"))
	for _, c := range []struct {
		err  error
		want status
	}{
		{nil, statusOK},
		{errors.New("anything"), statusUsage},
		{usagef("flag"), statusUsage},
		{inner, statusData},
		{fmt.Errorf("around: %w", inner), statusData},
		{failWith(statusNumeric, fmt.Errorf("around: %w", inner)), statusData}, // the innermost knows best
		{context.Canceled, statusInterrupted},
		{failWith(statusStopped, errors.New("stopped")), statusStopped},
		{&run.Error{Kind: run.Usage, Err: inner}, statusData},
		{ofKind(run.Usage), statusUsage},
		{ofKind(run.Model), statusSpec},
		{ofKind(run.Data), statusData},
		{ofKind(run.Budget), statusBudget},
		{ofKind(run.Output), statusNumeric},
		{ofKind(run.Stopped), statusStopped},
		{ofKind(run.Interrupted), statusInterrupted},
		{fmt.Errorf("around: %w", ofKind(run.Budget)), statusBudget},
	} {
		if got := statusOf(c.err); got != c.want {
			t.Errorf("status of %v is %d, want %d", c.err, got, c.want)
		}
	}
	if failWith(statusData, nil) != nil {
		t.Error("no error became one")
	}
}

// ofKind is an error of a run.
func ofKind(k run.Kind) error { return &run.Error{Kind: k, Err: errors.New("run")} }

// The help must list every status with its number.
func TestExitCodesAreDocumented(t *testing.T) {
	for _, s := range []status{statusOK, statusUsage, statusSpec, statusData, statusBudget, statusNumeric, statusStopped, statusNoGPU, statusInterrupted} {
		if !strings.Contains(exitCodes, fmt.Sprintf("\n  %-4d ", s)) {
			t.Errorf("status %d is not in the help", s)
		}
	}
}

// The page of stable interfaces has every status, and its number does not change.
func TestExitStatusesAreStable(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/stable.md")
	if err != nil {
		t.Fatal(err)
	}
	statuses := []status{statusOK, statusUsage, statusSpec, statusData, statusBudget, statusNumeric, statusStopped, statusNoGPU, statusInterrupted}
	numbers := []int{0, 2, 3, 4, 5, 6, 7, 8, 130}
	for i, s := range statuses {
		if int(s) != numbers[i] {
			t.Errorf("status %d was %d: scripts test it", s, numbers[i])
		}
		if !strings.Contains(string(page), fmt.Sprintf("\n| %d | ", numbers[i])) {
			t.Errorf("docs/reference/stable.md lacks status %d", numbers[i])
		}
	}
}

func TestReportPrefixesMessages(t *testing.T) {
	var out strings.Builder
	a := &app{err: &out}
	a.report(errors.New("m.yaml:3:4: unknown key\nno file x: y"))
	if got, want := out.String(), "m.yaml:3:4: unknown key\nd3p: no file x: y\n"; got != want {
		t.Errorf("report %q, want %q", got, want)
	}
}
