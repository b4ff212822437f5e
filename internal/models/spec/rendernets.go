package spec

import (
	"strconv"
	"strings"

	"d3p/internal/models/source"
)

// renderNets prints the networks with what they leave open filled in.
func renderNets(p *printer, nets []*Net) {
	for _, n := range nets {
		p.block(n.Name.V, func() {
			p.line("input", flowList(n.Input, func(v source.Value[string]) string { return v.V }))
			if n.Init.Kind.IsSet() {
				p.line("init", n.Init.text())
			}
			if n.Prior != nil {
				p.text("prior", n.Prior.Text.V)
			} else {
				p.text("prior", flatPrior)
			}
			if len(n.Layers) > 0 {
				renderLayers(p, "layers", n.Layers)
			}
			if len(n.Heads) > 0 {
				p.block("heads", func() {
					for _, h := range n.Heads {
						renderLayers(p, h.Name.V, h.Layers)
					}
				})
			}
		})
	}
}

// renderLayers prints a list of layers.
func renderLayers(p *printer, key string, layers []*Layer) {
	p.block(key, func() {
		for _, l := range layers {
			p.item(l.Kind.V + ": " + l.text())
		}
	})
}

// text prints the settings of a layer as a flow map.
func (l *Layer) text() string {
	var parts []string
	add := func(key, value string, stated bool) {
		if stated {
			parts = append(parts, key+": "+value)
		}
	}
	numbers := func(list []source.Value[int]) string {
		return flowList(list, func(v source.Value[int]) string { return strconv.Itoa(v.V) })
	}
	add("filters", plainNumber(l.Filters.V), l.Filters.IsSet())
	add("kernel", numbers(l.Kernel), len(l.Kernel) > 0)
	add("stride", numbers(l.Stride), len(l.Stride) > 0)
	add("padding", l.Padding.V, l.Padding.IsSet())
	add("padding", strconv.Itoa(l.Margin.V), l.Margin.IsSet())
	add("units", plainNumber(l.Units.V), l.Units.IsSet())
	add("activation", l.Activation.V, l.Activation.IsSet())
	add("init", l.Init.text(), l.Init.Kind.IsSet())
	add("bias", strconv.FormatBool(l.Bias.V), l.Bias.IsSet())
	add("levels", plainNumber(l.Levels.V), l.Levels.IsSet())
	add("groups", strconv.Itoa(l.Groups.V), l.Groups.IsSet())
	add("trailing", strconv.Itoa(l.Trailing.V), l.Trailing.IsSet())
	add("epsilon", source.FormatNumber(l.Epsilon.V), l.Epsilon.IsSet())
	add("affine", strconv.FormatBool(l.Affine.V), l.Affine.IsSet())
	add("rate", source.FormatNumber(l.Rate.V), l.Rate.IsSet())
	add("layers", layersText(l.Layers), len(l.Layers) > 0)
	add("shortcut", layersText(l.Shortcut), len(l.Shortcut) > 0)
	add("dims", flowList(l.Dims, func(v source.Value[string]) string { return v.V }), len(l.Dims) > 0)
	add("shape", flowList(l.Shape, func(v source.Value[int]) string { return source.FormatNumber(float64(v.V)) }), len(l.Shape) > 0)
	return flowMap(parts)
}

// layersText prints the layers of a layer as a flow list of flow maps.
func layersText(list []*Layer) string {
	parts := make([]string, len(list))
	for i, l := range list {
		parts[i] = flowMap([]string{l.Kind.V + ": " + l.text()})
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// plainNumber prints a whole number as it is and other texts quoted if need be.
func plainNumber(s string) string {
	if _, err := strconv.Atoi(s); err == nil {
		return s
	}
	return flowText(s)
}

// text prints an initialiser.
func (i Init) text() string {
	if i.Kind.V == "normal" {
		return "{normal: " + source.FormatNumber(i.SD.V) + "}"
	}
	return i.Kind.V
}
