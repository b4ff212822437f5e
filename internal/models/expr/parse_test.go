package expr

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// dump writes a tree with every node in brackets, without places: two trees
// are the same exactly when their dumps are. (cmp.Diff takes exponential time
// in the depth of nested slices.)
func dump(e Expr) string {
	switch e := e.(type) {
	case *Number:
		return fmt.Sprintf("(number %x)", e.Value)
	case *Name:
		return fmt.Sprintf("(name %q)", e.ID)
	case *Text:
		return fmt.Sprintf("(text %q)", e.Value)
	case *Unary:
		return "(" + e.Op + " " + dump(e.X) + ")"
	case *Binary:
		return "(" + e.Op + " " + dump(e.X) + dump(e.Y) + ")"
	case *Index:
		return "(index " + dump(e.X) + dumps(e.Indices) + ")"
	case *Member:
		return fmt.Sprintf("(member %s%q)", dump(e.X), e.Name)
	case *List:
		return "(list " + dumps(e.Items) + ")"
	case *Call:
		out := fmt.Sprintf("(call %q ", e.Func)
		for _, a := range e.Args {
			out += fmt.Sprintf("%q=%s", a.Name, dump(a.Value))
		}
		return out + ")"
	}
	return fmt.Sprintf("(%T)", e)
}

func dumps(es []Expr) string {
	var out string
	for _, e := range es {
		out += dump(e)
	}
	return out
}

func TestPrintIsCanonical(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"1+2*3", "1 + 2 * 3"},
		{"(1+2)*3", "(1 + 2) * 3"},
		{"a-(b-c)", "a - (b - c)"},
		{"a-b-c", "a - b - c"},
		{"-x^2", "-x ^ 2"},
		{"(-x)^2", "(-x) ^ 2"},
		{"2^-x^y", "2 ^ -x ^ y"},
		{"(a^b)^c", "(a ^ b) ^ c"},
		{"a^b^c", "a ^ b ^ c"},
		{"not(a==b)and c", "not a == b and c"},
		{"(not a)==b", "(not a) == b"},
		{"a and (b or c)", "a and (b or c)"},
		{"visits == 0 or age >= 1", "visits == 0 or age >= 1"},
		{"normal( 0,1 )[k,d]", "normal(0, 1) [k, d]"},
		{"u[hospital,\"Intercept\"]", "u[hospital, 'Intercept']"},
		{"f('it\\'s', k = [1,2,])", "f('it\\'s', k=[1, 2])"},
		{"normal(encoder(img).loc, encoder(img).scale)", "normal(encoder(img).loc, encoder(img).scale)"},
		{"normal.loc + 1e-6 * .5", "normal.loc + 1e-06 * 0.5"},
		{"W @ transpose(g) + z @ transpose(diag(sd) @ L)", "W @ transpose(g) + z @ transpose(diag(sd) @ L)"},
		{"mixture(pis, normal(mus, sigs), over=k)", "mixture(pis, normal(mus, sigs), over=k)"},
		{"+x", "x"},
		{"größe * 2", "größe * 2"},
	} {
		e, errs := Parse(c.src, Position{})
		if errs != nil {
			t.Errorf("Parse(%q): %v", c.src, errs)
			continue
		}
		if got := e.String(); got != c.want {
			t.Errorf("Parse(%q) prints %q, want %q", c.src, got, c.want)
		}
	}
}

