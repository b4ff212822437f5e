package models_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/models"
)

// TestExamplesAreListed checks that configs/README.md has every model file of configs/
// with its description, likelihood and size; make docs runs it with -update.
func TestExamplesAreListed(t *testing.T) {
	const page = "../../configs/README.md"
	var b strings.Builder
	b.WriteString("# Example model files\n\nA test compiles every file; `d3p simulate FILE` makes a table for it. This page is generated: edit the\n" +
		"`description:` of a file and run `make docs`.\n\n| file | model | describes | parameters |\n|---|---|---|---|\n")
	for _, file := range configs(t) {
		s := parseFile(t, file)
		m, err := models.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		kind := "core blocks"
		switch {
		case s.Model != nil:
			kind = s.Model.Family.V
		case s.Twin != nil:
			kind = "twin"
		case len(s.Nets) > 0:
			kind = "network"
		}
		name := filepath.Base(file)
		if s.Description.V == "" {
			t.Errorf("configs/%s has no description", name)
		}
		fmt.Fprintf(&b, "| [%s](%s) | %s | %s | %d |\n", name, name, kind, strings.TrimSuffix(s.Description.V, "."), m.P)
	}
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(page)
	if err != nil || string(got) != b.String() {
		t.Errorf("configs/README.md is not what the files of configs/ say; run make docs (%v)", err)
	}
}

// TestPublishedSizes checks that networks have as many weights as those that others train
// under privacy, and count them.
func TestPublishedSizes(t *testing.T) {
	sizes := map[string]int{"cifar10-cnn": 605226, "cnn-mnist": 26010, "imdb-embedding": 160098, "mlp-mnist": 79510, "scattering-cifar10": 155530, "vae-conv": 640423, "vae-mnist": 688884}
	for name, want := range sizes {
		m, err := models.Compile(parseFile(t, "../../configs/"+name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if m.P != want {
			t.Errorf("%s has %d weights, want %d", name, m.P, want)
		}
	}
}
