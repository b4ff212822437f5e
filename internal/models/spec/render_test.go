package spec

import (
	"d3p/internal/models/core"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestRenderRoundTrip writes random valid model files and checks that the
// rendered file states the same: every value that the file states is stated
// again, and rendering once more changes nothing.
func TestRenderRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := randomModel(t)
		s, errs := Parse("m.yaml", []byte(src), nil)
		if len(errs) > 0 {
			t.Fatalf("%v\n%s", errs, src)
		}
		rendered := s.Render()
		again, errs := Parse("rendered.yaml", rendered, nil)
		if len(errs) > 0 {
			t.Fatalf("%v\n%s", errs, rendered)
		}
		if string(again.Render()) != string(rendered) {
			t.Fatalf("%s\nthen\n%s", rendered, again.Render())
		}
		sameValues(t, "spec", reflect.ValueOf(*s), reflect.ValueOf(*again))
	})
}

// sameValues checks that every stated Value of a stands with the same V in b.
func sameValues(t interface{ Fatalf(string, ...any) }, path string, a, b reflect.Value) {
	switch a.Kind() {
	case reflect.String:
		if a.String() != b.String() {
			t.Fatalf("%s is %q, then %q", path, a, b)
		}
	case reflect.Pointer:
		if !a.IsNil() && !b.IsNil() {
			sameValues(t, path, a.Elem(), b.Elem())
		} else if a.IsNil() != b.IsNil() {
			t.Fatalf("%s is there in one file only", path)
		}
	case reflect.Slice:
		if a.Type() == reflect.TypeFor[[]*core.Definition]() {
			return // render adds the priors by default; checked by name below
		}
		if a.Len() != b.Len() {
			t.Fatalf("%s has %d elements, then %d", path, a.Len(), b.Len())
		}
		for i := range a.Len() {
			sameValues(t, fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i))
		}
	case reflect.Struct:
		if at := a.FieldByName("At"); at.IsValid() && a.FieldByName("V").IsValid() {
			if stated := at.FieldByName("Line").Int() > 0; stated && !a.FieldByName("V").Equal(b.FieldByName("V")) {
				t.Fatalf("%s is %v, then %v", path, a.FieldByName("V"), b.FieldByName("V"))
			}
			return
		}
		if at := a.FieldByName("At"); at.IsValid() && at.FieldByName("Line").Int() == 0 {
			return // not stated
		}
		for i := range a.NumField() {
			switch name := path + "." + a.Type().Field(i).Name; {
			case name == "spec.Data.Missing", strings.HasSuffix(name, ".LevelsFrom"): // each column says it
			case slices.Contains([]string{"File", "Warnings", "Text", "Expr", "Offsets", "Formula", "values"}, a.Type().Field(i).Name):
			default:
				sameValues(t, name, a.Field(i), b.Field(i))
			}
		}
	}
}

// words are texts that need care when YAML is written.
var words = []string{"a", "no", "true", "null", "~", "1", "1.0", "-3", "a b", "a: b", "c:d", "#x", "x #y", "'q'", `"q"`, "[x]", "{y}", "é", "auto", "FILL", "- z", "*s", "&r", "%p", "@m", "!t", "|", ">", "e,f", " s ", "a\\b", "tab\there", "two\nlines"}

// randomModel writes a valid model file, all texts in double quotes.
func randomModel(t *rapid.T) string {
	var b strings.Builder
	word := func(name string) string { return fmt.Sprintf("%q", rapid.SampledFrom(words).Draw(t, name)) }
	number := func(name string) float64 { return float64(rapid.IntRange(1, 1000).Draw(t, name)) / 8 }
	fmt.Fprintf(&b, "d3p: 1\nname: %s\ndescription: %s\ndata:\n  unit: {entity: %s, rows_per_unit: 1}\n  rows: {%s: %d}\n", word("name"), word("description"), word("entity"),
		rapid.SampledFrom([]string{"public", "upper_bound"}).Draw(t, "rows"), rapid.IntRange(1, 1<<40).Draw(t, "N"))
	if rapid.Bool().Draw(t, "out") {
		b.WriteString("  out_of_range: reject\n")
	}
	b.WriteString("  columns:\n    y: {type: binary}\n")
	terms := []string{rapid.SampledFrom([]string{"0", "1"}).Draw(t, "intercept")}
	for i := range rapid.IntRange(1, 5).Draw(t, "columns") {
		name := fmt.Sprintf("c%d", i)
		terms = append(terms, name)
		lower := number("lower")
		switch rapid.IntRange(0, 3).Draw(t, "type") {
		case 0:
			fmt.Fprintf(&b, "    %s: {type: real, lower: %g, upper: %g, transform: log, source: %s}\n", name, lower, lower+number("width"), word("source"))
		case 1:
			fmt.Fprintf(&b, "    %s: {header: %s, type: real, lower: %g, upper: %g, scale: {center: %g, by: %g}}\n", name, fmt.Sprintf("%q", fmt.Sprint(i, words[i])), -lower, lower, number("center"), number("by"))
		case 2:
			levels := rapid.SliceOfNDistinct(rapid.SampledFrom(words), 2, 5, rapid.ID).Draw(t, "levels")
			for j, l := range levels {
				levels[j] = fmt.Sprintf("%q", l)
			}
			fmt.Fprintf(&b, "    %s: {type: category, levels: [%s], reference: %s, unknown: %s, missing: {impute: %s}}\n", name, strings.Join(levels, ", "), levels[1], levels[0], levels[1])
			if rapid.Bool().Draw(t, "group") {
				terms[len(terms)-1] = "(1 | " + name + ")"
			}
		case 3:
			fmt.Fprintf(&b, "    %s: {type: integer, lower: 0, upper: %d, missing: {impute: 0, indicator: true}}\n", name, rapid.IntRange(1, 99).Draw(t, "upper"))
		}
	}
	fmt.Fprintf(&b, "model:\n  formula: y ~ %s\n  family: bernoulli\n", strings.Join(terms, " + "))
	fmt.Fprintf(&b, "fit: {steps: %d, clip_norm: %g}\nprivacy: {epsilon: %g, ledger: %s}\n", rapid.IntRange(1, 9999).Draw(t, "T"), number("C"), number("epsilon"), word("ledger"))
	return b.String()
}
