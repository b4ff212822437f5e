package main

import (
	"os/exec"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// wantStatus is the script command `status N d3p ARGS...`: it runs a command
// and checks its exit status; stdout and stderr can then be looked at as after
// exec.
func wantStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command [argument...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}
