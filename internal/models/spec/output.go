package spec

import (
	"strconv"

	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// Output says what a run writes.
type Output struct {
	Weights source.Value[string] // format of the weights of networks: safetensors
	Twin    TwinOutput
	Relabel Relabel
}

// Relabel orders the components of a mixture in every draw, so that a
// parameter rises from the first to the last.
type Relabel struct {
	OrderBy source.Value[string] // the parameter
	Dim     source.Value[string] // a label of its other dim, when it has one
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
		r.Add(e.at, "add `order_by: parameter`", "relabel has no parameter to order by")
	}
}

// sampleRows reads `sample_rows: N`, N synthetic records of one draw of the
// parameters: short for `twin: {parameter_draws: 1, rows_per_draw: N}`.
func (r *reader) sampleRows(e entry, o *Output) {
	o.Twin.RowsPerDraw = r.count(e, 1)
	o.Twin.ParameterDraws = source.Value[int]{V: 1, At: e.at}
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

// TwinOutput says how large synthetic tables are, unless `d3p twin` is told
// otherwise.
type TwinOutput struct {
	At             expr.Position
	ParameterDraws source.Value[int]
	RowsPerDraw    source.Value[int]
	Separate       source.Value[bool]   // a file for each draw of the parameters
	Format         source.Value[string] // parquet or csv
}

// twinOutput reads `output: twin:`.
func (r *reader) twinOutput(e entry, o *TwinOutput) {
	o.At = e.at
	r.block(e, fields{
		"parameter_draws": func(e entry) { o.ParameterDraws = r.count(e, 1) },
		"rows_per_draw":   func(e entry) { o.RowsPerDraw = r.count(e, 1) },
		"separate_files":  func(e entry) { o.Separate = r.boolean(e) },
		"format":          func(e entry) { o.Format = r.choice(e, "parquet", "csv") },
	})
}

// renderTwinOutput prints the block, if there is one.
func renderTwinOutput(p *printer, o *TwinOutput) {
	if o.At.Line == 0 {
		return
	}
	p.block("twin", func() {
		p.count("parameter_draws", o.ParameterDraws)
		p.count("rows_per_draw", o.RowsPerDraw)
		p.maybe("separate_files", strconv.FormatBool(o.Separate.V), o.Separate.IsSet())
		p.maybe("format", o.Format.V, o.Format.IsSet())
	})
}
