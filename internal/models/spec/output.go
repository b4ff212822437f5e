package spec

// Output says what a run writes.
type Output struct {
	At      Position
	Draws   Value[int]
	Formats []Value[string]
	Weights Value[string] // format of the weights of networks: safetensors
	Twin    TwinOutput
	Relabel Relabel
}

// Relabel orders the components of a mixture in every draw, so that a
// parameter rises from the first to the last.
type Relabel struct {
	OrderBy Value[string] // the parameter
	Dim     Value[string] // a label of its other dim, when it has one
}

// formats lists the formats of posterior draws.
var formats = []string{"parquet", "csv", "stan", "zarr"}

// output reads `output:`.
func (r *reader) output(e entry, o *Output) {
	o.At = e.at
	r.settings(e.node, "output", fields{
		"draws":       func(e entry) { o.Draws = r.count(e, 0) },
		"formats":     func(e entry) { o.Formats = r.formats(e) },
		"relabel":     func(e entry) { r.relabel(e, &o.Relabel) },
		"twin":        func(e entry) { r.twinOutput(e, &o.Twin) },
		"sample_rows": func(e entry) { r.sampleRows(e, o) },
		"weights":     func(e entry) { o.Weights = r.choice(e, "safetensors") },
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

// relabel reads `relabel: {order_by:, dim:}`.
func (r *reader) relabel(e entry, v *Relabel) {
	keys := r.object(e.node, "relabel", fields{
		"order_by": func(e entry) { v.OrderBy = r.text(e) },
		"dim":      func(e entry) { v.Dim = r.text(e) },
	})
	if keys != nil && !keys["order_by"] {
		r.add(e.at, "add `order_by: parameter`", "relabel has no parameter to order by")
	}
}

// sampleRows reads `sample_rows: N`, N synthetic records of one draw of the
// parameters: short for `twin: {parameter_draws: 1, rows_per_draw: N}`.
func (r *reader) sampleRows(e entry, o *Output) {
	o.Twin.RowsPerDraw = r.count(e, 1)
	o.Twin.ParameterDraws = Value[int]{1, e.at}
	o.Twin.At = e.at
}
