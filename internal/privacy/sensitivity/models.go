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
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("%d model files in %s, %v", len(files), folder, err)
	}
	var list []Model
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		m, err := compile(filepath.Base(file), string(text), func(path string) ([]byte, error) {
			return os.ReadFile(filepath.Join(folder, path))
		})
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, m)
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

// compile is the likelihood of a model file.
func compile(name, text string, load func(string) ([]byte, error)) (Model, error) {
	m, err := models.Read(name, []byte(text), load)
	if err != nil {
		return Model{}, err
	}
	return Model{Name: strings.TrimSuffix(name, ".yaml"), Tape: m.Likelihood, Encoding: &m.Encoding}, nil
}
