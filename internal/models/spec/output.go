package spec

import (
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// Output has the output settings of a run.
type Output struct {
	Weights source.Value[string] // format of the weights of networks: safetensors
	Twin    TwinOutput
	Relabel Relabel
}

// Relabel orders the components of a mixture in every draw, so that a
// parameter rises from the first to the last.
type Relabel struct {
	At      expr.Position
	OrderBy source.Value[string] // the parameter
	Dim     source.Value[string] // a label of its other dim, when it has one
}

// TwinOutput is the default size of synthetic tables for `d3p twin`.
type TwinOutput struct {
	At             expr.Position
	ParameterDraws source.Value[int]
	RowsPerDraw    source.Value[int]
	Separate       source.Value[bool]   // a file for each draw of the parameters
	Format         source.Value[string] // parquet or csv
}

// fields are the keys of `output:` besides its settings.
func (o *Output) fields() []field {
	twin := Settings{}.block("twin",
		count("parameter_draws", &o.Twin.ParameterDraws, 1).or("auto").means("draws of the parameters"),
		count("rows_per_draw", &o.Twin.RowsPerDraw, 1).or("auto").means("synthetic rows for each of them"),
		boolean("separate_files", &o.Twin.Separate).or("auto").means("a file for each draw of the parameters"),
		choice("format", &o.Twin.Format, "parquet", "csv").or("auto").means("of synthetic tables"),
	).notedAt(&o.Twin.At).means("the size of synthetic tables")
	return []field{
		choice("weights", &o.Weights, "safetensors").means("the format of the weights of networks"),
		mapping("relabel", []field{
			text("order_by", &o.Relabel.OrderBy).needed("add `order_by: parameter`", "relabel has no parameter to order by").means("the parameter whose values rise"),
			text("dim", &o.Relabel.Dim).means("a label of its other dim"),
		}).means("orders the components of a mixture in every draw").notedAt(&o.Relabel.At),
		o.once(twin),
		o.once(field{key: "sample_rows", read: o.sampleRows, meaning: "rows of a twin, from one draw of the parameters"}),
	}
}

// once is one of the two ways to state the size of synthetic tables.
func (o *Output) once(f field) field {
	read := f.read
	f.read = func(r *reader, e entry) {
		if first := o.Twin.At; first.Line > 0 {
			r.Add(e.at, "keep one of sample_rows and twin", "%s repeats line %d", f.key, first.Line)
			return
		}
		read(r, e)
	}
	return f
}

// sampleRows reads `sample_rows: N`, N synthetic records of one draw of the
// parameters: short for `twin: {parameter_draws: 1, rows_per_draw: N}`.
func (o *Output) sampleRows(r *reader, e entry) {
	o.Twin.RowsPerDraw = r.count(e, 1)
	o.Twin.ParameterDraws = source.Value[int]{V: 1, At: e.at}
	o.Twin.At = e.at
}

// Release has the authors and the purpose of a release, for the privacy report and the
// deployments registry. No number depends on it.
type Release struct {
	At          expr.Position
	Authors     []source.Value[string] // of the registry entry; without an author there is no entry
	Curators    []source.Value[string] // organisations that hold the records
	IntendedUse source.Value[string]
	Region      source.Value[string]
	Sector      source.Value[string] // in the words of the registry
}

// field is `release:`.
func (v *Release) field() field {
	return mapping("release", []field{
		texts("authors", &v.Authors).means("names for the registry of differential privacy deployments; without one there is no registry.yaml"),
		texts("curators", &v.Curators).means("organisations that hold the records"),
		text("intended_use", &v.IntendedUse).means("the purpose of the release"),
		text("region", &v.Region).means("where the records come from"),
		choice("sector", &v.Sector, "Technology", "Healthcare", "Education", "Government", "Energy", "Finance").means("in the words of the registry"),
	}).means("the draft for the registry of differential privacy deployments").notedAt(&v.At)
}
