package spec

import (
	"strconv"

	"d3p/internal/models/source"
)

// Privacy is what the file says of the guarantee beside its settings.
type Privacy struct {
	UnitLevel     source.Value[bool]   // the unit, not the row, is what is protected
	Justification source.Value[string] // why this budget: for the report
}

// privacy reads `privacy:`.
func (r *reader) privacy(e entry, v *Privacy) {
	r.block(e, fields{
		"justification": func(e entry) { v.Justification = r.text(e) },
		"unit_level":    func(e entry) { v.UnitLevel = r.boolean(e) },
	})
}

// renderPrivacy prints the budget.
func (s *Spec) renderPrivacy(p *printer) {
	p.settings("privacy", s.Settings)
	if v := s.Privacy.UnitLevel; v.IsSet() {
		p.line("unit_level", strconv.FormatBool(v.V))
	}
	if v := s.Privacy.Justification; v.IsSet() {
		p.text("justification", v.V)
	}
}