// Every mistake, with its place and its hint; the text starts at line 7,
// column 11 of m.yaml.
func TestMistakes(t *testing.T) {
	start := Position{File: "m.yaml", Line: 7, Column: 11}
	for _, c := range []struct{ src, want string }{
		{"", "m.yaml:7:11: empty expression"},
		{"1 +", "m.yaml:7:14: unexpected the end of the expression"},
		{"a b", "m.yaml:7:13: unexpected b after the expression (an operator or a comma is missing)"},
		{"a = b", "m.yaml:7:13: unexpected = after the expression (use == to compare)"},
		{"x ** 2", "m.yaml:7:13: unknown operator ** (use ^)"},
		{"a && b || c", "m.yaml:7:13: unknown operator && (use and)\nm.yaml:7:18: unknown operator || (use or)"},
		{"0 < x < 1", "m.yaml:7:17: comparisons do not chain (write a < b and b < c)"},
		{"f(1,\n  2 3, 4 $ 5)", "m.yaml:8:15: unexpected number 3 (an operator or a comma is missing)\nm.yaml:8:20: unexpected character \"$\"\nm.yaml:8:22: unexpected number 5 (an operator or a comma is missing)"},
		{"normal(0, ", "m.yaml:7:21: unexpected the end of the expression"},
		{"(a + b", "m.yaml:7:17: ( at 7:11 is not closed before the end of the expression (add ))"},
		{"f(a=1, a=2)", "m.yaml:7:18: argument a of f is given twice"},
		{"f(a=1, 2)", "m.yaml:7:18: positional argument after a named one in f (positional arguments come first)"},
		{"2x", "m.yaml:7:11: malformed number 2x (put an operator between a number and a name)"},
		{"2 - 01", "m.yaml:7:15: malformed number 01 (write no leading zero; a date is a number of days since the `origin:` of its column)"},
		{"'abc", "m.yaml:7:11: string does not end (add the closing ')"},
		{"a ? b", "m.yaml:7:13: unexpected character \"?\"\nm.yaml:7:15: unexpected b after the expression (an operator or a comma is missing)"},
		{"1e999", "m.yaml:7:11: number 1e999 is out of range"},
		{"* 2", "m.yaml:7:11: unexpected * (an operand is missing before it)"},
		{"u[]", "m.yaml:7:12: empty index (name a dim, a label or a column)"},
		{"(a) .b", "m.yaml:7:15: only a call has parts such as .b (write a dotted name without spaces or brackets)"},
		{"{0, 1}", "m.yaml:7:11: unknown operator { (YAML split the line: write it as a block scalar, not inside { })\n" +
			"m.yaml:7:16: unknown operator } (YAML split the line: write it as a block scalar, not inside { })"},
	} {
		e, errs := Parse(c.src, start)
		if e != nil || errs == nil {
			t.Errorf("Parse(%q) = %v, want a mistake", c.src, e)
			continue
		}
		if got := errs.Error(); got != c.want {
			t.Errorf("Parse(%q):\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}

func TestNestingIsBounded(t *testing.T) {
	for _, deep := range []string{"(", "-", "f(", "[", "a^", "not "} {
		if _, errs := Parse(strings.Repeat(deep, 1e5)+"x", Position{}); errs == nil {
			t.Errorf("1e5 times %q parses", deep)
		}
	}
}

func TestSplitDims(t *testing.T) {
	e, _ := Parse("normal(0, 1) [k, d]", Position{})
	dist, dims, errs := SplitDims(e)
	if errs != nil || dist.String() != "normal(0, 1)" || len(dims) != 2 || dims[0].ID != "k" || dims[1].ID != "d" {
		t.Errorf("SplitDims = %v, %v, %v", dist, dims, errs)
	}
	e, _ = Parse("normal(0, 1) [k, 'd', 3]", Position{})
	if _, _, errs := SplitDims(e); len(errs) != 2 {
		t.Errorf("SplitDims accepts %v: %v", e, errs)
	}
}

// tree draws a syntax tree as the parser may build it.
func tree(depth int) *rapid.Generator[Expr] {
	id := rapid.StringMatching(`[a-zäß_][a-z0-9_]{0,4}(\.[a-z][a-z0-9]{0,3})?`).Filter(func(s string) bool {
		return s != "and" && s != "or" && s != "not"
	})
	leaf := rapid.OneOf(
		rapid.Custom(func(t *rapid.T) Expr { return &Name{ID: id.Draw(t, "name")} }),
		rapid.Custom(func(t *rapid.T) Expr { return &Number{Value: rapid.Float64Range(0, 1e300).Draw(t, "number")} }),
		rapid.Custom(func(t *rapid.T) Expr { return &Text{Value: rapid.String().Draw(t, "text")} }),
	)
	if depth == 0 {
		return leaf
	}
	sub := rapid.Deferred(func() *rapid.Generator[Expr] { return tree(depth - 1) })
	call := rapid.Custom(func(t *rapid.T) Expr {
		c := &Call{Func: id.Draw(t, "func")}
		for i, n := 0, rapid.IntRange(0, 3).Draw(t, "positional"); i < n; i++ {
			c.Args = append(c.Args, Argument{Value: sub.Draw(t, "arg")})
		}
		for _, n := range rapid.SliceOfNDistinct(id, 0, 2, rapid.ID).Draw(t, "named") {
			c.Args = append(c.Args, Argument{Name: n, Value: sub.Draw(t, "arg")})
		}
		return c
	})
	return rapid.OneOf(
		leaf, call,
		rapid.Custom(func(t *rapid.T) Expr {
			return &Unary{Op: rapid.SampledFrom([]string{"-", "not"}).Draw(t, "op"), X: sub.Draw(t, "x")}
		}),
		rapid.Custom(func(t *rapid.T) Expr {
			ops := []string{"+", "-", "*", "/", "^", "@", "==", "!=", "<", "<=", ">", ">=", "and", "or"}
			return &Binary{Op: rapid.SampledFrom(ops).Draw(t, "op"), X: sub.Draw(t, "x"), Y: sub.Draw(t, "y")}
		}),
		rapid.Custom(func(t *rapid.T) Expr {
			return &Index{X: sub.Draw(t, "x"), Indices: rapid.SliceOfN(sub, 1, 3).Draw(t, "indices")}
		}),
		rapid.Custom(func(t *rapid.T) Expr { return &Member{X: call.Draw(t, "x"), Name: id.Draw(t, "name")} }),
		rapid.Custom(func(t *rapid.T) Expr {
			return &List{Items: rapid.SliceOfN(sub, 0, 3).Draw(t, "items")}
		}),
	)
}

func TestParsePrintsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := tree(4).Draw(t, "tree")
		got, errs := Parse(want.String(), Position{})
		if errs != nil {
			t.Fatalf("Parse(%q): %v", want, errs)
		}
		if dump(want) != dump(got) {
			t.Fatalf("Parse(%q) differs:\n got %s\nwant %s", want, dump(got), dump(want))
		}
	})
}

// Any text parses or fails with places inside it; what parses prints back.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a + b * c ^ -d", "u[hospital, 'Intercept']", "normal(0, 1) [k, d]", "f(a=1, b=[2, 3,],)", "not a == b and c",
		"encoder(img).loc", "0 < x < 1", "'it\\'s", "1e999", "((((", "a..b", "x ** 2 && \xff", "größe\n+ 1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		e, errs := Parse(src, Position{})
		if (e == nil) == (errs == nil) {
			t.Fatalf("Parse(%q) = %v, %v", src, e, errs)
		}
		for _, err := range errs {
			if err.Line < 1 || err.Line > strings.Count(src, "\n")+1 || err.Column < 1 {
				t.Fatalf("Parse(%q) reports %v", src, err)
			}
		}
		if e == nil {
			return
		}
		again, errs := Parse(e.String(), Position{})
		if errs != nil {
			t.Fatalf("Parse(%q) of %q: %v", e, src, errs)
		}
		if dump(e) != dump(again) {
			t.Fatalf("Parse(%q) of %q differs:\n got %s\nwant %s", e, src, dump(again), dump(e))
		}
	})
}
