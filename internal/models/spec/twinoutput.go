package spec

import "strconv"

// TwinOutput says how large synthetic tables are, unless `d3p twin` is told
// otherwise.
type TwinOutput struct {
	At             Position
	ParameterDraws Value[int]
	RowsPerDraw    Value[int]
	Separate       Value[bool]   // a file for each draw of the parameters
	Format         Value[string] // parquet or csv
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
