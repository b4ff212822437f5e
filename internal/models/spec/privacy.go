package spec

import "d3p/internal/models/source"

// Privacy has the keys about the guarantee that are no settings.
type Privacy struct {
	UnitLevel     source.Value[bool]   // the unit, not the row, is protected
	Justification source.Value[string] // why this budget: for the report
}

// fields are the keys of `privacy:` besides its settings.
func (v *Privacy) fields() []field {
	return []field{boolean("unit_level", &v.UnitLevel).means("true: the unit is protected, not the row; always so"),
		text("justification", &v.Justification).means("why this budget, for the privacy report")}
}
