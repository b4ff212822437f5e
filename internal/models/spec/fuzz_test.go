package spec

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzParse checks that no text makes the parser panic, that mistakes are in
// order and have places, and that what parses prints to a fixed point:
// render(parse(render(s))) = render(s), for the formula and its core blocks.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*/*.yaml")
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		s, errs := Parse("m.yaml", src, nil)
		for i, e := range errs {
			if e.Line < 1 || e.Column < 1 {
				t.Errorf("no place: %v", e)
			}
			if i > 0 && e.Line < errs[i-1].Line {
				t.Errorf("out of order: %v after %v", e, errs[i-1])
			}
		}
		if len(errs) > 0 || s.Model == nil && s.Core == nil {
			return
		}
		rendered := s.Render()
		checkFixedPoint(t, rendered, (*Spec).Render)
		core, errs := s.RenderCore()
		if len(errs) > 0 {
			return
		}
		checkFixedPoint(t, core, func(s *Spec) []byte {
			out, _ := s.RenderCore()
			return out
		})
	})
}

// checkFixedPoint checks that a rendered file parses and renders to itself.
func checkFixedPoint(t *testing.T, rendered []byte, render func(*Spec) []byte) {
	t.Helper()
	s, errs := Parse("rendered.yaml", rendered, nil)
	if len(errs) > 0 {
		t.Fatalf("the rendered file has mistakes:\n%v\n%s", errs, rendered)
	}
	if again := render(s); !bytes.Equal(again, rendered) {
		t.Fatalf("render is no fixed point:\n%s\nthen\n%s", rendered, again)
	}
}
