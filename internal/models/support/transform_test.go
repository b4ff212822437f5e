package support

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/graph"
	"d3p/internal/models/graph/graphtest"
)

// transforms has one of every transform; ScaledSigmoid, LowerBound and UpperBound make those
// with other bounds.
var transforms = []*Transform{
	&identity,
	&exponentiate,
	&softplus,
	ScaledSigmoid(0, 1),
	ScaledSigmoid(-1, 3),
	LowerBound(2),
	UpperBound(-1),
	&stickBreaking,
	&ordered,
	&choleskyCorr,
	&lowerTriangle,
}

// eventOf is an event shape for a transform.
func eventOf(t *Transform, n int) graph.Shape {
	return graphtest.Shape(t.EventRank, []int{1, n, n * n}[t.EventRank])
}

// forward computes x (B events of the given shape) and the log-determinants
// of B rows u.
func forward(t *testing.T, tr *Transform, shape graph.Shape, u []float64, width int) (x [][]float64, logDet []float64) {
	t.Helper()
	b := graph.NewBuilder()
	free, err := tr.FreeShape(shape)
	if err != nil {
		t.Fatal(err)
	}
	leaf := b.Reshape(b.Columns(0, graph.Dim{Name: "u", Size: width}), free)
	node, det := tr.Apply(b, leaf, shape)
	if node.Shape().String() != shape.String() {
		t.Fatalf("x has shape %v, want %v", node.Shape(), shape)
	}
	values := graphtest.Evaluate(t, b, node, u, width)
	B := len(u) / width
	x = make([][]float64, B)
	for r := range x {
		for i := range shape.Size() {
			x[r] = append(x[r], values[i*B+r])
		}
	}
	return x, graphtest.Evaluate(t, b, b.Sum(det), u, width)
}

// freeCoordinates are the elements of an event to which LogDet refers.
func freeCoordinates(tr *Transform, n int) []int {
	var at []int
	switch tr.Target.Kind {
	case Simplex:
		for i := range n - 1 {
			at = append(at, i)
		}
	case CholeskyCorr, CholeskyCov:
		eachLower(n, tr.Target.Kind == CholeskyCorr, func(i, j int) { at = append(at, i*n+j) })
	default:
		for i := range eventOf(tr, n).Size() {
			at = append(at, i)
		}
	}
	return at
}

// Values lie in the support, Inverse undoes Forward, and LogDet is the
// logarithm of the determinant of the numerical Jacobian.
func TestTransforms(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 17))
	for _, tr := range transforms {
		for _, n := range []int{2, 3, 5} {
			t.Run(fmt.Sprintf("%s/%d", tr.Name, n), func(t *testing.T) {
				shape := eventOf(tr, n)
				width := tr.Free(n)
				for range 5 {
					u := make([]float64, width)
					for i := range u {
						u[i] = 1.5 * rng.NormFloat64()
					}
					x, logDet := forward(t, tr, shape, u, width)
					if !tr.Target.Contains(x[0]) {
						t.Fatalf("x = %v is not %v", x[0], tr.Target)
					}
					back := make([]float64, width)
					tr.InverseAll(back, x[0], shape)
					for i := range u {
						if !graphtest.Near(back[i], u[i], 1e-8) {
							t.Errorf("Inverse(Forward(%v)) = %v", u, back)
							break
						}
					}
					if want := numericLogDet(t, tr, shape, u, freeCoordinates(tr, n)); !graphtest.Near(logDet[0], want, 1e-6) {
						t.Errorf("log determinant at %v is %.9g, of the numerical Jacobian %.9g", u, logDet[0], want)
					}
				}
			})
		}
	}
}

// numericLogDet is log |det dx/du| from central differences.
func numericLogDet(t *testing.T, tr *Transform, shape graph.Shape, u []float64, at []int) float64 {
	n := len(u)
	const h = 1e-5
	var rows []float64
	for j := range n {
		for _, step := range []float64{h, -h} {
			row := append([]float64(nil), u...)
			row[j] += step
			rows = append(rows, row...)
		}
	}
	x, _ := forward(t, tr, shape, rows, n)
	jacobian := make([][]float64, n)
	for i := range jacobian {
		jacobian[i] = make([]float64, n)
		for j := range n {
			jacobian[i][j] = (x[2*j][at[i]] - x[2*j+1][at[i]]) / (2 * h)
		}
	}
	var logDet float64
	for c := range n { // elimination with pivoting
		pivot := c
		for r := c; r < n; r++ {
			if math.Abs(jacobian[r][c]) > math.Abs(jacobian[pivot][c]) {
				pivot = r
			}
		}
		jacobian[c], jacobian[pivot] = jacobian[pivot], jacobian[c]
		logDet += math.Log(math.Abs(jacobian[c][c]))
		for r := c + 1; r < n; r++ {
			f := jacobian[r][c] / jacobian[c][c]
			for k := c; k < n; k++ {
				jacobian[r][k] -= f * jacobian[c][k]
			}
		}
	}
	return logDet
}

