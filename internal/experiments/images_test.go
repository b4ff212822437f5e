package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The labels of a file of CIFAR-10 are compared with the predicted classes by name.
func TestRightClasses(t *testing.T) {
	dir := t.TempDir()
	predictions, test := filepath.Join(dir, "p.csv"), filepath.Join(dir, cifar10Test)
	raw := make([]byte, 3*3073)
	raw[0], raw[3073], raw[2*3073] = 0, 9, 3
	if err := os.WriteFile(test, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(predictions, []byte("row,class\n1,airplane\n2,truck\n3,dog\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := rightClasses(predictions, test); err != nil || got != 2./3 {
		t.Errorf("%g, %v, want 2/3", got, err)
	}
	if err := cifar10There(dir); err == nil || !strings.Contains(err.Error(), "data_batch_1.bin is missing (unpack the six .bin files of https://") {
		t.Errorf("missing files: %v", err)
	}
}

// The task of CIFAR-10 fits all batches and scores the test images, by a program that refuses
// what d3p refuses: a run whose folder does not exist.
func TestCIFAR10Task(t *testing.T) {
	shared := t.TempDir()
	data, program := filepath.Join(shared, "data", "cifar-10"), filepath.Join(shared, "d3p")
	if err := os.MkdirAll(data, 0o755); err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, 2*3073)
	raw[3073] = 9
	for _, name := range []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin", cifar10Test} {
		if err := os.WriteFile(filepath.Join(data, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := `#!/bin/sh
case "$1 $6" in
"fit "*/run-0) mkdir "$6" ;;
"predict "*) [ -d "$2" ] && printf 'row,class\n1,airplane\n2,dog\n' >"$5" ;;
*) exit 1 ;;
esac
`
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	out := newReport(&text)
	if err := (cifar10Task{"cifar10-cnn"}).judge(options{d3p: program, shared: shared, runs: 1}, nil, filepath.Join(shared, "work", "cifar10"), out); err != nil {
		t.Fatal(err)
	}
	if err := out.flush(); err != nil || !strings.Contains(text.String(), "0.5000") {
		t.Errorf("%v: %s", err, text.String())
	}
}
