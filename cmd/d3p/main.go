// Command d3p fits Bayesian models to sensitive tables under differential
// privacy.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"unicode"

	"github.com/spf13/cobra"

	"d3p/internal/jsonfile"
)

// main is the only place of the program that exits.
func main() {
	os.Exit(mainStatus())
}

// mainStatus runs the command line of this process and returns its exit status.
// The first SIGINT, SIGTERM, SIGHUP or SIGQUIT cancels the context, so that a fit
// stops between steps and records what was spent; after it the default action is
// restored, so that a second one ends the process at once. Under nohup a SIGHUP
// stays ignored. What SIGQUIT does by default, to print all stacks, shows numbers
// of records.
func mainStatus() int {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	context.AfterFunc(ctx, stop)
	a := &app{out: os.Stdout, err: os.Stderr, environ: os.Environ()}
	return a.run(ctx, os.Args[1:])
}

// app is all that a command may touch besides its files: the two streams, the
// environment and how results are to be printed.
type app struct {
	out, err io.Writer // results, and everything else
	environ  []string  // NAME=value, as os.Environ
	json     bool      // --json: results as one JSON document
	quiet    bool      // --quiet: nothing but results and errors
	oldNames []string  // notes about flags given by the names that they had

	unverified  bool        // --unverified: releases are read as they are
	stopsItself atomic.Bool // the command ends between two steps when its context does
}

// run executes the command line args and returns the exit status. A result that
// did not arrive on stdout whole is an error.
func (a *app) run(ctx context.Context, args []string) int {
	out := &faultWriter{to: a.out}
	a.out = out
	root := newRoot(a)
	root.SetArgs(args)
	err := a.interruptible(ctx, root)
	if err == nil {
		err = failWith(statusNumeric, out.err)
	}
	if err != nil {
		a.report(err)
	}
	return int(statusOf(err))
}

// interruptible executes the command. One that does not stop by itself, between two
// steps, ends at once when ctx does: it has spent nothing.
func (a *app) interruptible(ctx context.Context, root *cobra.Command) error {
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if a.stopsItself.Load() {
		return <-ended
	}
	return failWith(statusInterrupted, errors.New("interrupted"))
}

// stopItself makes the command end by itself from here on, unless ctx is done.
func (a *app) stopItself(ctx context.Context) error {
	a.stopsItself.Store(true)
	return failWith(statusInterrupted, ctx.Err())
}

// faultWriter keeps the first error of a writer, after which it writes no more.
type faultWriter struct {
	to  io.Writer
	err error
}

func (w *faultWriter) Write(b []byte) (n int, err error) {
	if w.err == nil {
		n, w.err = w.to.Write(b)
	}
	return n, w.err
}

// plain writes text without control characters but tab and line feed: a name that
// a file brings along must not steer the terminal.
type plain struct{ to io.Writer }

func (p plain) Write(b []byte) (int, error) {
	if _, err := p.to.Write(bytes.Map(printable, b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// printable is c, or a mark in the place of what steers a terminal or the direction
// of a line.
func printable(c rune) rune {
	if unicode.IsControl(c) && c != '\n' && c != '\t' || unicode.Is(unicode.Bidi_Control, c) {
		return unicode.ReplacementChar
	}
	return c
}

// report prints an error to stderr. Lines that begin with a file position stand
// as they are; any other message is prefixed with the program's name.
func (a *app) report(err error) {
	for _, line := range strings.Split(strings.TrimRight(err.Error(), "\n"), "\n") {
		if !hasPosition(line) && !strings.HasPrefix(line, "  ") {
			line = "d3p: " + line
		}
		fmt.Fprintln(plain{a.err}, line)
	}
}

// hasPosition tells whether line begins with FILE:LINE:COLUMN and a colon.
func hasPosition(line string) bool {
	parts := strings.SplitN(line, ":", 4)
	return len(parts) == 4 && isDigits(parts[1]) && isDigits(parts[2])
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// env returns the value of an environment variable and whether it is set.
func (a *app) env(name string) (string, bool) {
	for i := len(a.environ) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(a.environ[i], name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// result prints a command's result on stdout: v as indented JSON with --json,
// and else whatever text writes.
func (a *app) result(v any, text func(w io.Writer)) error {
	if !a.json {
		text(plain{a.out})
		return nil
	}
	return failWith(statusNumeric, jsonfile.Write(a.out, v))
}

// warnf prints a warning on stderr. --quiet does not silence it.
func (a *app) warnf(format string, args ...any) {
	fmt.Fprintf(a.err, "warning: "+format+"\n", args...)
}

// notef prints a line for the reader on stderr, unless --quiet.
func (a *app) notef(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.err, format+"\n", args...)
	}
}