// Far out values and log-determinants are finite, and so are gradients.
func TestTransformExtremes(t *testing.T) {
	for _, tr := range transforms {
		shape := eventOf(tr, 3)
		width := tr.Free(3)
		for _, far := range []float64{-300, -40, 0, 40, 300} {
			b := graph.NewBuilder()
			free, err := tr.FreeShape(shape)
			if err != nil {
				t.Fatal(err)
			}
			u := b.Param("u", free)
			x, logDet := tr.Apply(b, u, shape)
			tape, err := graph.Compile(b, b.Add(b.Sum(x), b.Sum(logDet)), []*graph.Node{x}, graph.Options{})
			if err != nil {
				t.Fatal(err)
			}
			m := graph.NewMachine(tape, 1)
			theta := make([]float64, width)
			for i := range theta {
				theta[i] = far
			}
			m.Globals(theta, nil)
			gradient := make([]float64, width)
			m.GlobalGradient(gradient)
			for _, v := range append(append(m.Output(0), m.Loss()...), gradient...) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s at u = %g: x = %v, x + log determinant = %v, gradient = %v", tr.Name, far, m.Output(0), m.Loss(), gradient)
					break
				}
			}
		}
	}
}

// Far out the logarithm of a factor's diagonal, which priors have, is finite, and the
// gradient with the log-determinant leads back.
func TestCholeskyCorrFarOut(t *testing.T) {
	d := 3
	shape := eventOf(&choleskyCorr, d)
	for _, far := range []float64{-1e6, -500, 500, 1e6} {
		b := graph.NewBuilder()
		u := b.Param("u", graph.Shape{{Name: "u", Size: choleskyCorr.Free(d)}})
		x, logDet := choleskyCorr.Apply(b, u, shape)
		loss := b.Sum(logDet)
		for i := 1; i < d; i++ {
			loss = b.Add(loss, b.Log(b.Slice(b.Slice(x, shape[0].Name, i), shape[1].Name, i)))
		}
		tape, err := graph.Compile(b, loss, nil, graph.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := graph.NewMachine(tape, 1)
		theta, gradient := make([]float64, choleskyCorr.Free(d)), make([]float64, choleskyCorr.Free(d))
		for i := range theta {
			theta[i] = far
		}
		m.Globals(theta, nil)
		m.GlobalGradient(gradient)
		for i, g := range gradient {
			if !(g*math.Copysign(1, far) <= -1) || math.IsInf(g, 0) {
				t.Errorf("u = %g: gradient %g of coordinate %d", far, g, i)
			}
		}
	}
}

// Batches of events transform one by one.
func TestTransformBatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 17))
	for _, tr := range transforms {
		event := eventOf(tr, 3)
		shape := append(graph.Shape{{Name: "g", Size: 2}}, event...)
		width := tr.Free(3)
		if tr.EventRank == 0 {
			width = 1
		}
		u := make([]float64, 2*width)
		for i := range u {
			u[i] = rng.NormFloat64()
		}
		whole, _ := forward(t, tr, shape, u, 2*width)
		parts, _ := forward(t, tr, event, u, width)
		for i, v := range append(parts[0], parts[1]...) {
			if !graphtest.Near(whole[0][i], v, 1e-14) {
				t.Errorf("%s: a batch gives %v, its events %v", tr.Name, whole[0], parts)
				break
			}
		}
		back := make([]float64, len(u))
		tr.InverseAll(back, whole[0], shape)
		for i := range u {
			if !graphtest.Near(back[i], u[i], 1e-9) {
				t.Errorf("%s: InverseAll of a batch is %v, want %v", tr.Name, back, u)
				break
			}
		}
	}
}

// The layout that the golden files of DP-VI state: v = 0 gives equal parts, and
// z_k = sigmoid(v_k - log(K-k)).
func TestStickBreakingOffset(t *testing.T) {
	shape := graphtest.Shape(1, 4)
	x, _ := forward(t, &stickBreaking, shape, []float64{0, 0, 0, 1, -2, 0.5}, 3)
	for _, p := range x[0] {
		if !graphtest.Near(p, 0.25, 1e-15) {
			t.Errorf("v = 0 gives %v", x[0])
		}
	}
	rest := 1.0
	for k, v := range []float64{1, -2, 0.5} {
		z := 1 / (1 + math.Exp(-(v - math.Log(float64(3-k)))))
		if !graphtest.Near(x[1][k], z*rest, 1e-15) {
			t.Errorf("part %d is %g, want %g", k, x[1][k], z*rest)
		}
		rest *= 1 - z
	}
}

// Every transform is that of its support.
func TestTransformFor(t *testing.T) {
	for _, tr := range transforms {
		got := TransformFor(tr.Target)
		if got == nil || got.Name != tr.Name && tr.Name != "softplus" {
			t.Errorf("TransformFor(%v) = %v, want %s", tr.Target, got, tr.Name)
		}
	}
}
