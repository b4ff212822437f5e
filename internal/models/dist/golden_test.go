package dist

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/models/difference"
	"d3p/internal/models/graph"
	"d3p/internal/models/graph/graphtest"
)

func (p point) column(b *graph.Builder, d *Distribution) *graph.Node {
	if d.EventRank == 0 {
		return b.Column(0)
	}
	s := graphtest.Shape(d.EventRank, len(p.X.values))
	return b.Reshape(b.Columns(0, graph.Dim{Name: "x", Size: len(p.X.values)}), s)
}

// logDensity is the density at the point, the value read from columns.
func (p point) logDensity(t *testing.T, d *Distribution) float64 {
	b := graph.NewBuilder()
	x := Observed{X: p.column(b, d)}
	n := p.applied(b, d).LogDensity(b, x)
	if len(n.Shape()) != 0 {
		t.Fatalf("the log density has shape %v", n.Shape())
	}
	return graphtest.Evaluate(t, b, n, p.X.values, len(p.X.values))[0]
}

// Values from 60-digit arithmetic; testdata/golden.py.
func TestGoldenValues(t *testing.T) {
	eachCase(t, func(t *testing.T, d *Distribution, p point) {
		if got := p.logDensity(t, d); !graphtest.Near(got, p.LogDensity, p.tolerance) {
			t.Errorf("log density at %v = %.17g, want %.17g", p.X.values, got, p.LogDensity)
		}
	})
}

// At the edges the density is finite, or exactly impossible, and never NaN.
func TestEdges(t *testing.T) {
	for _, d := range Table {
		for _, p := range readPoints(t, d).Edges {
			t.Run(p.name(d), func(t *testing.T) {
				got := p.logDensity(t, d)
				finite := !math.IsNaN(got) && !math.IsInf(got, 0)
				if p.Want == "finite" && !finite || p.Want == "-inf" && !math.IsInf(got, -1) {
					t.Errorf("log density at %v = %v, want %s", p.X.values, got, p.Want)
				}
			})
		}
	}
}

// The gradient in every argument, and in the value where it is continuous,
// equals the central difference. Its error is about h² f”' + 1e-16 |f|/h.
func TestGradients(t *testing.T) {
	eachCase(t, func(t *testing.T, d *Distribution, p point) {
		for _, f := range []struct {
			name string
			log  func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node
		}{{"density", d.LogDensity}, {"distribution function", d.LogCDF}, {"its complement", d.LogCCDF}} {
			if f.log != nil {
				requireGradient(t, f.name, d, p, f.log)
			}
		}
	})
}

// requireGradient compares the gradient of a function of value and arguments
// with central differences.
func requireGradient(t *testing.T, name string, d *Distribution, p point, log func(b *graph.Builder, x *graph.Node, args []*graph.Node) *graph.Node) {
	t.Helper()
	b := graph.NewBuilder()
	var theta []float64
	leaf := func(name string, s graph.Shape, v []float64) *graph.Node {
		theta = append(theta, v...)
		return b.Param(name, s)
	}
	args := p.nodes(b, d, leaf)
	x := p.column(b, d)
	if !p.applied(b, d).Support().Discrete() {
		x = leaf("x", graphtest.Shape(d.EventRank, len(p.X.values)), p.X.values)
	}
	tape, err := graph.Compile(b, log(b, x, Apply(b, d, args).Args), nil, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := graph.NewMachine(tape, 1)
	value := func() float64 {
		m.Globals(theta, nil)
		m.Records(p.X.values, len(p.X.values), 1, nil)
		return m.Loss()[0]
	}
	if v := math.Abs(value()); v < 1e-9 || math.IsInf(v, 0) {
		return // a probability of all but 1, where differences are rounding, or of 0
	}
	gradient := make([]float64, tape.P)
	m.Gradient(0, gradient)
	for i, at := range theta {
		if want := difference.Quotient(value, &theta[i], 1e-5*math.Max(0.1, math.Abs(at))); !graphtest.Near(gradient[i], want, 1e-6) {
			t.Errorf("%s: gradient in parameter %d of %v is %.9g, difference quotient %.9g", name, i, theta, gradient[i], want)
		}
	}
}

// An absent optional argument is its default, and the default is allowed.
func TestDefaults(t *testing.T) {
	for _, d := range Table {
		for _, p := range readPoints(t, d).Cases[:1] {
			for _, a := range d.Args {
				if !a.Optional {
					continue
				}
				if !a.Support.Whole().Contains([]float64{a.Default}) {
					t.Errorf("%s: the default %g of %s is not %v", d.Name, a.Default, a.Name, a.Support)
				}
				explicit, absent := p, p
				explicit.Args, absent.Args = map[string]numbers{}, map[string]numbers{}
				for name, v := range p.Args {
					explicit.Args[name], absent.Args[name] = v, v
				}
				explicit.Args[a.Name] = numbers{values: []float64{a.Default}}
				delete(absent.Args, a.Name)
				if got, want := absent.logDensity(t, d), explicit.logDensity(t, d); got != want {
					t.Errorf("%s without %s: %g, with %s=%g: %g", d.Name, a.Name, got, a.Name, a.Default, want)
				}
			}
		}
	}
}

// Every exported variable of the packages below is a distribution, and has its line.
func TestTableListsEveryDistribution(t *testing.T) {
	table, err := os.ReadFile("dist.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			vars, ok := decl.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR {
				continue
			}
			for _, spec := range vars.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if !name.IsExported() {
						continue
					}
					found++
					if line := "&" + file.Name.Name + "." + name.Name + ","; !strings.Contains(string(table), line) {
						t.Errorf("%s: Table of dist.go lacks the line %s", path, line)
					}
				}
			}
		}
	}
	if found != len(Table) {
		t.Errorf("%d distributions are declared, Table has %d", found, len(Table))
	}
}

// Every entry has its name once, and what none can do without.
func TestTableIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Table {
		for field, missing := range map[string]bool{"Summary": d.Summary == "", "Support": d.Support == nil, "LogDensity": d.LogDensity == nil, "Sample": d.Sample == nil} {
			if missing {
				t.Errorf("%s has no %s", d.Name, field)
			}
		}
		if seen[d.Name] {
			t.Errorf("%s comes twice", d.Name)
		}
		seen[d.Name] = true
		if found, ok := Lookup(d.Name); !ok || found != d {
			t.Errorf("Lookup(%q) finds another", d.Name)
		}
		for _, a := range d.Args {
			if a.Instead != "" && (!hasArg(d, a.Instead) || a.Optional) {
				t.Errorf("%s: %s stands instead of %s", d.Name, a.Name, a.Instead)
			}
		}
	}
}
