package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/source"
)

// layerKind is one line of the table of layers: its name in model files, along how
// many axes its windows lie, what its settings are, and which of them it needs. What
// it computes is in package net, under the same name.
type layerKind struct {
	name     string
	axes     int
	settings []string // keys of layerFields
	needs    []string
}

// layerKinds is the table of layers; activations are layers without settings.
func layerKinds() []layerKind {
	window := []string{"kernel", "stride", "padding"}
	convolution := []string{"filters", "kernel", "stride", "padding", "activation", "init", "bias"}
	kinds := []layerKind{
		{"dense", 0, []string{"units", "activation", "init", "bias"}, []string{"units"}},
		{"flatten", 0, nil, nil},
		{"reshape", 0, []string{"dims", "shape"}, nil},
		{"conv1d", 1, convolution, []string{"filters", "kernel"}},
		{"conv2d", 2, convolution, []string{"filters", "kernel"}},
		{"conv1d_transpose", 1, convolution, []string{"filters", "kernel"}},
		{"conv2d_transpose", 2, convolution, []string{"filters", "kernel"}},
		{"max_pool1d", 1, window, []string{"kernel"}},
		{"max_pool2d", 2, window, []string{"kernel"}},
		{"avg_pool1d", 1, window, []string{"kernel"}},
		{"avg_pool2d", 2, window, []string{"kernel"}},
		{"global_avg_pool", 0, nil, nil},
		{"embedding", 0, []string{"levels", "units", "init"}, []string{"levels", "units"}},
		{"layer_norm", 0, []string{"epsilon", "affine", "activation", "trailing"}, nil},
		{"group_norm", 0, []string{"epsilon", "affine", "activation", "groups"}, []string{"groups"}},
		{"instance_norm", 0, []string{"epsilon", "affine", "activation"}, nil},
		{"residual", 0, []string{"layers", "shortcut", "activation"}, []string{"layers"}},
		{"dropout", 0, []string{"rate"}, []string{"rate"}},
	}
	for _, name := range Activations() {
		kinds = append(kinds, layerKind{name: name})
	}
	return kinds
}

// fields are the settings of a layer of this kind.
func (k layerKind) fields(r *reader, l *Layer) fields {
	known := fields{}
	for _, f := range layerFields() {
		if slices.Contains(k.settings, f.key) {
			known[f.key] = func(e entry) { f.read(r, e, l, k.axes) }
		}
	}
	return known
}

// layerField is a setting of layers: how it is read, along how many axes its windows
// lie, and how it is printed, "" when the file does not state it.
type layerField struct {
	key  string
	read func(r *reader, e entry, l *Layer, axes int)
	text func(l *Layer) string
}

// layerFields lists the settings of layers in the order in which they are printed.
func layerFields() []layerField {
	return []layerField{
		{"filters", func(r *reader, e entry, l *Layer, _ int) { l.Filters = r.text(e) },
			func(l *Layer) string { return statedText(l.Filters, plainNumber) }},
		{"kernel", func(r *reader, e entry, l *Layer, axes int) { l.Kernel = r.oneOrMore(e, axes) },
			func(l *Layer) string { return statedList(l.Kernel, strconv.Itoa) }},
		{"stride", func(r *reader, e entry, l *Layer, axes int) { l.Stride = r.oneOrMore(e, axes) },
			func(l *Layer) string { return statedList(l.Stride, strconv.Itoa) }},
		{"padding", func(r *reader, e entry, l *Layer, _ int) { l.Padding, l.Margin = r.padding(e) },
			func(l *Layer) string { return statedText(l.Padding, word) + statedText(l.Margin, strconv.Itoa) }},
		{"units", func(r *reader, e entry, l *Layer, _ int) { l.Units = r.text(e) },
			func(l *Layer) string { return statedText(l.Units, plainNumber) }},
		{"activation", func(r *reader, e entry, l *Layer, _ int) { l.Activation = r.choice(e, Activations()...) },
			func(l *Layer) string { return statedText(l.Activation, word) }},
		{"init", func(r *reader, e entry, l *Layer, _ int) { l.Init = r.init(e) },
			func(l *Layer) string { return l.Init.text() }},
		{"bias", func(r *reader, e entry, l *Layer, _ int) { l.Bias = r.boolean(e) },
			func(l *Layer) string { return statedText(l.Bias, strconv.FormatBool) }},
		{"levels", func(r *reader, e entry, l *Layer, _ int) { l.Levels = r.text(e) },
			func(l *Layer) string { return statedText(l.Levels, plainNumber) }},
		{"groups", func(r *reader, e entry, l *Layer, _ int) { l.Groups = r.count(e, 1) },
			func(l *Layer) string { return statedText(l.Groups, strconv.Itoa) }},
		{"trailing", func(r *reader, e entry, l *Layer, _ int) { l.Trailing = r.count(e, 1) },
			func(l *Layer) string { return statedText(l.Trailing, strconv.Itoa) }},
		{"epsilon", func(r *reader, e entry, l *Layer, _ int) { l.Epsilon = r.positive(e) },
			func(l *Layer) string { return statedText(l.Epsilon, source.FormatNumber) }},
		{"affine", func(r *reader, e entry, l *Layer, _ int) { l.Affine = r.boolean(e) },
			func(l *Layer) string { return statedText(l.Affine, strconv.FormatBool) }},
		{"rate", func(r *reader, e entry, l *Layer, _ int) {
			l.Rate = r.numberIn(e, "at least 0 and below 1", func(x float64) bool { return x >= 0 && x < 1 })
		}, func(l *Layer) string { return statedText(l.Rate, source.FormatNumber) }},
		{"layers", func(r *reader, e entry, l *Layer, _ int) { l.Layers = r.innerLayers(e) },
			func(l *Layer) string { return layersText(l.Layers) }},
		{"shortcut", func(r *reader, e entry, l *Layer, _ int) { l.Shortcut = r.innerLayers(e) },
			func(l *Layer) string { return layersText(l.Shortcut) }},
		{"dims", func(r *reader, e entry, l *Layer, _ int) { l.Dims = r.texts(e) },
			func(l *Layer) string { return statedList(l.Dims, word) }},
		{"shape", func(r *reader, e entry, l *Layer, _ int) { l.Shape = r.sizes(e) },
			func(l *Layer) string { return statedList(l.Shape, strconv.Itoa) }},
	}
}

