package enginetest

import (
	"os"
	"regexp"
	"testing"

	"d3p/internal/models/spec"
)

// Every layer is in a network that every engine must agree on.
func TestLayersAreConformanceModels(t *testing.T) {
	src, err := os.ReadFile("layers.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range spec.LayerNames() {
		if !regexp.MustCompile(`[^\w]` + name + `[^\w]`).Match(src) {
			t.Errorf("layers.go has no network with a layer %s", name)
		}
	}
}
