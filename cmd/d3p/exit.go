package main

import (
	"context"
	"errors"
	"fmt"

	"d3p/internal/privacy/accountant"
	"d3p/internal/run"
)

// status is what a command ends with. The numbers are part of the interface:
// scripts test them.
type status int

const (
	statusOK          status = 0
	statusUsage       status = 2   // flags, settings or arguments
	statusSpec        status = 3   // the model file
	statusData        status = 4   // the data do not fit their declaration, or cannot be read
	statusBudget      status = 5   // the privacy budget does not allow it
	statusNumeric     status = 6   // a result is not finite, or files could not be written
	statusStopped     status = 7   // stopped before the end, resumable
	statusNoGPU       status = 8   // a GPU was asked for and there is none
	statusInterrupted status = 130 // SIGINT
)

// exitCodes is the table printed by `d3p --help`.
const exitCodes = `Exit status:
  0    ok
  2    usage: a flag, a setting or an argument
  3    the model file is not valid
  4    the data do not fit their declaration, or cannot be read
  5    the privacy budget does not allow it
  6    a result is not finite, or could not be written
  7    stopped before the end, can be resumed
  8    no GPU available
  130  interrupted before anything was spent`

// statusError is an error that knows the exit status it leads to.
type statusError struct {
	status status
	err    error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

// failWith marks err with the exit status it leads to; nil stays nil.
func failWith(s status, err error) error {
	if err == nil {
		return nil
	}
	return &statusError{s, err}
}

// usagef is an error about flags, settings or arguments.
func usagef(format string, args ...any) error {
	return failWith(statusUsage, fmt.Errorf(format, args...))
}

// statusOf returns the exit status of err: the innermost mark wins, since the
// place nearest to the cause knows it best.
func statusOf(err error) status {
	if err == nil {
		return statusOK
	}
	found := statusUsage
	if errors.Is(err, context.Canceled) {
		found = statusInterrupted
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		switch e := e.(type) {
		case *statusError:
			found = e.status
		case *run.Error:
			found = runStatus(e.Kind)
		}
	}
	return found
}

// runStatus is the status of an error of a run.
func runStatus(k run.Kind) status {
	switch k {
	case run.Model:
		return statusSpec
	case run.Data:
		return statusData
	case run.Budget:
		return statusBudget
	case run.Output:
		return statusNumeric
	case run.Stopped:
		return statusStopped
	case run.Interrupted:
		return statusInterrupted
	}
	return statusUsage
}

// planStatus is the status of an error of plan.New: a budget that cannot be
// met, or settings that make no sense.
func planStatus(err error) status {
	var infeasible *accountant.InfeasibleError
	if errors.As(err, &infeasible) {
		return statusBudget
	}
	return statusUsage
}
