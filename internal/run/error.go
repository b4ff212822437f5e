package run

import (
	"context"
	"errors"
	"fmt"
)

// Kind is the kind of thing that an error is about.
type Kind int

const (
	Usage       Kind = iota // an argument, a setting or the folder of a run
	Model                   // the model
	Data                    // the records do not fit their declaration, or cannot be read
	Budget                  // the privacy budget does not allow it
	Output                  // a result is not finite, or a file could not be written
	Stopped                 // the fit ended before its last step and can be resumed
	Interrupted             // nothing was released, and resuming is impossible
)

// Error is an error with its kind.
type Error struct {
	Kind Kind
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// failed gives err a kind; nil stays nil.
func failed(k Kind, err error) error {
	if err == nil {
		return nil
	}
	return &Error{k, err}
}

// usagef is an error of kind Usage.
func usagef(format string, args ...any) error {
	return failed(Usage, fmt.Errorf(format, args...))
}

// kindOf is the innermost kind of err, the one nearest to the cause.
func kindOf(err error) Kind {
	found := Usage
	if errors.Is(err, context.Canceled) {
		found = Interrupted
	}
	for ; err != nil; err = errors.Unwrap(err) {
		if e, ok := err.(*Error); ok {
			found = e.Kind
		}
	}
	return found
}
