package privacy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/models"
	"d3p/internal/privacy"
	"d3p/internal/privacy/noise"
)

// Two rows of one unit whose residuals have opposite signs leave gradients of the
// group's predictors that cancel. Whoever chooses the rows moves the sum by at most C,
// in either precision: squares and inner products are of the same stored numbers.
func TestOppositeRowsOfOneUnit(t *testing.T) {
	m, err := models.Read("admissions.yaml", []byte(`d3p: 1
data:
  unit: {entity: patient, id: id, rows_per_unit: 2}
  rows: {upper_bound: 100}
  columns:
    days: {type: real, lower: 1, upper: 10000}
    h: {type: category, levels_from: "h.csv#h", unknown: reject_row_silently}
    y: {type: integer, lower: 0, upper: 20000}
  tables:
    hospitals:
      file: h.csv
      public: true
      key: h
      columns:
        beds: {type: real, scale: {center: 400, by: 300}}
        size: {type: real, scale: {center: 0, by: 7}}
model:
  formula: y ~ 1 + offset(log(days)) + (1 | h)
  group_formula:
    h: 1 + beds + size
  family: poisson
  parametrisation: non_centred
`), func(string) ([]byte, error) { return []byte("h,beds,size\nA,300,2\nB,2881,6\nC,431,11\n"), nil })
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Likelihood.Cross) == 0 || !strings.Contains(m.Likelihood.String(), "norm2") {
		t.Fatalf("no terms with stored squares share parameters: the test tests nothing\n%v", m.Likelihood)
	}
	const others = "p1,12,A,3\np2,400,C,7\np2,30,A,1\n"
	rng := rand.New(rand.NewPCG(3, 1))
	thetas := [][]float64{make([]float64, m.P)}
	for range 50 {
		theta := make([]float64, m.P)
		for i := range theta {
			theta[i] = rng.NormFloat64() / 4
		}
		thetas = append(thetas, theta)
	}
	for _, precision := range []privacy.Precision{privacy.Float32, privacy.Float64} {
		sums := func(text string) (list [][]float64) {
			engine := &spy{Engine: cpu.New(cpu.Options{Threads: 1})}
			cfg := config(t, engine)
			cfg.Table = privacy.NewTable(privacy.TableConfig{
				Data: writeFile(t, "days.csv", "id,days,h,y\n"+text), Encoding: m.Encoding, Precision: precision, Root: noise.Insecure(1),
			})
			mechanism := mechanism(t, len(thetas))
			mechanism.Tape, mechanism.GradientNoise = m.Likelihood, 100
			s := begin(t, newCurator(t, cfg), mechanism)
			defer s.Close()
			for _, theta := range thetas {
				if _, err := s.Step(make([]float64, m.P), privacy.StepRequest{Params: theta, ClipNorm: 1}); err != nil {
					t.Fatal(err)
				}
				list = append(list, engine.sum)
			}
			return list
		}
		without, worst := sums(others), 0.0
		for _, days := range []string{"10000", "4567.89", "1"} {
			for _, y := range []string{"4", "9990", "10007"} {
				with := sums(others + fmt.Sprintf("x,%s,B,20000\nx,%s,B,%s\n", days, days, y))
				for i := range with {
					worst = math.Max(worst, distance(with[i], without[i]))
				}
			}
		}
		if !(worst <= 1+1e-12) || worst < 0.5 {
			t.Errorf("precision %d: one unit moves the sum by %g C, want at most 1 and not much less", precision, worst)
		}
	}
}
