package predict

import (
	"math"
	"math/rand/v2"
	"testing"

	"d3p/internal/models/modelstest"
)

const classifier = `d3p: 1
data:
  unit: {entity: image, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    label: {type: category, levels: [a, b, c]}
    size: {type: real, lower: -9, upper: 9, scale: {center: 0, by: 2}}
  tensors:
    img: {from: columns("p1".."p2"), dims: [x], shape: [2], lower: -1, upper: 1}
nets:
  net: {input: [x], layers: [{dense: {units: class, bias: false}}]}
  total: {input: [x], layers: [{dense: {units: 1, bias: false}}]}
core:
  dims: {class: [a, b, c]}
  rows:
    observe:
      label: categorical(logits=net(img))
      size: normal(total(img), 1)
`

// At a point, one evaluation serves all draws: the probabilities of the classes
// are the softmax of the network's output, and responses still vary.
func TestClassesAtAPoint(t *testing.T) {
	m := modelstest.Compile(t, "m.yaml", classifier)
	theta := []float64{1, 2, 3, 0, -1, 0.5, 0.25, -2}
	if m.P != len(theta) {
		t.Fatalf("%d parameters", m.P)
	}
	const n = 300 // more than a block
	rows := Rows{N: n, Stride: 2, Valid: make([]bool, n)}
	rng := rand.New(rand.NewPCG(1, 8))
	for i := range n {
		rows.Valid[i] = true
		rows.Data = append(rows.Data, 2*rng.Float64()-1, 2*rng.Float64()-1)
	}
	asked := 0
	point := Posterior{S: 200, Point: true, Prob: 0.9, Draw: func(dst []float64, s int) { asked++; copy(dst, theta) }}
	targets := Targets(m)
	if len(targets) != 2 || targets[0].Levels != 3 || targets[1].Levels != 0 {
		t.Fatalf("targets %+v", targets)
	}
	err := Predict(m, point, rows, source{rng}, func(i int, p *Prediction) error {
		x := rows.Data[2*i : 2*i+2]
		var odds [3]float64
		total, best := 0.0, 0
		for l := range odds {
			odds[l] = math.Exp(x[0]*theta[l] + x[1]*theta[3+l])
			total += odds[l]
			if odds[l] > odds[best] {
				best = l
			}
		}
		label, size := &p.Targets[0], &p.Targets[1]
		for l, o := range odds {
			if math.Abs(label.Levels[l]-o/total) > 1e-12 {
				t.Fatalf("row %d: probabilities %v, want %v of %v", i, label.Levels, odds, total)
			}
		}
		if label.Class() != best || label.HasMean {
			t.Errorf("row %d: class %d, want %d; mean %v", i, label.Class(), best, label.HasMean)
		}
		if mean := 2 * (x[0]*0.25 - x[1]*2); math.Abs(size.Mean-mean) > 1e-12 || !math.IsNaN(size.SD) || !math.IsNaN(size.Lower) {
			t.Errorf("row %d: size %v ± %v, want %v and an unknown spread", i, size.Mean, size.SD, mean)
		}
		// The interval of 200 draws from N(mean, 2²) is 6.6 wide, give or take 1.5:
		// shorter than 2 has P < 1e-9.
		if size.YUpper-size.YLower < 2 {
			t.Errorf("row %d: responses from %v to %v", i, size.YLower, size.YUpper)
		}
		return nil
	})
	if err != nil || asked != 2 {
		t.Errorf("the point was asked for %d times, once per block: 2; %v", asked, err)
	}
	counts := [3]int{}
	err = Draws(m, point, Rows{Data: rows.Data, N: 1, Stride: 2, Valid: rows.Valid}, source{rng}, func(_ int, y [][]float64) error {
		for _, label := range y[0] {
			counts[int(label)]++
		}
		return nil
	})
	if err != nil || counts[0]+counts[1]+counts[2] != 200 {
		t.Errorf("drawn classes %v, %v", counts, err)
	}
}

const autoencoder = `d3p: 1
data:
  unit: {entity: image, rows_per_unit: 1}
  rows: {public: 100}
  tensors:
    img: {from: columns("p1".."p2"), dims: [x], shape: [2], lower: 0, upper: 10, scale: {center: 5, by: 5}}
nets:
  encoder:
    input: [x]
    layers: []
    heads:
      loc: [{dense: {units: 1, bias: false}}]
      scale: [{dense: {units: 1, bias: false}}, exp]
  decoder: {input: [z], layers: [{dense: {units: 2, bias: false}}, {reshape: {dims: [x]}}]}
core:
  dims: {z: 1}
  rows:
    latent:
      code: normal(0, 1) [z]
    observe:
      img: normal(decoder(code), 0.5)
guide:
  type: amortised
  rows:
    code: normal(encoder(img).loc, encoder(img).scale)
`

