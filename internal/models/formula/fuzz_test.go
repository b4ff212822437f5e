package formula

import (
	"testing"

	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// FuzzFormula checks that formulas never panic the parser, and that those that
// parse print to a formula that parses to the same text.
func FuzzFormula(f *testing.F) {
	for _, s := range []string{
		"y ~ 1", "y ~ 0 + x", "y ~ x - 1", "y ~ a*b*c + (1 + a || g) + offset(log(e))",
		"y ~ (1 | g) + (0 + a:b | h)", "y ~ -1", "y ~", "y ~ poly(x, 2)", "y ~ offset((", "é ~ ü", "y == '~' ~ x", "n >= -2 ~ 1", "y ~ (a + b)^2/c - a + log(a / b):I(c^2)",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := &source.Problems{}
		parsed := Parse(source.Value[string]{V: text, At: expr.Position{File: "f", Line: 1, Column: 1}}, p)
		if parsed == nil {
			if len(p.List) == 0 {
				t.Fatal("no formula and no mistake")
			}
			return
		}
		if len(p.List) > 0 {
			return
		}
		printed := parsed.String()
		q := &source.Problems{}
		again := Parse(source.Value[string]{V: printed, At: expr.Position{File: "f", Line: 1, Column: 1}}, q)
		if again == nil || len(q.List) > 0 || again.String() != printed {
			t.Fatalf("%q prints as %q, which does not read back: %v", text, printed, q.List)
		}
	})
}
