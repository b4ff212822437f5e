package graph

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type goldenFile struct {
	Model           string
	PriorSD         float64 `json:"prior_sd"`
	PriorA          float64 `json:"prior_a"`
	PriorB          float64 `json:"prior_b"`
	K               int
	Scale           string
	X               [][]float64
	Y               []float64
	Group           []float64
	GroupCovariates [][]float64 `json:"group_covariates"`
	Cases           []struct {
		Theta, Loglik []float64
		Grad          [][]float64
		GradNorm      []float64 `json:"grad_norm"`
		Logprior      float64
		GradLogprior  []float64 `json:"grad_logprior"`
		AlignedStep   struct {
			M, Eta []float64
			LogS   []float64 `json:"log_s"`
		} `json:"aligned_step"`
		VanillaStep struct {
			PerExample [][]float64 `json:"per_example"`
			Norm       []float64
		} `json:"vanilla_step"`
	}
}

// densities builds log p(record | θ) and log p(θ) from unconstrained leaves, which leaf
// makes.
type densities func(b *Builder, f *goldenFile, leaf func(name string, s Shape) *Node) (loglik, logprior *Node)

var goldenModels = map[string]densities{
	"logistic_regression":              logisticRegression,
	"hierarchical_logistic_regression": hierarchicalRegression,
	"gaussian_mixture":                 gaussianMixture,
}

func normalPrior(b *Builder, x *Node, sd float64) *Node {
	return b.Sum(b.Sub(b.Mul(b.Const(-0.5/(sd*sd)), b.Square(x)), b.Const(math.Log(sd)+0.5*math.Log(2*math.Pi))))
}

func bernoulli(b *Builder, y, logit *Node) *Node {
	return b.Sub(b.Mul(y, logit), b.Softplus(logit))
}

// Columns: X, then y.
func logisticRegression(b *Builder, f *goldenFile, leaf func(string, Shape) *Node) (*Node, *Node) {
	d := Dim{"coef", len(f.X[0])}
	beta := leaf("beta", Shape{d})
	return bernoulli(b, b.Column(d.Size), b.MatMul(b.Columns(0, d), beta)), normalPrior(b, beta, f.PriorSD)
}

// θ = M [D, K], U [L, D]; w = M·g + U, as a global matrix gathered by group.
// Columns: X, y, group.
func hierarchicalRegression(b *Builder, f *goldenFile, leaf func(string, Shape) *Node) (*Node, *Node) {
	d, k, l := Dim{"coef", len(f.X[0])}, Dim{"gcoef", len(f.GroupCovariates[0])}, Dim{"group", len(f.GroupCovariates)}
	M, U := leaf("M", Shape{d, k}), leaf("U", Shape{l, d})
	var g []float64
	for _, row := range f.GroupCovariates {
		g = append(g, row...)
	}
	w := b.Add(b.MatMul(b.Consts(Shape{l, k}, g), b.Transpose(M)), U)
	logit := b.MatMul(b.Columns(0, d), b.Gather(w, "group", b.Column(d.Size+1)))
	return bernoulli(b, b.Column(d.Size), logit), b.Add(normalPrior(b, M, f.PriorSD), normalPrior(b, U, 1))
}

// θ = v [K-1], mu [K, D], t [K].
func gaussianMixture(b *Builder, f *goldenFile, leaf func(string, Shape) *Node) (*Node, *Node) {
	k, d := Dim{"k", f.K}, Dim{"d", len(f.X[0])}
	j := Dim{"j", k.Size - 1}
	v, mu, t := leaf("v", Shape{j}), leaf("mu", Shape{k, d}), leaf("t", Shape{k})

	// Stick-breaking: log π_k = log z_k + Σ_{j<k} log(1-z_j).
	shift := make([]float64, j.Size)
	for i := range shift {
		shift[i] = math.Log(float64(k.Size - 1 - i))
	}
	u := b.Sub(v, b.Consts(Shape{j}, shift))
	logz, log1z := b.LogSigmoid(u), b.LogSigmoid(b.Neg(u))
	// The remainder 1 - Σ_{j<i} π_j, for i = 0..K-1.
	remainder := b.CumSum(b.Place(log1z, Shape{k}, []int32{1, 2}), "k")
	logpi := b.Add(remainder, b.Place(logz, Shape{k}, []int32{0, 1}))
	// Jacobian of v → π: Π z_i (1-z_i) remainder_i.
	jacobian := b.Add(b.Sum(b.Add(logz, log1z)), b.Sum(b.SliceRange(remainder, "k", 0, j.Size, "j")))

	variance := b.Exp(t)
	if f.Scale == "sd" {
		variance = b.Exp(b.Mul(b.Const(2), t))
	}
	D := float64(d.Size)
	q := b.Sum(b.Div(b.Square(b.Sub(b.Columns(0, d), mu)), variance), "d")
	component := b.Mul(b.Const(-0.5), b.AddAll(q, b.Mul(b.Const(D), b.Log(variance)), b.Const(D*math.Log(2*math.Pi))))
	loglik := b.LogSumExp(b.Add(logpi, component), "k")

	// InverseGamma(a, c) of exp(t), with its Jacobian t.
	a, c := f.PriorA, f.PriorB
	la, _ := math.Lgamma(a)
	ig := b.Sum(b.AddAll(b.Const(a*math.Log(c)-la), b.Mul(b.Const(-a), t), b.Mul(b.Const(-c), b.Exp(b.Neg(t)))))
	lk, _ := math.Lgamma(float64(k.Size)) // Dirichlet(1, .., 1)
	return loglik, b.AddAll(b.Const(lk), jacobian, normalPrior(b, mu, f.PriorSD), ig)
}

