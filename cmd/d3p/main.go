// Command d3p fits Bayesian models to sensitive tables under differential
// privacy.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
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
