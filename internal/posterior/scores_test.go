package posterior

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"d3p/internal/models"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/noise"
)

// cohort is the shipped example, 12 hospitals, at a point of its prior, and the
// gradients of records simulated there.
func cohort(t *testing.T) (*models.Model, []float64, scores) {
	t.Helper()
	m := modelstest.Read(t, "../../datasets/cohort.yaml")
	rng := noise.NewRandom(noise.Public(3).Stream(noise.Simulation))
	theta := make([]float64, m.P)
	m.NewPriorSampler().Draw(theta, rng)
	return m, theta, newScores(m, theta, m.DeclaredLaw(), rng)
}

// param is the parameter called name.
func param(t *testing.T, m *models.Model, name string) *models.Param {
	t.Helper()
	for i := range m.Params {
		if m.Params[i].Name == name {
			return &m.Params[i]
		}
	}
	t.Fatalf("no parameter %s", name)
	return nil
}

// To raise the intercept by 1 and every effect z by −1/sd changes no record's
// likelihood, and nothing else does.
func TestNullDirections(t *testing.T) {
	m, theta, q := cohort(t)
	free := realValued(m)
	null := q.of(free).null()
	if null == nil {
		t.Fatal("no direction without gradients")
	}
	if _, n := null.Dims(); n != 1 {
		t.Fatalf("%d direction without gradientss, want 1", n)
	}
	sd, z := param(t, m, "sd_hospital"), param(t, m, "z_hospital")
	want := make(map[int]float64)
	want[param(t, m, "Intercept").Offset] = 1
	for j := range z.Size {
		want[z.Offset+j] = -1 / math.Exp(theta[sd.Offset])
	}
	scale := null.At(0, 0) / want[free[0]]
	for i, j := range free {
		if got := null.At(i, 0) / scale; math.Abs(got-want[j]) > 1e-6 {
			t.Errorf("coordinate %d: %g, want %g", j, got, want[j])
		}
	}
}

// The information matrix has the measured diagonal, as nearly as that was measured,
// and no information in directions without gradients.
func TestInformationMatrix(t *testing.T) {
	m, _, q := cohort(t)
	free := realValued(m)
	q = q.of(free)
	h, v := make([]float64, len(free)), make([]float64, len(free))
	for r := range 200 { // the information of some of the records, of one hospital more than of others
		for j, x := range q.row(r) {
			h[j] += float64(1+r%3) * x * x
		}
	}
	for j := range v {
		v[j] = math.Max(h[j]*h[j], 1e-6) / 400 // known to 5 %
	}
	got := q.matrix(h, v)
	have := make([]float64, len(h))
	for j := range have {
		have[j] = got.At(j, j)
	}
	if misfit(have, h, v) > float64(len(h)) {
		t.Errorf("diagonal %v, want %v to 5 %%", have, h)
	}
	null := q.null().ColView(0)
	var push mat.VecDense
	push.MulVec(got, null)
	if mat.Norm(&push, 2) > 1e-6*mat.Norm(got, 2)*mat.Norm(null, 2) {
		t.Errorf("information %g in a direction in which no record has any", mat.Norm(&push, 2))
	}
}

// Noise in the measured diagonal does not lead to an impossible matrix. Half of the
// records have an indicator, so the intercept's information is twice the
// indicator's; it is measured as a little less, to ±30 %. With the indicator on every
// record the two would be perfectly correlated.
func TestInformationMatrixIgnoresNoise(t *testing.T) {
	q := scores{latent: 2, records: 400}
	for r := range q.records {
		q.gradients = append(q.gradients, 1, float64(r%2))
	}
	got := q.matrix([]float64{90, 100}, []float64{900, 900})
	if c := got.At(0, 1) / math.Sqrt(got.At(0, 0)*got.At(1, 1)); c > 0.9 {
		t.Errorf("correlation %g of intercept and indicator, 0.71 in the simulated records", c)
	}
	exact := q.matrix([]float64{150, 100}, []float64{1e-4, 1e-4})
	if math.Abs(exact.At(0, 0)-150) > 0.02 || math.Abs(exact.At(1, 1)-100) > 0.02 {
		t.Errorf("diagonal %g, %g of an exact measurement, want 150, 100", exact.At(0, 0), exact.At(1, 1))
	}
}

// Records with equal gradients are all effective; records with small ones are not.
func TestEffectiveRecords(t *testing.T) {
	even, uneven := scores{latent: 2}, scores{latent: 2}
	for r := range 400 {
		x := 1e-3
		if r < 40 {
			x = 1
		}
		even.gradients = append(even.gradients, 1, -1)
		uneven.gradients = append(uneven.gradients, x, -x)
	}
	even.records, uneven.records = 400, 400
	if a, b := even.perParameter(), uneven.perParameter(); math.Abs(a-200) > 1e-9 || math.Abs(b-20) > 0.1 {
		t.Errorf("%g and %g records for a parameter, want 200 and 20", a, b)
	}
}

// A count that the bounds clamp says nothing of its rate: gradients of e³⁶ events are no information.
func TestClampedRecordsHaveNoScore(t *testing.T) {
	m := modelstest.Compile(t, "visits.yaml", `
d3p: 1
name: visits
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 1000}
  columns:
    y: {type: integer, lower: 0, upper: 200}
    x: {type: real, lower: 0, upper: 80}
model:
  formula: y ~ 1 + x
  family: poisson
`)
	rng := noise.NewRandom(noise.Public(3).Stream(noise.Simulation))
	const events, records, clipNorm = 200, 1000, 1.0
	for _, slope := range []float64{0, 3, 20} { // e^(1.7 slope) events at the upper end of x
		theta := make([]float64, m.P)
		theta[param(t, m, "b").Offset] = slope
		q := newScores(m, theta, m.DeclaredLaw(), rng)
		if q.records != scoreRecords {
			t.Errorf("slope %g: %d records, want %d", slope, q.records, scoreRecords)
		}
		// a score inside the bounds is x(y-μ): at most 1.7 times what is likely of 200 events
		most := records * clipNorm * 2 * 6 * math.Sqrt(events)
		for j, x := range q.information(clipNorm, records) {
			if !(x > 0 && x < most) {
				t.Errorf("slope %g: coordinate %d has the information %g, want at most %g", slope, j, x, most)
			}
		}
	}
}
