package spec

import "d3p/internal/models/expr"

// Render prints the model file with every default filled in: open values have their
// defaults, and values that the fit's plan decides are `auto`. It reads back as the same
// model. Included files and level files are part of the output.
func (s *Spec) Render() []byte {
	p := &printer{}
	p.fields((&blocks{spec: s}).topLevel(0))
	return []byte(p.String())
}

// RenderCore is Render with the model in the core language, whether the file
// states it by core blocks or by a formula.
func (s *Spec) RenderCore() ([]byte, expr.Errors) {
	core, errs := s.Lower()
	if len(errs) > 0 {
		return nil, errs
	}
	lowered := *s
	lowered.Model, lowered.Twin, lowered.Core = nil, nil, core
	return lowered.Render(), nil
}
