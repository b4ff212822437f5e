package spec

import "testing"

// A file with old names or spellings is told from others, also where it leaves a
// setting to the plan.
func TestOldNames(t *testing.T) {
	for text, want := range map[string]bool{
		"fit: {steps: 3, sampling: auto, clip_norm: 1}\n":   false,
		"fit: {iterations: auto}\n":                         true,
		"fit: {sampling: {scheme: auto}}\n":                 true,
		"fit: {clip: {norm: 1}}\n":                          true,
		"guide: {type: mean-field}\n":                       true,
		"guide: {type: mean_field, init: prior}\nfit: {}\n": false,
	} {
		s, errs := Parse("m.yaml", []byte(modelText+text), nil)
		if len(errs) > 0 || s.OldNames != want {
			t.Errorf("%q: %v, %v, want %v", text, s.OldNames, errs, want)
		}
	}
	if _, errs := Parse("m.yaml", []byte(modelText+"fit: {steps: 3, iterations: 3}\n"), nil); len(errs) != 1 {
		t.Errorf("a setting under both of its names: %v", errs)
	}
}
