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
	for _, f := range layerFields() {
		if text := f.text(l); text != "" {
			parts = append(parts, f.key+": "+text)
		}
	}
	return flowMap(parts)
}

// statedText prints a value that the file states; "" otherwise.
func statedText[T any](v source.Value[T], text func(T) string) string {
	if !v.IsSet() {
		return ""
	}
	return text(v.V)
}

// statedList prints a list that the file states; "" otherwise.
func statedList[T any](list []source.Value[T], text func(T) string) string {
	if len(list) == 0 {
		return ""
	}
	return flowList(list, func(v source.Value[T]) string { return text(v.V) })
}

// word prints a word as it is.
func word(s string) string { return s }

// layersText prints the layers of a layer as a flow list of flow maps; "" for none.
func layersText(list []*Layer) string {
	if len(list) == 0 {
		return ""
	}
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
