package spec

// Output says what a run writes.
type Output struct {
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

// output reads `output:`.
func (r *reader) output(e entry, o *Output) {
	r.block(e, fields{
		"relabel":     func(e entry) { r.relabel(e, &o.Relabel) },
		"twin":        func(e entry) { r.twinOutput(e, &o.Twin) },
		"sample_rows": func(e entry) { r.sampleRows(e, o) },
		"weights":     func(e entry) { o.Weights = r.choice(e, "safetensors") },
	})
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

// renderOutput prints what a run writes.
func (s *Spec) renderOutput(p *printer) {
	o := &s.Output
	p.settings("output", s.Settings)
	if o.Weights.IsSet() {
		p.line("weights", o.Weights.V)
	}
	if o.Relabel.OrderBy.IsSet() {
		p.block("relabel", func() {
			p.line("order_by", o.Relabel.OrderBy.V)
			if o.Relabel.Dim.IsSet() {
				p.line("dim", o.Relabel.Dim.V)
			}
		})
	}
	renderTwinOutput(p, &o.Twin)
}
