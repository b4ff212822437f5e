package dist

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/models/graph/graphtest"
	"d3p/internal/models/support"
)

// The tests of this package range over Table and Transforms: a new entry is
// tested as soon as it has its line and its testdata/NAME.json.

// numbers is a number, or a list of numbers, in a JSON file.
type numbers struct {
	values []float64
	list   bool
}

func (n *numbers) UnmarshalJSON(src []byte) error {
	if err := json.Unmarshal(src, &n.values); err == nil {
		n.list = true
		return nil
	}
	n.values = make([]float64, 1)
	return json.Unmarshal(src, &n.values[0])
}

// point is an argument list and a value, with what the density must be there.
type point struct {
	Args       map[string]numbers
	X          numbers
	LogDensity float64 `json:"log_density"`
	Want       string
	tolerance  float64
	integral   float64
}

// points are the contents of testdata/NAME.json.
type points struct {
	Tolerance         float64 // of a log density, relative above 1
	IntegralTolerance float64 `json:"integral_tolerance"` // of an integral on the grid
	Cases, Edges      []point
}

func readPoints(t *testing.T, d *Distribution) points {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("testdata", d.Name+".json"))
	if err != nil {
		t.Fatalf("%s needs golden values: add it to testdata/golden.py: %v", d.Name, err)
	}
	var p points
	if err := json.Unmarshal(src, &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Cases) < 2 || len(p.Edges) < 1 {
		t.Fatalf("%s has %d cases and %d edges, want at least 2 and 1", d.Name, len(p.Cases), len(p.Edges))
	}
	for i := range p.Cases {
		p.Cases[i].tolerance, p.Cases[i].integral = p.Tolerance, p.IntegralTolerance
	}
	for _, c := range append(p.Cases, p.Edges...) {
		for name := range c.Args {
			if !hasArg(d, name) {
				t.Fatalf("%s has no argument %s", d.Name, name)
			}
		}
	}
	return p
}

func hasArg(d *Distribution, name string) bool {
	for _, a := range d.Args {
		if a.Name == name {
			return true
		}
	}
	return false
}

// argShape is the shape of an argument as the point gives it.
func argShape(a Arg, v numbers) graph.Shape {
	if !v.list {
		return nil
	}
	return graphtest.Shape(a.Rank, len(v.values))
}

// nodes makes the point's arguments in the order of d.Args, nil where absent.
func (p point) nodes(b *graph.Builder, d *Distribution, leaf func(name string, s graph.Shape, v []float64) *graph.Node) []*graph.Node {
	args := make([]*graph.Node, len(d.Args))
	for i, a := range d.Args {
		if v, ok := p.Args[a.Name]; ok {
			args[i] = leaf(a.Name, argShape(a, v), v.values)
		}
	}
	return args
}

// constants makes the arguments constants.
func (p point) constants(b *graph.Builder, d *Distribution) []*graph.Node {
	return p.nodes(b, d, func(_ string, s graph.Shape, v []float64) *graph.Node { return b.Consts(s, v) })
}

// applied is the distribution with constant arguments.
func (p point) applied(b *graph.Builder, d *Distribution) Applied {
	return Apply(b, d, p.constants(b, d))
}

// samplerArgs are the arguments as Sample reads them, defaults filled in.
func (p point) samplerArgs(d *Distribution) [][]float64 {
	args := make([][]float64, len(d.Args))
	for i, a := range d.Args {
		if v, ok := p.Args[a.Name]; ok {
			args[i] = v.values
		} else if a.Optional {
			args[i] = []float64{a.Default}
		}
	}
	return args
}

// name is the point as a test's name.
func (p point) name(d *Distribution) string {
	s := d.Name
	for _, a := range d.Args {
		if v, ok := p.Args[a.Name]; ok {
			s += fmt.Sprintf(",%s=%v", a.Name, v.values)
		}
	}
	return s
}

// pcg is a source of random numbers with a fixed seed.
type pcg struct{ *rand.Rand }

func newRand(seed uint64) pcg  { return pcg{rand.New(rand.NewPCG(seed, 17))} }
func (r pcg) Normal() float64  { return r.NormFloat64() }
func (r pcg) Uniform() float64 { return r.Float64() }

// eachCase runs test for every case of every distribution.
func eachCase(t *testing.T, test func(t *testing.T, d *Distribution, p point)) {
	for _, d := range Table {
		for _, p := range readPoints(t, d).Cases {
			t.Run(p.name(d), func(t *testing.T) { test(t, d, p) })
		}
	}
}

// Every continuous distribution has a transform to its support.
func TestContinuousSupportsHaveTransforms(t *testing.T) {
	for _, d := range Table {
		args := make([]float64, len(d.Args))
		if s := d.Support(args); (support.TransformFor(s) == nil) != s.Discrete() {
			t.Errorf("%s: %v has transform %v", d.Name, s, support.TransformFor(s))
		}
	}
}
