// Package modelstest compiles model files, and writes tables, for tests.
package modelstest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/models"
)

// Read compiles the model file at path after changes to its text, pairs of old and
// new as strings.NewReplacer takes them.
func Read(tb testing.TB, path string, changes ...string) *models.Model {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return Compile(tb, filepath.Base(path), strings.NewReplacer(changes...).Replace(string(text)))
}

// Compile compiles the text of a model file that errors call name.
func Compile(tb testing.TB, name, text string) *models.Model {
	tb.Helper()
	m, err := models.Read(name, []byte(text), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// File writes text to a file of that name in a folder of its own, and returns its path.
func File(tb testing.TB, name, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}
