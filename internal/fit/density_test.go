package fit

import (
	"math"
	"testing"
)

// density is a hand-differentiated model for tests, independent of the graph
// package: plain formulas, one record at a time.
type density interface {
	records() int
	gradient(dst []float64, i int, theta []float64) // adds ∂ log p(xᵢ | θ)/∂θ
	priorGradient(dst []float64, theta []float64)   // sets ∂ log p(θ)/∂θ
}

// fixture is the model part of a file of testdata/golden.
type fixture struct {
	Model           string
	PriorSD         float64 `json:"prior_sd"`
	X               [][]float64
	Y               []float64
	Group           []int
	GroupCovariates [][]float64 `json:"group_covariates"`
	K               int
	Scale           string
	PriorA          float64 `json:"prior_a"`
	PriorB          float64 `json:"prior_b"`
}

func (f fixture) density(t *testing.T) density {
	t.Helper()
	switch f.Model {
	case "logistic_regression":
		return logistic{f.X, f.Y, f.PriorSD}
	case "hierarchical_logistic_regression":
		return hierarchical{f}
	case "gaussian_mixture":
		return mixture{f}
	}
	t.Fatalf("unknown model %q", f.Model)
	return nil
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func dotProduct(x, y []float64) float64 {
	s := 0.0
	for i := range x {
		s += x[i] * y[i]
	}
	return s
}

// logistic is y ~ Bernoulli(sigmoid(x·θ)), θ ~ N(0, sd²).
type logistic struct {
	x  [][]float64
	y  []float64
	sd float64
}

func (m logistic) records() int { return len(m.x) }

func (m logistic) gradient(dst []float64, i int, theta []float64) {
	r := m.y[i] - sigmoid(dotProduct(m.x[i], theta))
	for j, x := range m.x[i] {
		dst[j] += r * x
	}
}

func (m logistic) priorGradient(dst, theta []float64) {
	for j, x := range theta {
		dst[j] = -x / (m.sd * m.sd)
	}
}

// hierarchical has weights w_l = M g_l + U_l and θ = [M (D×K), U (L×D)].
type hierarchical struct{ fixture }

func (m hierarchical) records() int { return len(m.X) }

func (m hierarchical) gradient(dst []float64, i int, theta []float64) {
	d, k := len(m.X[i]), len(m.GroupCovariates[0])
	l := m.Group[i]
	covariates := m.GroupCovariates[l]
	u := d*k + l*d
	logit := 0.0
	for a, x := range m.X[i] {
		logit += x * (dotProduct(theta[a*k:(a+1)*k], covariates) + theta[u+a])
	}
	r := m.Y[i] - sigmoid(logit)
	for a, x := range m.X[i] {
		for b, c := range covariates {
			dst[a*k+b] += r * x * c
		}
		dst[u+a] += r * x
	}
}

func (m hierarchical) priorGradient(dst, theta []float64) {
	global := len(m.X[0]) * len(m.GroupCovariates[0])
	for j, x := range theta {
		dst[j] = -x
		if j < global {
			dst[j] = -x / (m.PriorSD * m.PriorSD)
		}
	}
}

// mixture has K spherical normals and θ = [v (K−1), mu (K×D), t (K)].
type mixture struct{ fixture }

func (m mixture) records() int { return len(m.X) }

// stick returns z_k = sigmoid(v_k − log(K − k)), k = 1..K−1.
func (m mixture) stick(theta []float64) []float64 {
	z := make([]float64, m.K-1)
	for k := range z {
		z[k] = sigmoid(theta[k] - math.Log(float64(m.K-k-1)))
	}
	return z
}

// variance returns the component variance for t and the factor ∂log σ²/∂t.
func (m mixture) variance(t float64) (v, slope float64) {
	if m.Scale == "sd" {
		return math.Exp(2 * t), 2
	}
	return math.Exp(t), 1
}

func (m mixture) gradient(dst []float64, i int, theta []float64) {
	x, d := m.X[i], len(m.X[i])
	z := m.stick(theta)
	mu, t := theta[m.K-1:m.K-1+m.K*d], theta[m.K-1+m.K*d:]
	joint := make([]float64, m.K) // log π_k + log N(x; μ_k, v_k)
	rest, largest := 0.0, math.Inf(-1)
	for k := range m.K {
		joint[k] = rest
		if k < m.K-1 {
			joint[k] += math.Log(z[k])
			rest += math.Log1p(-z[k])
		}
		v, _ := m.variance(t[k])
		for a := range d {
			e := x[a] - mu[k*d+a]
			joint[k] -= 0.5*math.Log(2*math.Pi*v) + e*e/(2*v)
		}
		largest = math.Max(largest, joint[k])
	}
	total := 0.0
	for _, l := range joint {
		total += math.Exp(l - largest)
	}
	tail := 0.0 // responsibility of the components after k
	for k := m.K - 1; k >= 0; k-- {
		r := math.Exp(joint[k]-largest) / total
		v, slope := m.variance(t[k])
		square := 0.0
		for a := range d {
			e := x[a] - mu[k*d+a]
			square += e * e
			dst[m.K-1+k*d+a] += r * e / v
		}
		dst[m.K-1+m.K*d+k] += r * slope / 2 * (square/v - float64(d))
		if k < m.K-1 {
			dst[k] += r*(1-z[k]) - tail*z[k]
		}
		tail += r
	}
}

// priorGradient: the Dirichlet(1) density is constant, so v has only the
// Jacobian Σ_k [log z_k + (K−k) log(1−z_k)]; t has the inverse gamma on exp(t)
// with its Jacobian, −a t − b exp(−t).
func (m mixture) priorGradient(dst, theta []float64) {
	d := len(m.X[0])
	for k, z := range m.stick(theta) {
		dst[k] = 1 - z - float64(m.K-k-1)*z
	}
	for j := m.K - 1; j < m.K-1+m.K*d; j++ {
		dst[j] = -theta[j] / (m.PriorSD * m.PriorSD)
	}
	for j := m.K - 1 + m.K*d; j < len(theta); j++ {
		dst[j] = -m.PriorA + m.PriorB*math.Exp(-theta[j])
	}
}
