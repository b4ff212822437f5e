package nuts

import (
	"context"
	"math"
	"testing"
)

// rawLogistic is a logistic regression on raw years and dollars, with wide priors.
func rawLogistic(records int) Density {
	rng := seeded(31)
	x, y := make([][3]float64, records), make([]float64, records)
	for i := range x {
		x[i] = [3]float64{1, 1900 + math.Floor(121*rng.Float64()), 200000 * rng.Float64() * rng.Float64()}
		eta := -0.5 + 0.02*(x[i][1]-1960) + 1e-5*(x[i][2]-50000)
		if rng.Float64() < 1/(1+math.Exp(-eta)) {
			y[i] = 1
		}
	}
	sd := [3]float64{100, 1, 1}
	return func(gradient, theta []float64) (float64, error) {
		v := 0.0
		for j, b := range theta {
			gradient[j] = -b / (sd[j] * sd[j])
			v -= b * b / (2 * sd[j] * sd[j])
		}
		for i := range x {
			eta := x[i][0]*theta[0] + x[i][1]*theta[1] + x[i][2]*theta[2]
			p := 1 / (1 + math.Exp(-eta))
			if eta > 0 {
				v += y[i]*eta - eta - math.Log1p(math.Exp(-eta))
			} else {
				v += y[i]*eta - math.Log1p(math.Exp(eta))
			}
			for j := range theta {
				gradient[j] += (y[i] - p) * x[i][j]
			}
		}
		return v, nil
	}
}

// TestRawColumnsHaveAMode: from a start at which every record is predicted with certainty,
// a chain still finds the mode and takes few gradients.
func TestRawColumnsHaveAMode(t *testing.T) {
	rng, density := seeded(32), rawLogistic(1000)
	var year []float64
	for range 4 {
		chain, err := SampleNear(context.Background(), density, 3, func(start []float64) {
			for j := range start {
				start[j] = 2*rng.Uniform() - 1
			}
		}, Options{Dense: true, Draws: 200}, rng)
		if err != nil {
			t.Fatal(err)
		}
		mean := 0.0
		for i := 1; i < len(chain.Draws); i += 3 {
			mean += chain.Draws[i] / 200
		}
		year = append(year, mean)
		if chain.Evaluations > 5000 {
			t.Errorf("%d gradients for 400 transitions", chain.Evaluations)
		}
	}
	// the posterior sd is .002, and the truth .02; means of 200 draws have an error of .0002
	for _, mean := range year {
		if math.Abs(mean-year[0]) > 0.002 || math.Abs(mean-0.02) > 0.01 {
			t.Errorf("means of the effect of a year: %v", year)
			break
		}
	}
}