// rows puts the columns of a file side by side.
func (f *goldenFile) rows() (rows []float64, stride int) {
	for i, x := range f.X {
		rows = append(rows, x...)
		stride = len(x)
		for _, c := range [][]float64{f.Y, f.Group} {
			if c != nil {
				rows = append(rows, c[i])
				stride++
			}
		}
	}
	return rows, stride
}

func close9(t *testing.T, what string, got, want []float64) {
	t.Helper()
	closeTo(t, what, got, want, 1e-9)
}

// closeTo checks |got - want| ≤ tol·max(1, max|want|).
func closeTo(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	scale := 1.0
	for _, w := range want {
		scale = math.Max(scale, math.Abs(w))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tol*scale) {
			t.Fatalf("%s[%d] = %v, want %v (all: %v, want %v)", what, i, got[i], want[i], got, want)
		}
	}
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.json")
	if err != nil || len(files) != 6 {
		t.Fatalf("%d golden files: %v", len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json"), func(t *testing.T) {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var f goldenFile
			if err := json.Unmarshal(src, &f); err != nil {
				t.Fatal(err)
			}
			t.Run("aligned", func(t *testing.T) { testAligned(t, &f) })
			t.Run("vanilla", func(t *testing.T) { testVanilla(t, &f) })
		})
	}
}

func testAligned(t *testing.T, f *goldenFile) {
	b := NewBuilder()
	loglik, logprior := goldenModels[f.Model](b, f, b.Param)
	likelihood, err := Compile(b, loglik, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	gradientOnly, err := Compile(b, loglik, nil, Options{GradientOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	prior, err := Compile(b, logprior, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(likelihood.Notes) > 0 {
		t.Errorf("structure lost: %v", likelihood.Notes)
	}
	rows, stride := f.rows()
	n := len(f.X)
	m, g, p := NewMachine(likelihood, n), NewMachine(gradientOnly, n), NewMachine(prior, 1)
	grad := make([]float64, likelihood.P)
	for _, c := range f.Cases {
		m.Globals(c.Theta, nil)
		m.Records(rows, stride, n, nil)
		close9(t, "loglik", m.Loss(), c.Loglik)
		g.Globals(c.Theta, nil)
		g.Records(rows, stride, n, nil)
		for r := range n {
			m.Gradient(r, grad)
			close9(t, "grad", grad, c.Grad[r])
			g.Gradient(r, grad)
			close9(t, "gradient-only grad", grad, c.Grad[r])
			close9(t, "norm", []float64{math.Sqrt(m.SquaredNorm(r))}, c.GradNorm[r:r+1])
		}
		p.Globals(c.Theta, nil)
		close9(t, "logprior", p.Loss(), []float64{c.Logprior})
		p.GlobalGradient(grad)
		close9(t, "grad_logprior", grad, c.GradLogprior)
	}
}

// testVanilla differentiates with respect to (m, log s) of θ = m + s·eta, the
// prior and the entropy inside the loss of every record.
func testVanilla(t *testing.T, f *goldenFile) {
	b := NewBuilder()
	var entropy []*Node
	// θ = (all m, all log s): declare the leaves in that order.
	shapes := NewBuilder()
	goldenModels[f.Model](shapes, f, shapes.Param)
	for _, p := range shapes.params {
		b.Param(p.Name, p.Shape)
	}
	for _, p := range shapes.params {
		entropy = append(entropy, b.Sum(b.Param("log s "+p.Name, p.Shape)))
	}
	loglik, logprior := goldenModels[f.Model](b, f, func(name string, s Shape) *Node {
		return b.Add(b.Param(name, s), b.Mul(b.Exp(b.Param("log s "+name, s)), b.Aux("eta "+name, s, false)))
	})
	n := len(f.X)
	loss := b.Add(loglik, b.Mul(b.Const(1/float64(n)), b.Add(logprior, b.AddAll(entropy...))))
	tape, err := Compile(b, loss, nil, Options{GradientOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	m := NewMachine(tape, n)
	rows, stride := f.rows()
	grad := make([]float64, tape.P)
	for _, c := range f.Cases {
		m.Globals(append(append([]float64(nil), c.AlignedStep.M...), c.AlignedStep.LogS...), c.AlignedStep.Eta)
		m.Records(rows, stride, n, nil)
		for r := range n {
			m.Gradient(r, grad)
			close9(t, "per_example", grad, c.VanillaStep.PerExample[r])
			close9(t, "norm", []float64{math.Sqrt(m.SquaredNorm(r))}, c.VanillaStep.Norm[r:r+1])
		}
	}
}
