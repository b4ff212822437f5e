package main

import (
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
