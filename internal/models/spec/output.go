package spec

// Output says what a run writes.
type Output struct {
	At      Position
	Draws   Value[int]
	Formats []Value[string]
	Weights Value[string] // format of the weights of networks: safetensors
	Twin    TwinOutput
}

// formats lists the formats of posterior draws.
var formats = []string{"parquet", "csv", "stan", "zarr"}

// output reads `output:`.
func (r *reader) output(e entry, o *Output) {
	o.At = e.at
	r.settings(e.node, "output", fields{
		"draws":   func(e entry) { o.Draws = r.count(e, 0) },
		"formats": func(e entry) { o.Formats = r.formats(e) },
		"relabel": func(e entry) { r.notYet(e, "relabel", "mixtures") },
		"twin":    func(e entry) { r.twinOutput(e, &o.Twin) },
		"weights": func(e entry) { o.Weights = r.choice(e, "safetensors") },
	})
}

// formats reads a list of formats.
func (r *reader) formats(e entry) []Value[string] {
	list := r.texts(e)
	r.unique("format", list)
	for _, v := range list {
		known := false
		for _, f := range formats {
			known = known || f == v.V
		}
		if !known {
			r.add(v.At, suggest(v.V, "one of", formats), "unknown format %s", v.V)
		}
	}
	return list
}