// The reconstruction of a linear auto-encoder is known: the code has mean μ and
// standard deviation σ, so that pixel j is 5 + 5 w_j μ, and the bound
// −KL(N(μ, σ²), N(0, 1)) − Σ log(0.5 √2π) − Σ 2 ((x_j − w_j μ)² + w_j² σ²).
func TestReconstructions(t *testing.T) {
	m := modelstest.Compile(t, "m.yaml", autoencoder)
	theta := []float64{0.5, -0.25, -2, 1, 2, 1}
	if m.P != len(theta) {
		t.Fatalf("%d parameters", m.P)
	}
	const draws = 20000
	x := []float64{0.6, -0.8}
	rows := Rows{Data: x, N: 1, Stride: EncodingOf(m).K, Valid: []bool{true}}
	point := Posterior{S: draws, Point: true, Prob: 0.9, Draw: func(dst []float64, _ int) { copy(dst, theta) }}
	err := Predict(m, point, rows, source{rand.New(rand.NewPCG(2, 8))}, func(_ int, p *Prediction) error {
		mu, sigma := x[0]*0.5-x[1]*0.25, math.Exp(-x[0]*2+x[1])
		bound := -(mu*mu + sigma*sigma - 1 - 2*math.Log(sigma)) / 2
		for j, w := range []float64{2, 1} {
			// The mean of the draws is off by 6.5 standard errors with P < 1e-10.
			if want := 5 + 5*w*mu; math.Abs(p.Arrays[0][j]-want) > 6.5*5*w*sigma/math.Sqrt(draws) {
				t.Errorf("pixel %d is %v, want %v", j, p.Arrays[0][j], want)
			}
			d := x[j] - w*mu
			bound -= math.Log(0.5*math.Sqrt(2*math.Pi)) + 2*(d*d+w*w*sigma*sigma)
		}
		// One draw of the bound has a standard deviation of about 1.2 here.
		if math.Abs(p.Bound-bound) > 6.5*2/math.Sqrt(draws) {
			t.Errorf("bound %v, want %v", p.Bound, bound)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Every row of more than one block has its own reconstruction, 5 + 5 w_j μ where the
// code does not vary, and the pixels of an array are no targets of their own.
func TestReconstructionsOfManyRows(t *testing.T) {
	m := modelstest.Compile(t, "m.yaml", autoencoder)
	if targets := Targets(m); len(targets) != 0 {
		t.Errorf("targets %+v", targets)
	}
	theta := []float64{0.5, -0.25, -50, -50, 2, 1}
	n := m.Reconstruct.BatchSize() + 44
	rows := Rows{N: n, Stride: EncodingOf(m).K, Valid: make([]bool, n)}
	rng := rand.New(rand.NewPCG(3, 8))
	for range 2 * n {
		rows.Data = append(rows.Data, (1+rng.Float64())/2)
	}
	seen := 0
	err := Predict(m, listed(theta, m.P), rows, source{rng}, func(i int, p *Prediction) error {
		mu := rows.Data[2*i]*0.5 - rows.Data[2*i+1]*0.25
		for j, w := range []float64{2, 1} {
			if want := 5 + 5*w*mu; math.Abs(p.Arrays[0][j]-want) > 1e-9 {
				t.Fatalf("row %d: pixel %d is %v, want %v", i, j, p.Arrays[0][j], want)
			}
		}
		if i != seen {
			t.Fatalf("row %d comes after %d rows", i, seen)
		}
		seen++
		return nil
	})
	if err != nil || seen != n {
		t.Errorf("%d rows of %d, %v", seen, n, err)
	}
}

// The most probable level; of equal ones the first.
func TestClass(t *testing.T) {
	for want, levels := range [][]float64{{0.4, 0.4, 0.2}, {0.2, 0.4, 0.4}, {0.1, 0.2, 0.7}} {
		if got := (&Summary{Levels: levels}).Class(); got != want {
			t.Errorf("class of %v is %d, want %d", levels, got, want)
		}
	}
}
