package spec

import (
	"bytes"
	"testing"
)

const releaseModel = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    y: {type: real, lower: 0, upper: 1}
model: {formula: y ~ 1, family: gaussian}
release:
  authors: [A. Person, "B: Person"]
  curators: [A Hospital]
  intended_use: to plan
  region: EU
`

// The registry's declarations are read, printed, and read again.
func TestRelease(t *testing.T) {
	s, errs := Parse("release.yaml", []byte(releaseModel), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	v := s.Release
	if len(v.Authors) != 2 || v.Authors[1].V != "B: Person" || v.Curators[0].V != "A Hospital" || v.IntendedUse.V != "to plan" || v.Region.V != "EU" || v.Sector.IsSet() {
		t.Errorf("%+v", v)
	}
	again, errs := Parse("rendered.yaml", s.Render(), nil)
	if len(errs) > 0 {
		t.Fatalf("%v in\n%s", errs, s.Render())
	}
	if !bytes.Equal(again.Render(), s.Render()) {
		t.Errorf("rendered twice:\n%s\n%s", s.Render(), again.Render())
	}
}
