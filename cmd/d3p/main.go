// Command d3p fits Bayesian models to sensitive tables under differential
// privacy.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"d3p/cmd/d3p/internal/flags"
	"d3p/cmd/d3p/internal/outfile"
	"d3p/cmd/d3p/internal/released"
	"d3p/cmd/d3p/internal/terminal"
	"d3p/internal/jsonfile"
	"d3p/internal/privacy"
	"d3p/internal/release"
	"d3p/internal/status"
)

// main is the only function that exits the program.
func main() {
	os.Exit(mainStatus())
}

// printing are the signals for which Go prints all stacks. These have numbers of records.
var printing = []os.Signal{syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV}

// mainStatus runs the command line of this process and returns its exit status. The first
// signal cancels the context, so that a fit stops between steps and records its price; the
// second ends the process at once. Under nohup a SIGHUP stays ignored.
func mainStatus() int {
	signals := append([]os.Signal{os.Interrupt, syscall.SIGTERM}, printing...)
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	context.AfterFunc(ctx, func() {
		second := make(chan os.Signal, 1)
		signal.Notify(second, printing...)
		stop() // the default action ends the process after other signals
		<-second
		os.Exit(int(status.Interrupted))
	})
	a := &app{out: os.Stdout, err: os.Stderr, environ: os.Environ()}
	return a.run(ctx, os.Args[1:])
}

// app is what a command needs besides its files: the two streams, the environment variables
// and the form of results.
type app struct {
	out, err io.Writer // for results, and for everything else
	environ  []string  // NAME=value, as in os.Environ
	json     bool      // --json: results as one JSON document
	quiet    bool      // --quiet: nothing but results and errors

	progress    *terminal.Progress // of a fit; nil: none, or --quiet
	releases    released.Reader
	stopsItself atomic.Bool // the command ends between two steps when its context ends
	overBudget  string      // what to type when a budget is exceeded
}

// run executes the command line args and returns the exit status. A result that stdout did
// not take completely is an error.
func (a *app) run(ctx context.Context, args []string) int {
	a.releases.Notef = a.notef
	a.overBudget = "type a smaller --epsilon; d3p ledger show prints how large it may be"
	out := &faultWriter{to: a.out}
	a.out = out
	root := newRoot(a)
	root.SetArgs(args)
	err := a.interruptible(ctx, root)
	if err == nil {
		err = status.With(status.Numeric, out.err)
	}
	if err != nil {
		a.report(err)
	}
	return int(status.Of(err))
}

// interruptible executes the command. A command that does not stop between two steps ends
// as soon as ctx does: it has spent nothing.
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
	return status.With(status.Interrupted, errors.New("interrupted"))
}

// stopItself lets the command end itself from now on, unless ctx has ended.
func (a *app) stopItself(ctx context.Context) error {
	a.stopsItself.Store(true)
	return status.With(status.Interrupted, ctx.Err())
}

// faultWriter keeps the first error of a writer and writes nothing after it.
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

// newProgress sets a.progress, which shows the steps of a fit; with --quiet it stays nil, which shows nothing.
func (a *app) newProgress() *terminal.Progress {
	if !a.quiet {
		a.progress = terminal.NewProgress(a.err, terminal.Steerable(a.err, a.environment().Lookup))
	}
	return a.progress
}

// report prints an error to stderr. Lines that begin with a file position are unchanged;
// any other message gets the program's name in front.
func (a *app) report(err error) {
	a.progress.Clear()
	text := strings.TrimRight(err.Error(), "\n")
	if errors.As(err, new(*privacy.BudgetError)) {
		text += " (" + a.overBudget + ")"
	}
	for _, line := range strings.Split(text, "\n") {
		if !hasPosition(line) && !strings.HasPrefix(line, "  ") {
			line = "d3p: " + line
		}
		fmt.Fprintln(terminal.Plain{To: a.err}, line)
	}
}

