package guide

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"d3p/internal/models/difference"
)

// Every family of the table passes the same checks, against quantities derived
// from Draw alone: Σ = AAᵀ where column k of A is f(λ, eₖ) − f(λ, 0).
func TestConformance(t *testing.T) {
	const p = 4
	for _, family := range Families() {
		t.Run(family.Name, func(t *testing.T) {
			g, err := New(family.Name, p, Options{Rank: 3})
			if err != nil {
				t.Fatal(err)
			}
			if g.Name() != family.Name || g.Latent() != p {
				t.Fatalf("name %q, latent %d", g.Name(), g.Latent())
			}
			lambda := testLambda(g)
			covariance := covarianceOf(g, lambda)
			checkMarginals(t, g, lambda, covariance)
			checkPullback(t, g, lambda)
			checkLanding(t, g, lambda)
			checkInit(t, g)
			checkAllocations(t, g, lambda)
		})
	}
}

// testLambda is an arbitrary well-conditioned point, the same on every run.
func testLambda(g Guide) []float64 {
	lambda := make([]float64, g.Size())
	for i := range lambda {
		lambda[i] = 0.6 * math.Sin(1.7*float64(i)+0.4)
	}
	return lambda
}

func covarianceOf(g Guide, lambda []float64) [][]float64 {
	p, e := g.Latent(), g.Noise()
	base, theta, eta := make([]float64, p), make([]float64, p), make([]float64, e)
	g.Draw(base, lambda, eta)
	covariance := make([][]float64, p)
	for i := range covariance {
		covariance[i] = make([]float64, p)
	}
	for k := range e {
		clear(eta)
		eta[k] = 1
		g.Draw(theta, lambda, eta)
		for i := range p {
			for j := range p {
				covariance[i][j] += (theta[i] - base[i]) * (theta[j] - base[j])
			}
		}
	}
	return covariance
}

// invert returns Σ⁻¹ and log|Σ| by Gauss-Jordan elimination.
func invert(a [][]float64) (inverse [][]float64, logDet float64) {
	n := len(a)
	work := make([][]float64, n)
	inverse = make([][]float64, n)
	for i := range n {
		work[i] = append([]float64(nil), a[i]...)
		inverse[i] = make([]float64, n)
		inverse[i][i] = 1
	}
	for i := range n {
		pivot := work[i][i]
		logDet += math.Log(pivot)
		for j := range n {
			work[i][j] /= pivot
			inverse[i][j] /= pivot
		}
		for r := range n {
			if r == i {
				continue
			}
			f := work[r][i]
			for j := range n {
				work[r][j] -= f * work[i][j]
				inverse[r][j] -= f * inverse[i][j]
			}
		}
	}
	return inverse, logDet
}

func checkMarginals(t *testing.T, g Guide, lambda []float64, covariance [][]float64) {
	t.Helper()
	sd, precision := make([]float64, g.Latent()), make([]float64, g.Latent())
	forget(g, sd)
	g.SD(sd, lambda)
	forget(g, precision)
	g.Precision(precision, lambda)
	inverse := covariance
	if g.Noise() > 0 {
		inverse, _ = invert(covariance)
	}
	for i := range sd {
		near(t, "sd", sd[i], math.Sqrt(covariance[i][i]), 1e-12)
		near(t, "precision", precision[i], inverse[i][i], 1e-10)
	}
}

// forget fills a destination with other numbers, and the guide's scratch space with those
// of another λ. No later result may depend on either.
func forget(g Guide, dst []float64) {
	g.Draw(dst, make([]float64, g.Size()), make([]float64, g.Noise()))
	for i := range dst {
		dst[i] = 777
	}
}

// checkPullback compares Pullback with central differences of c·f(λ, η) + H(λ),
// H = ½ log|Σ| up to a constant.
func checkPullback(t *testing.T, g Guide, lambda []float64) {
	t.Helper()
	c := []float64{0.3, -1.1, 0.8, 2}
	eta := make([]float64, g.Noise())
	for i := range eta {
		eta[i] = math.Cos(2.3 * float64(i+1))
	}
	theta := make([]float64, g.Latent())
	objective := func() float64 {
		g.Draw(theta, lambda, eta)
		x := 0.0
		for i := range theta {
			x += c[i] * theta[i]
		}
		if g.Noise() > 0 {
			_, logDet := invert(covarianceOf(g, lambda))
			x += logDet / 2
		}
		return x
	}
	got := make([]float64, g.Size())
	g.Pullback(got, c, lambda, eta)
	for i := range lambda {
		near(t, "gradient", got[i], difference.Quotient(objective, &lambda[i], 1e-5), 1e-8)
	}
}

// checkLanding: the score is the gradient of log q, -Σ⁻¹(θ-m), and the gradient
// estimate that uses it is exactly 0 for every draw where q is the posterior.
func checkLanding(t *testing.T, g Guide, lambda []float64) {
	t.Helper()
	landing, ok := NewLanding(g).(*Landing)
	if !ok {
		return // a family without a score
	}
	p := g.Latent()
	eta, theta, score := make([]float64, g.Noise()), make([]float64, p), make([]float64, p)
	for i := range eta {
		eta[i] = math.Sin(1.9 * float64(i+1))
	}
	g.Draw(theta, lambda, eta)
	inverse, _ := invert(covarianceOf(g, lambda))
	landing.Score(score, lambda, eta)
	for i := range score {
		want := 0.0
		for j := range theta {
			want -= inverse[i][j] * (theta[j] - lambda[j])
		}
		near(t, "score", score[i], want, 1e-10)
	}
	pull := make([]float64, g.Size())
	landing.Pullback(pull, score, lambda, eta)
	for _, v := range pull {
		near(t, "gradient at the posterior", v, 0, 1e-12)
	}
}

