//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

func canMount() bool { return false }

func smallDisk(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("only on linux") }