// hasPosition reports whether line begins with FILE:LINE:COLUMN and a colon.
func hasPosition(line string) bool {
	parts := strings.SplitN(line, ":", 4)
	return len(parts) == 4 && isDigits(parts[1]) && isDigits(parts[2])
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// unverifiedFlag defines --unverified for a command that reads releases.
func (a *app) unverifiedFlag(c *cobra.Command) {
	c.Flags().BoolVar(&a.releases.Unverified, "unverified", false, "read a release even if its files differ from its manifest")
}

// environment holds the sources of a command's settings.
func (a *app) environment() flags.Environment {
	return flags.Environment{Variables: a.environ, Notef: a.notef}
}

// result prints a command's result on stdout: v as indented JSON with --json, else the
// output of text.
func (a *app) result(v any, text func(w io.Writer)) error {
	a.progress.Clear()
	if !a.json {
		text(terminal.Plain{To: a.out})
		return nil
	}
	return status.With(status.Numeric, jsonfile.Write(a.out, v))
}

// warnf prints a warning on stderr. --quiet does not silence it.
func (a *app) warnf(format string, args ...any) {
	a.progress.Clear()
	fmt.Fprintf(a.err, "warning: "+format+"\n", args...)
}

// notef prints a line for the reader on stderr, unless --quiet.
func (a *app) notef(format string, args ...any) {
	if !a.quiet {
		a.progress.Clear()
		fmt.Fprintf(a.err, format+"\n", args...)
	}
}

// written is the JSON form of a command that wrote files.
type written struct {
	Out   string   `json:"out"`
	Files []string `json:"files"` // in the folder out; empty if out is a file
}

// binaries are the extensions of files that a terminal cannot show.
var binaries = []string{".parquet", ".onnx"}

// writeFiles writes one file to stdout, or to out; several into the folder out,
// which must not exist.
func (a *app) writeFiles(files []release.File, folder bool, out string) error {
	result := written{Out: out, Files: []string{}}
	switch {
	case out == "" && a.json && !strings.HasSuffix(files[0].Name, ".json"):
		return status.Usagef("--json needs --out: %s is no JSON", files[0].Name)
	case folder:
		switch err := release.WriteFiles(out, files); {
		case errors.Is(err, fs.ErrExist):
			return status.Usagef("--out: %w", err)
		case err != nil:
			return status.With(status.Numeric, fmt.Errorf("--out: %w", err))
		}
		for _, f := range files {
			result.Files = append(result.Files, f.Name)
		}
	case out == "" && a.isTerminal() && slices.Contains(binaries, filepath.Ext(files[0].Name)):
		return status.Usagef("--out: name a file; %s is not text, which a terminal shows", files[0].Name)
	case out == "" && strings.HasSuffix(files[0].Name, ".csv"):
		return a.printTable(files[0].Write)
	case out == "":
		return status.With(status.Numeric, files[0].Write(a.out))
	default:
		if err := outfile.CheckEnd(out, filepath.Ext(files[0].Name)); err != nil {
			return err
		}
		if err := outfile.Replace(out, files[0].Write); err != nil {
			return status.With(status.Numeric, fmt.Errorf("--out: %w", err))
		}
	}
	a.notef("%s: written", out)
	return a.result(result, func(io.Writer) {})
}

// screenLines of a table are printed on a terminal.
const screenLines = 20

// isTerminal reports whether stdout is a terminal.
func (a *app) isTerminal() bool {
	out, ok := a.out.(*faultWriter)
	if !ok {
		return false
	}
	f, ok := out.to.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// printTable prints a table of rows, CSV, on stdout: all of it, but on a terminal the first
// lines alone.
func (a *app) printTable(write func(w io.Writer) error) error {
	if !a.isTerminal() {
		return status.With(status.Numeric, write(a.out))
	}
	head := &terminal.Head{To: terminal.Plain{To: a.out}, Lines: screenLines}
	if err := write(head); err != nil {
		return status.With(status.Numeric, err)
	}
	if head.Left > 0 {
		a.notef("and %d more lines; --out FILE or a pipe takes all", head.Left)
	}
	return nil
}
