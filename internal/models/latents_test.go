package models_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/difference"
	"d3p/internal/models/encoding"
	"d3p/internal/models/graph"
	"d3p/internal/models/modelstest"
	"d3p/internal/models/simulate"
)

// smallVAE is an auto-encoder of 2×3 binary pixels with two latents.
const smallVAE = `d3p: 1
data:
  unit: {entity: image, rows_per_unit: 1}
  rows: {public: 100}
  tensors:
    img: {from: columns("p1".."p6"), dims: [y, x], shape: [2, 3], lower: 0, upper: 4, scale: {center: 0, by: 4}}
  binarize: {column: img, mode: stochastic}
nets:
  encoder:
    input: [y, x]
    layers:
      - flatten
      - dense: {units: 4, activation: softplus}
    heads:
      loc: [{dense: {units: 2}}]
      scale: [{dense: {units: 2}}, exp]
  decoder:
    input: [z]
    layers:
      - dense: {units: 4, activation: softplus}
      - dense: {units: 6}
      - reshape: {dims: [y, x]}
core:
  dims: {z: 2}
  rows:
    latent:
      code: normal(0.5, 2) [z]
    observe:
      img: bernoulli(logits=decoder(code))
guide:
  type: amortised
  rows:
    code: normal(encoder(img).loc, encoder(img).scale)
`

func compileText(t *testing.T, src string) *models.Model {
	t.Helper()
	return modelstest.Compile(t, "model.yaml", src)
}

// TestAutoEncoder compares the loss of a record with the bound written out here,
// its gradient with difference quotients at fixed noise, and norms from the
// structure with those of the written-out gradient. The standard normals of a
// record are those of the code, then those of the pixels.
func TestAutoEncoder(t *testing.T) {
	m := compileText(t, smallVAE)
	if m.P != 6*4+4+2*(4*2+2)+2*4+4+4*6+6 || m.Likelihood.AuxRecord != 8 || m.Encoding.K != 6 || len(m.Likelihood.Notes) > 0 {
		t.Fatalf("P %d, %d normals per record, %d columns, notes %v", m.P, m.Likelihood.AuxRecord, m.Encoding.K, m.Likelihood.Notes)
	}
	const n = 5
	rng := rand.New(rand.NewPCG(4, 4))
	theta, aux := normals(m.P, 0.4, rng), normals(8*n, 1, rng)
	rows := make([]float64, 6*n)
	for i := range rows {
		rows[i] = encoding.NormalQuantile(rng.Float64())
	}
	machine := graph.NewMachine(m.Likelihood, n)
	machine.Globals(theta, nil)
	machine.Records(rows, 6, n, aux)
	for r, got := range machine.Loss() {
		eta := make([]float64, 8)
		for i := range eta {
			eta[i] = aux[i*n+r]
		}
		if want := elbo(theta, rows[6*r:6*r+6], eta[2:], eta[:2]); math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("bound of record %d is %v, want %v", r, got, want)
		}
	}
	if err := difference.Check(machine, theta, difference.Batch{Rows: rows, Stride: 6, N: n, Aux: aux}); err != nil {
		t.Error(err)
	}
}

// elbo is log p(x | z) − KL(q(z | x) ‖ p(z)) of smallVAE, with the weights in the order of
// declaration.
func elbo(theta, quantiles, pixels, eta []float64) float64 {
	dense := func(x []float64, units int) []float64 {
		y := make([]float64, units)
		for i, v := range x {
			for j := range y {
				y[j] += v * theta[i*units+j]
			}
		}
		theta = theta[len(x)*units:]
		for j := range y {
			y[j] += theta[j]
		}
		theta = theta[units:]
		return y
	}
	softplus := func(x []float64) []float64 {
		for i := range x {
			x[i] = math.Log1p(math.Exp(x[i]))
		}
		return x
	}
	x := make([]float64, 6)
	for i := range x {
		if pixels[i] < quantiles[i] {
			x[i] = 1
		}
	}
	hidden := softplus(dense(x, 4))
	loc, scale := dense(hidden, 2), dense(hidden, 2)
	sum := 0.0
	z := make([]float64, 2)
	for i := range z {
		sd := math.Exp(scale[i])
		z[i] = loc[i] + sd*eta[i]
		sum -= math.Log(2) - scale[i] + (sd*sd+math.Pow(loc[i]-0.5, 2))/8 - 0.5
	}
	for i, l := range dense(softplus(dense(z, 4)), 6) {
		sum += x[i]*l - math.Log1p(math.Exp(l))
	}
	return sum
}

// TestSimulatedImages checks that images drawn from an auto-encoder are of its
// two values and that its latents differ from image to image: with weights this
// large the chance that 200 images are all the same is far below 1e-9.
func TestSimulatedImages(t *testing.T) {
	m := compileText(t, smallVAE)
	rng := testRand{rand.New(rand.NewPCG(1, 6))}
	theta := normals(m.P, 3, rng.Rand)
	table := simulate.At(m, theta, 200, m.DeclaredLaw(), rng)
	if len(table.Values) != 6 {
		t.Fatalf("%d columns, want 6", len(table.Values))
	}
	kinds := make(map[string]bool)
	for b := range 200 {
		var image strings.Builder
		for _, column := range table.Values {
			switch column[b] {
			case 0:
				image.WriteByte('0')
			case 4:
				image.WriteByte('1')
			default:
				t.Fatalf("a pixel is %v, want 0 or 4", column[b])
			}
		}
		kinds[image.String()] = true
	}
	if len(kinds) < 2 {
		t.Error("all images are the same")
	}
}
