package manual

import (
	"slices"
	"strings"

	"d3p/internal/models/net"
)

// layers lists the layers of networks with their settings.
func layers() string {
	var p page
	p.paragraph("nets: NAME: layers: with their settings, the default in parentheses, and the dims of input → output. `kernel` and `stride` are one number, or one for each axis. `padding` is valid (none), same (as in TensorFlow: ⌈in/stride⌉ places; conv2d_transpose gives in·stride) or a number of positions on both sides (as in PyTorch). All other defaults are PyTorch's.")
	activations := net.Activations()
	for _, k := range net.Kinds() {
		if slices.Contains(activations, k.Name) {
			continue
		}
		term := k.Name
		for i, s := range k.Settings() {
			term += map[bool]string{true: ":  ", false: ", "}[i == 0] + s.Key
			if s.Default != "" {
				term += " (" + s.Default + ")"
			}
		}
		p.entry(term, k.Maps)
	}
	p.entry(strings.Join(activations, ", "), "value by value; also `activation:` of a layer with weights or normalisation")
	return p.String()
}
