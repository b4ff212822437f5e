// Package status has the exit statuses of commands, and errors with a status.
package status

import (
	"context"
	"errors"
	"fmt"

	"d3p/internal/privacy/accountant"
)

// Code is an exit status. The numbers are part of the interface, because scripts test them.
type Code int

const (
	OK          Code = 0
	Usage       Code = 2   // flags, settings or arguments
	Spec        Code = 3   // the model file
	Data        Code = 4   // the data do not fit their declaration or cannot be read
	Budget      Code = 5   // over the privacy budget
	Numeric     Code = 6   // a result is not finite, or files could not be written
	Stopped     Code = 7   // stopped before the end, resumable
	NoGPU       Code = 8   // no GPU that can run the fit, although one was asked for
	Strict      Code = 9   // d3p check --strict: records do not fit their declaration
	Interrupted Code = 130 // SIGINT
)

// Table is the one printed by `d3p --help`.
const Table = `Exit status:
  0    ok
  2    usage: a flag, a setting or an argument
  3    the model file is not valid
  4    the data do not fit their declaration, or cannot be read
  5    the privacy budget does not allow it
  6    a result is not finite, or could not be written
  7    stopped before the end, can be resumed
  8    no GPU that can run the fit
  9    records do not fit their declaration (d3p check --strict)
  130  interrupted; nothing was released, and nothing can be resumed`

// Error is an error with its exit status.
type Error struct {
	Code Code
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// With marks err with an exit status; nil stays nil.
func With(s Code, err error) error {
	if err == nil {
		return nil
	}
	return &Error{s, err}
}

// Usagef is an error about flags, settings or arguments.
func Usagef(format string, args ...any) error {
	return With(Usage, fmt.Errorf(format, args...))
}

// Of returns the exit status of err. The innermost mark wins, because it is nearest to the
// cause.
func Of(err error) Code {
	if err == nil {
		return OK
	}
	found := Usage
	if errors.Is(err, context.Canceled) {
		found = Interrupted
	}
	if infeasible := new(accountant.InfeasibleError); errors.As(err, &infeasible) {
		found = Budget
	}
	if disagreement := new(accountant.DisagreementError); errors.As(err, &disagreement) {
		found = Numeric
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if marked, ok := e.(*Error); ok {
			found = marked.Code
		}
	}
	return found
}
