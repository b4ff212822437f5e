package spec

import (
	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/source"
)

// layerKind is one line of the table of layers: its name in model files, what
// its settings are, and which of them it needs. What it computes is in package
// net, under the same name.
type layerKind struct {
	name     string
	settings func(r *reader, l *Layer) fields
	needs    []string
}

// layerKinds is the table of layers; activations are layers without settings.
func layerKinds() []layerKind {
	kinds := []layerKind{
		{"dense", denseSettings, []string{"units"}},
		{"flatten", noSettings, nil},
		{"reshape", reshapeSettings, nil},
		{"conv1d", convolutionSettings(1), []string{"filters", "kernel"}},
		{"conv2d", convolutionSettings(2), []string{"filters", "kernel"}},
		{"conv1d_transpose", convolutionSettings(1), []string{"filters", "kernel"}},
		{"conv2d_transpose", convolutionSettings(2), []string{"filters", "kernel"}},
		{"max_pool1d", windowSettings(1), []string{"kernel"}},
		{"max_pool2d", windowSettings(2), []string{"kernel"}},
		{"avg_pool1d", windowSettings(1), []string{"kernel"}},
		{"avg_pool2d", windowSettings(2), []string{"kernel"}},
		{"global_avg_pool", noSettings, nil},
		{"embedding", embeddingSettings, []string{"levels", "units"}},
		{"layer_norm", layerNormSettings, nil},
		{"group_norm", groupNormSettings, []string{"groups"}},
		{"instance_norm", normSettings, nil},
		{"residual", residualSettings, []string{"layers"}},
		{"dropout", dropoutSettings, []string{"rate"}},
	}
	for _, name := range Activations() {
		kinds = append(kinds, layerKind{name, noSettings, nil})
	}
	return kinds
}

// Activations lists the functions that a layer may apply to each of its values.
func Activations() []string {
	return []string{"relu", "softplus", "tanh", "gelu", "silu", "sigmoid", "exp", "identity"}
}

func noSettings(*reader, *Layer) fields { return fields{} }

func denseSettings(r *reader, l *Layer) fields {
	return fields{
		"units":      func(e entry) { l.Units = r.text(e) },
		"activation": func(e entry) { l.Activation = r.choice(e, Activations()...) },
		"init":       func(e entry) { l.Init = r.init(e) },
		"bias":       func(e entry) { l.Bias = r.boolean(e) },
	}
}

// windowSettings are those of layers that look through a window along axes.
func windowSettings(axes int) func(r *reader, l *Layer) fields {
	return func(r *reader, l *Layer) fields {
		return fields{
			"kernel":  func(e entry) { l.Kernel = r.oneOrMore(e, axes) },
			"stride":  func(e entry) { l.Stride = r.oneOrMore(e, axes) },
			"padding": func(e entry) { l.Padding, l.Margin = r.padding(e) },
		}
	}
}

// convolutionSettings are those of convolutions and transposed ones.
func convolutionSettings(axes int) func(r *reader, l *Layer) fields {
	return func(r *reader, l *Layer) fields {
		known := windowSettings(axes)(r, l)
		known["filters"] = func(e entry) { l.Filters = r.text(e) }
		known["activation"] = func(e entry) { l.Activation = r.choice(e, Activations()...) }
		known["init"] = func(e entry) { l.Init = r.init(e) }
		known["bias"] = func(e entry) { l.Bias = r.boolean(e) }
		return known
	}
}

func embeddingSettings(r *reader, l *Layer) fields {
	return fields{
		"levels": func(e entry) { l.Levels = r.text(e) },
		"units":  func(e entry) { l.Units = r.text(e) },
		"init":   func(e entry) { l.Init = r.init(e) },
	}
}

func normSettings(r *reader, l *Layer) fields {
	return fields{
		"epsilon":    func(e entry) { l.Epsilon = r.positive(e) },
		"affine":     func(e entry) { l.Affine = r.boolean(e) },
		"activation": func(e entry) { l.Activation = r.choice(e, Activations()...) },
	}
}

func layerNormSettings(r *reader, l *Layer) fields {
	known := normSettings(r, l)
	known["trailing"] = func(e entry) { l.Trailing = r.count(e, 1) }
	return known
}

func groupNormSettings(r *reader, l *Layer) fields {
	known := normSettings(r, l)
	known["groups"] = func(e entry) { l.Groups = r.count(e, 1) }
	return known
}

func residualSettings(r *reader, l *Layer) fields {
	return fields{
		"layers":     func(e entry) { l.Layers = r.innerLayers(e) },
		"shortcut":   func(e entry) { l.Shortcut = r.innerLayers(e) },
		"activation": func(e entry) { l.Activation = r.choice(e, Activations()...) },
	}
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

func dropoutSettings(r *reader, l *Layer) fields {
	return fields{"rate": func(e entry) {
		l.Rate = r.numberIn(e, "at least 0 and below 1", func(x float64) bool { return x >= 0 && x < 1 })
	}}
}

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

func reshapeSettings(r *reader, l *Layer) fields {
	return fields{
		"dims":  func(e entry) { l.Dims = r.texts(e) },
		"shape": func(e entry) { l.Shape = r.sizes(e) },
	}
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
