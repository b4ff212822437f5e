package spec

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