func checkInit(t *testing.T, g Guide) {
	t.Helper()
	mean := []float64{1, -2, 3, 0.5}
	lambda := make([]float64, g.Size())
	g.Init(lambda, mean, 0.1)
	theta, sd := make([]float64, g.Latent()), make([]float64, g.Latent())
	g.Draw(theta, lambda, make([]float64, g.Noise()))
	g.SD(sd, lambda)
	for i := range mean {
		near(t, "initial location", theta[i], mean[i], 0)
		if g.Noise() > 0 {
			near(t, "initial sd", sd[i], 0.1, 0.002) // low_rank adds its small factors
		}
	}
}

func checkAllocations(t *testing.T, g Guide, lambda []float64) {
	t.Helper()
	eta, grad := make([]float64, g.Noise()), make([]float64, g.Latent())
	theta, dst := make([]float64, g.Latent()), make([]float64, g.Size())
	if n := testing.AllocsPerRun(10, func() {
		g.Draw(theta, lambda, eta)
		g.Pullback(dst, grad, lambda, eta)
		g.Precision(theta, lambda)
	}); n != 0 {
		t.Errorf("%v allocations per draw and pullback", n)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		latent int
		opt    Options
	}{{"meanfield", 3, Options{}}, {"low_rank", 3, Options{}}, {"low_rank", 3, Options{Rank: 4}}, {"mean_field", 0, Options{}}} {
		if _, err := New(c.name, c.latent, c.opt); err == nil {
			t.Errorf("New(%q, %d, %+v): no error", c.name, c.latent, c.opt)
		}
	}
	if _, err := New("mean_field", 2, Options{}); err != nil {
		t.Error(err)
	}
}

// testdata/lr_prior1.json was made with numpy and checked against torch: fields
// aligned_step and fullrank_step; tolerance 1e-9 of the largest entry.
func TestGoldenSteps(t *testing.T) {
	raw, err := os.ReadFile("testdata/lr_prior1.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Aligned struct {
				M        []float64 `json:"m"`
				LogS     []float64 `json:"log_s"`
				Eta      []float64 `json:"eta"`
				Theta    []float64 `json:"theta"`
				GradM    []float64 `json:"grad_m"`
				GradLogS []float64 `json:"grad_log_s"`
			} `json:"aligned_step"`
			FullRank struct {
				L     [][]float64 `json:"L"`
				Theta []float64   `json:"theta"`
				GradM []float64   `json:"grad_m"`
				GradL [][]float64 `json:"grad_L"`
			} `json:"fullrank_step"`
		} `json:"cases"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) != 3 {
		t.Fatalf("%d cases, want 3", len(file.Cases))
	}
	for _, c := range file.Cases {
		p := len(c.Aligned.M)
		theta := make([]float64, p)

		mean := NewMeanField(p)
		lambda := append(append([]float64(nil), c.Aligned.M...), c.Aligned.LogS...)
		grad := make([]float64, mean.Size())
		mean.Draw(theta, lambda, c.Aligned.Eta)
		mean.Pullback(grad, c.Aligned.GradM, lambda, c.Aligned.Eta)
		for j := range p {
			near(t, "theta", theta[j], c.Aligned.Theta[j], 1e-9)
			near(t, "grad_m", grad[j], c.Aligned.GradM[j], 1e-9)
			near(t, "grad_log_s", grad[p+j], c.Aligned.GradLogS[j], 1e-9)
		}

		full := NewFullRank(p)
		lambda = append([]float64(nil), c.Aligned.M...)
		for i, row := range c.FullRank.L {
			for _, l := range row[:i] {
				lambda = append(lambda, l/row[i])
			}
			lambda = append(lambda, math.Log(row[i]))
		}
		grad = make([]float64, full.Size())
		full.Draw(theta, lambda, c.Aligned.Eta)
		full.Pullback(grad, c.FullRank.GradM, lambda, c.Aligned.Eta)
		for i := range p {
			near(t, "full-rank theta", theta[i], c.FullRank.Theta[i], 1e-9)
			// L_ij = s_i A_ij, L_ii = s_i: ∂/∂A_ij = s_i ∂/∂L_ij and
			// ∂/∂log s_i = Σ_j L_ij ∂/∂L_ij.
			row, scale := full.row(grad, i), 0.0
			for j := range i + 1 {
				l, g := c.FullRank.L[i][j], c.FullRank.GradL[i][j]
				scale += l * g
				if j < i {
					near(t, "grad_L", row[j], c.FullRank.L[i][i]*g, 1e-9)
				}
			}
			near(t, "gradient of the scale", row[i], scale, 1e-9)
		}
	}
}

// near fails when |got − want| > tol·max(1, |want|).
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))) {
		t.Errorf("%s: got %.15g, want %.15g", what, got, want)
	}
}

// Factor gives back what Set was given, and draws with it have that covariance:
// θ = m + Lη.
func TestFullRankFactor(t *testing.T) {
	g := NewFullRank(3)
	mean, want := []float64{1, -2, 0.5}, []float64{2, -0.5, 0.1, 3, 0.7, 4}
	lambda, got := make([]float64, g.Size()), make([]float64, 6)
	g.Set(lambda, mean, want)
	g.Factor(got, lambda)
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-15*math.Abs(want[i])+1e-15 {
			t.Errorf("factor %d: %g, want %g", i, got[i], want[i])
		}
	}
	theta := make([]float64, 3)
	g.Draw(theta, lambda, []float64{1, 10, 100})
	for i, want := range []float64{1 + 2, -2 - 0.5 + 1, 0.5 + 3 + 7 + 400} {
		if math.Abs(theta[i]-want) > 1e-12 {
			t.Errorf("θ[%d] = %g, want %g", i, theta[i], want)
		}
	}
}
