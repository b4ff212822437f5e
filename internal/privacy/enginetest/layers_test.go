package enginetest

import (
	"strings"
	"testing"

	"d3p/internal/models/net"
)

// Every layer is in a network that every engine must agree on.
func TestLayersAreConformanceModels(t *testing.T) {
	all := ""
	for _, m := range layerModels() {
		all += m.Name + "\n"
	}
	for _, n := range networks() {
		all += n.layers
	}
	for _, name := range net.Names() {
		if !strings.Contains(all, name) {
			t.Errorf("no network has a layer %s", name)
		}
	}
}
