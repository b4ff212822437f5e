package sensitivity

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/privacy/enginetest"
)

// Configs are the model files of a folder, with the public files beside them.
func Configs(tb testing.TB, folder string) []Model {
	tb.Helper()
	var list []Model
	for _, m := range readAll(tb, folder) {
		list = append(list, Model{Name: m.name, Tape: m.Likelihood, Encoding: &m.Encoding})
	}
	return list
}

// Vanilla are the same with the guide and the prior inside the gradient, its noise of
// every record.
func Vanilla(tb testing.TB, folder string) []Model {
	tb.Helper()
	var list []Model
	for _, m := range readAll(tb, folder) {
		if m.P > largeTape {
			continue
		}
		tape, err := m.VanillaTape(100)
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, Model{Name: m.name + ", vanilla", Tape: tape, Encoding: &m.Encoding})
	}
	return list
}

type named struct {
	*models.Model
	name string
}

// readAll compiles the model files of a folder.
func readAll(tb testing.TB, folder string) (list []named) {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("%d model files in %s, %v", len(files), folder, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		m, err := models.Read(file, text, func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(folder, path)) })
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, named{m, strings.TrimSuffix(filepath.Base(file), ".yaml")})
	}
	return list
}

// Tapes are the models that engines conform to the reference on, among them shared
// weights, places of images and layers.
func Tapes(tb testing.TB) []Model {
	tb.Helper()
	var list []Model
	for _, m := range enginetest.Models() {
		list = append(list, Model{Name: m.Name, Tape: m.Tape(tb)})
	}
	return list
}