// Activations lists the functions that a layer may apply to each of its values.
func Activations() []string {
	return []string{"relu", "softplus", "tanh", "gelu", "silu", "sigmoid", "exp", "identity"}
}

// innerLayers reads the layers of a layer. The schema refers to its own list of
// layers there.
func (r *reader) innerLayers(e entry) []*Layer {
	if r.shape != nil {
		r.shape.add(map[string]any{"$ref": layersReference})
		return nil
	}
	return r.layers(e)
}

// layersReference is where the schema describes the layers of a net.
const layersReference = "#/properties/nets/additionalProperties/properties/layers"

// oneOrMore reads one size for all axes, or a list with one for each.
func (r *reader) oneOrMore(e entry, axes int) []source.Value[int] {
	if r.shape != nil {
		r.count(e, 1)
		r.sizes(e)
		return nil
	}
	if _, ok := e.node.(*ast.SequenceNode); !ok {
		if v := r.count(e, 1); v.IsSet() {
			return []source.Value[int]{v}
		}
		return nil
	}
	list := r.sizes(e)
	if len(list) != axes && len(list) != 1 {
		r.Add(r.at(e.node), "", "%s has %d sizes, want 1 or %d", e.key, len(list), axes)
		return nil
	}
	return list
}

// padding reads `same`, `valid` or how many positions are added on both sides.
func (r *reader) padding(e entry) (mode source.Value[string], margin source.Value[int]) {
	if r.shape != nil {
		r.choice(e, "same", "valid")
		r.count(e, 0)
		return mode, margin
	}
	if _, ok := e.node.(*ast.IntegerNode); ok {
		return mode, r.count(e, 0)
	}
	return r.choice(e, "same", "valid"), margin
}

// LayerNames lists the layers of the language.
func LayerNames() []string {
	var names []string
	for _, k := range layerKinds() {
		names = append(names, k.name)
	}
	return names
}

// plainLayers are the layers that may stand without settings.
func plainLayers() []string {
	var names []string
	for _, k := range layerKinds() {
		if len(k.needs) == 0 && k.name != "reshape" {
			names = append(names, k.name)
		}
	}
	return names
}

// mixingLayer is a layer of other libraries that a private fit must not have.
type mixingLayer struct{ name, why, instead string }

// mixingLayers lists layers whose output for one record depends on other
// records, or whose randomness this tool does not draw, with what to use
// instead.
func mixingLayers() []mixingLayer {
	return []mixingLayer{
		{"batch_norm", "it normalises with mean and variance of the batch", "use layer_norm or group_norm, or scale: in the data block"},
		{"batch_renorm", "it normalises with mean and variance of batches", "use layer_norm or group_norm"},
		{"sync_batch_norm", "it normalises with mean and variance of the batch", "use layer_norm or group_norm"},
		{"minibatch_discrimination", "it compares a record with the others of its batch", "leave it out"},
		{"moe", "its load balancing depends on how all records are routed", "use dense"},
		{"mixup", "it averages two records", "leave it out"},
		{"spectral_norm", "its power iteration is trained along with the batches", "use a prior on the weights"},
	}
}

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
