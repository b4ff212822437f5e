package spec

import (
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// Release has the authors and the purpose of a release: words for the privacy report and
// the deployments registry. Nothing computed depends on it.
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
		texts("authors", &v.Authors),
		texts("curators", &v.Curators),
		text("intended_use", &v.IntendedUse),
		text("region", &v.Region),
		choice("sector", &v.Sector, "Technology", "Healthcare", "Education", "Government", "Energy", "Finance"),
	}).notedAt(&v.At)
}
