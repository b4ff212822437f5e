package reference

import (
	"context"
	"math"
	"testing"

	"d3p/internal/privacy/noise"
)

// A normal posterior of two correlated numbers, and a third of another size. Its exact
// approximation is stationary; one that has not arrived, or is too narrow, is not.
func TestStationarity(t *testing.T) {
	const rho = 0.95
	sd, at := []float64{1, 2, 1e-3}, []float64{3, -1, 0.5}
	density := func(g, theta []float64) (float64, error) {
		a, b, c := (theta[0]-at[0])/sd[0], (theta[1]-at[1])/sd[1], (theta[2]-at[2])/sd[2]
		g[0], g[1], g[2] = -(a-rho*b)/(1-rho*rho)/sd[0], -(b-rho*a)/(1-rho*rho)/sd[1], -c/sd[2]
		return -(a*a-2*rho*a*b+b*b)/(1-rho*rho)/2 - c*c/2, nil
	}
	// at the stationary point each coordinate is reported with probability below 1e-4: a
	// limit is 4 standard errors beyond mostMove or mostSpread
	for _, c := range []struct {
		name         string
		move, narrow float64 // of the first two coordinates, in sds and as a factor
		independent  bool
		want         int
	}{
		{"exact", 0, 1, false, 0},
		{"not arrived", 1, 1, false, 1},
		{"further", 3, 1, false, 1},
		{"too narrow", 0, 0.54, false, 1},
		{"too wide", 0, 2, false, 1},
		{"mean field at its optimum", 0, math.Sqrt(1 - rho*rho), true, 0},
		{"mean field with the marginal sds", 0, 1, true, 1},
	} {
		rng := noise.NewRandom(noise.Public(4).Stream(noise.Initialisation))
		mean := []float64{at[0] + c.move*sd[0], at[1] + c.move*sd[1], at[2]}
		s, err := stationarity(context.Background(), density, mean, mostDraws, func(theta []float64) {
			a, b := rng.Normal(), rng.Normal()
			if !c.independent {
				b = rho*a + math.Sqrt(1-rho*rho)*b
			}
			theta[0], theta[1] = mean[0]+c.narrow*sd[0]*a, mean[1]+c.narrow*sd[1]*b
			theta[2] = mean[2] + sd[2]*rng.Normal()
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Unsettled(); (len(got) > 0) != (c.want > 0) || len(got) > 2 {
			t.Errorf("%s: unsettled %v: move %.2f, spread %.2f", c.name, got, s.Move, s.Spread)
		}
	}
}
