package spec_test

import (
	"os"
	"testing"

	"d3p/internal/models/spec"
	"d3p/internal/models/spec/spectest"
)

// TestErrors checks the messages of every file of testdata/errors.
func TestErrors(t *testing.T) {
	spectest.Each(t, "testdata/errors/*.yaml", func(file string, src []byte) spec.Errors {
		s, errs := spec.Parse(file, src, func(path string) ([]byte, error) {
			return os.ReadFile("testdata/errors/" + path)
		})
		if len(errs) == 0 && (s.Model != nil || s.Core != nil) {
			_, errs = s.Lower()
		}
		return errs
	})
}

// TestErrorText pins the form of a message, which users and editors parse.
func TestErrorText(t *testing.T) {
	src := "d3p: 1\ndata:\n  unti: {entity: patient}\n"
	_, errs := spec.Parse("cohort.yaml", []byte(src), nil)
	want := "cohort.yaml:3:3: unknown key unti in data (did you mean unit?)"
	for _, e := range errs {
		if e.Error() == want {
			return
		}
	}
	t.Errorf("want %q among\n%v", want, errs)
}
