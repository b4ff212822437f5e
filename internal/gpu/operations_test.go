//go:build linux && !nogpu

package gpu

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unsafe"

	"d3p/internal/models/graph"
)

var update = flag.Bool("update", false, "write kernel/opcodes.h")

// The enum of the kernels is what package graph says: `go generate ./internal/gpu` writes
// it.
func TestOpcodes(t *testing.T) {
	const file = "kernel/opcodes.h"
	want := opcodes(t)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(file); err != nil || string(have) != want {
		t.Errorf("%s is not what the operations of package graph say (run go generate ./internal/gpu, then make ptx): %v", file, err)
	}
}

// opcodes is the enum of the operations by the names of their constants.
func opcodes(t *testing.T) string {
	source, err := parser.ParseFile(token.NewFileSet(), "../models/graph/op.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(source, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(names) <= int(graph.NumOps) && strings.HasPrefix(v.Names[0].Name, "Op") {
			names = append(names, v.Names[0].Name)
		}
		return true
	})
	if len(names) != int(graph.NumOps) {
		t.Fatalf("op.go has %d constants for %d operations", len(names), graph.NumOps)
	}
	list := "// Numbers of the operations. Written by go generate ./internal/gpu; do not edit.\n#pragma once\n\nenum Op {\n"
	for i, name := range append(names, "OpRowMatVec") {
		list += fmt.Sprintf("    op%s = %d,\n", strings.TrimPrefix(name, "Op"), i)
	}
	return list + "};\n"
}

// Every element-wise operation agrees with its definition in package graph, at
// special values exactly and elsewhere within a few units in the last place.
func TestOperations(t *testing.T) {
	d := newOneThread(t, 1<<20)
	points := testPoints()
	for op := graph.OpConst; op.String() != "none"; op++ {
		if op.Arity() == 0 {
			continue
		}
		var x, y, z []float64
		for i, a := range points {
			b, c := points[(7*i+3)%len(points)], points[(5*i+1)%len(points)]
			if op.Arity() >= 2 && i%3 > 0 {
				b = math.Floor(a) + float64(i%5) - 2 // equal, near, whole
			}
			x, y, z = append(x, a), append(y, b), append(z, c)
		}
		got := evaluate(t, d, int32(op), x, y, z)
		for i := range got {
			if op >= graph.OpLogBetaI && op <= graph.OpLogBetaISecond && min(y[i], z[i]) > 0 && min(y[i], z[i]) < 1e-9 {
				continue // derivatives in a parameter that is all but 0 are rounding
			}
			want := op.Eval(x[i], y[i], z[i])
			if !near(got[i], want, tolerance(op, x[i], want)) {
				t.Errorf("%v(%g, %g, %g) = %g, want %g", op, x[i], y[i], z[i], got[i], want)
				break
			}
		}
	}
}

// testPoints are special values, and normal numbers of all sizes: math.Log of Go 1.26
// is wrong at subnormal numbers on amd64.
func testPoints() []float64 {
	inf := math.Inf(1)
	points := []float64{0, math.Copysign(0, -1), 1, -1, 2, -2, 0.5, -0.5, 3, 170, -170, inf, -inf, math.NaN(),
		math.MaxFloat64, 0x1p-1022, 709.7, 709.8, -708.3, -745.1, -745.2, 1e15, 1e16, -1e16,
		0x1p52, 0x1p53, 1 << 29, 1 << 40, 1e22, -1e300, 0.9, 1.25, 0.84375, 6, -6, 28, -30, -30.5, 1.4616, 1e-9, -1e-9, 1e-300}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		x := rng.NormFloat64()
		switch i % 4 {
		case 1:
			x *= 20
		case 2:
			x *= math.Exp(30 * rng.NormFloat64())
		case 3:
			x = math.Floor(4 * x)
		}
		points = append(points, x)
	}
	return points
}

// tolerance is relative to the larger of 1e-3 and the value: where a function
// crosses zero, or a large argument is reduced by rounding, both sides err.
func tolerance(op graph.Op, x, want float64) float64 {
	relative := 2e-15
	scale := math.Abs(want)
	switch op {
	case graph.OpPow, graph.OpGelu, graph.OpNormalCDF, graph.OpLogNormalCDF:
		relative = 2e-13
	case graph.OpLgamma, graph.OpDigamma, graph.OpTrigamma:
		relative = 1e-13
		scale = max(scale, 1)
		if x < 0 { // poles: the distance to one has the rounding of πx
			d := math.Abs(x - math.Round(x))
			relative *= 1 + math.Abs(x)/d/d
		}
	case graph.OpSin, graph.OpCos:
		scale = 1
	case graph.OpLogGammaP, graph.OpLogGammaQ, graph.OpLogGammaPShape, graph.OpLogGammaQShape,
		graph.OpLogBetaI, graph.OpLogBetaIFirst, graph.OpLogBetaISecond:
		relative = 1e-10 // of large parameters, logarithms of gamma functions cancel
		scale = max(scale, 1)
	}
	return relative * scale
}

func near(got, want, tolerance float64) bool {
	if math.IsNaN(want) {
		return math.IsNaN(got)
	}
	return got == want || math.Abs(got-want) <= max(tolerance, 0x1p-1074)
}

// evaluate runs an operation on a device.
func evaluate(t *testing.T, d driver, code int32, x, y, z []float64) []float64 {
	t.Helper()
	m := memory{driver: d, limit: 1 << 20}
	if err := d.enter(); err != nil {
		t.Fatal(err)
	}
	defer d.leave()
	defer m.releaseAll()
	at := make([]address, 3)
	for k, v := range [][]float64{x, y, z} {
		var err error
		if at[k], err = store(&m, v); err != nil {
			t.Fatal(err)
		}
	}
	to, got, err := room[float64](&m, len(x))
	if err != nil {
		t.Fatal(err)
	}
	args := &elements{x: at[0], y: at[1], z: at[2], to: to, op: code, n: int32(len(x))}
	if err := d.launch(elementsKernel, 3, unsafe.Pointer(args)); err != nil {
		t.Fatal(err)
	}
	if err := read(d, unsafe.Pointer(&got[0]), to, 8*int64(len(got))); err != nil {
		t.Fatal(err)
	}
	return append([]float64(nil), got...)
}
