package spec

import (
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// Release says who releases the posterior and what for: words for the privacy
// report and the deployments registry. Nothing computed depends on it.
type Release struct {
	At          expr.Position
	Authors     []source.Value[string] // of the registry entry; without one there is none
	Curators    []source.Value[string] // organisations that hold the records
	IntendedUse source.Value[string]
	Region      source.Value[string]
	Sector      source.Value[string] // in the words of the registry
}

// release reads `release:`.
func (r *reader) release(e entry, v *Release) {
	v.At = e.at
	r.object(e.node, "release", fields{
		"authors":      func(e entry) { v.Authors = r.texts(e) },
		"curators":     func(e entry) { v.Curators = r.texts(e) },
		"intended_use": func(e entry) { v.IntendedUse = r.text(e) },
		"region":       func(e entry) { v.Region = r.text(e) },
		"sector": func(e entry) {
			v.Sector = r.choice(e, "Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
		},
	})
}

// renderRelease prints what was declared.
func renderRelease(p *printer, v *Release) {
	for _, list := range []struct {
		key    string
		values []source.Value[string]
	}{{"authors", v.Authors}, {"curators", v.Curators}} {
		if len(list.values) > 0 {
			p.line(list.key, flowList(list.values, func(v source.Value[string]) string { return v.V }))
		}
	}
	for _, word := range []struct {
		key   string
		value source.Value[string]
	}{{"intended_use", v.IntendedUse}, {"region", v.Region}, {"sector", v.Sector}} {
		if word.value.IsSet() {
			p.text(word.key, word.value.V)
		}
	}
}
