package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A task whose data are missing fails, and states where they come from.
func TestMissingDataHaveASource(t *testing.T) {
	opt := options{shared: t.TempDir(), figures: t.TempDir(), d3p: "no-program"}
	if err := os.Mkdir(filepath.Join(opt.shared, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range taskNames() {
		if !needsData(name) {
			continue
		}
		if _, err := run(opt, []string{name}); err == nil || !strings.Contains(err.Error(), "datasets/README.md") && !strings.Contains(err.Error(), cifar10Source) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
