package reference

import (
	"context"
	"math"

	"d3p/internal/models"
	"d3p/internal/nuts"
	"d3p/internal/privacy"
)

// Stationarity measures the distance of a variational fit from a stationary point of its
// bound. At that point, with θ from the fitted normal of mean m and covariance Σ, and g the
// gradient of the log posterior at θ (Stein's identity),
//
//	E[g] = 0,  E[(θ − m) gᵀ] = −I:
//
// for any posterior, whether a normal describes it well or not.
type Stationarity struct {
	Move   []float64 // (Σ E[g])_j / sd_j: the step to the stationary mean, in sds
	Spread []float64 // −E[(θ − m)_j g_j]: 1 if the covariance is right
	// MoveSE and SpreadSE are the errors by chance of the draws.
	MoveSE, SpreadSE []float64
}

// The number of draws with a gradient each is from fewestDraws to mostDraws.
// covarianceDraws represent Σ.
const fewestDraws, mostDraws, covarianceDraws = 100, 2000, 4000

// CheckStationary measures it for the distribution of draw, which sets θ (P), from `draws`
// gradients of all records of the curator, without privacy.
func CheckStationary(ctx context.Context, m *models.Model, curator *privacy.Curator, mean []float64, draws int, draw func(theta []float64)) (*Stationarity, error) {
	tape, err := m.DensityTape()
	if err != nil {
		return nil, err
	}
	t, err := newTarget(m, tape, 0, func(int) (*privacy.Curator, error) { return curator, nil })
	if err != nil {
		return nil, err
	}
	s, err := stationarity(ctx, t.density, mean, min(max(draws, fewestDraws), mostDraws), draw)
	if closed := t.close(); err == nil {
		err = closed
	}
	return s, err
}

func stationarity(ctx context.Context, density nuts.Density, mean []float64, draws int, draw func(theta []float64)) (*Stationarity, error) {
	p := len(mean)
	s := &Stationarity{make([]float64, p), make([]float64, p), make([]float64, p), make([]float64, p)}
	theta, g, slope := make([]float64, p), make([]float64, p), make([]float64, p)
	square, used := make([]float64, p), 0.0
	for range draws {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		draw(theta)
		if value, err := density(g, theta); err != nil {
			return nil, err
		} else if math.IsInf(value, 0) || math.IsNaN(value) {
			continue
		}
		used++
		for j, x := range g {
			slope[j] += x
			product := -(theta[j] - mean[j]) * x
			s.Spread[j] += product
			square[j] += product * product
		}
	}
	for j := range mean {
		slope[j] /= used
		s.Spread[j] /= used
		s.SpreadSE[j] = math.Sqrt(math.Max(0, square[j]/used-s.Spread[j]*s.Spread[j]) / used)
	}
	variance := make([]float64, p)
	for range covarianceDraws {
		draw(theta)
		along := 0.0
		for j, x := range theta {
			along += (x - mean[j]) * slope[j]
		}
		for j, x := range theta {
			s.Move[j] += (x - mean[j]) * along / covarianceDraws
			variance[j] += (x - mean[j]) * (x - mean[j]) / covarianceDraws
		}
	}
	for j, v := range variance {
		sd := math.Sqrt(math.Max(v, 1e-300))
		s.Move[j] /= sd
		// E[g] of n draws has the covariance Σ⁻¹/n at the end of a fit, so ΣE[g] has Σ/n
		s.MoveSE[j] = 1/math.Sqrt(used) + math.Abs(s.Move[j])*math.Sqrt(float64(p)/covarianceDraws)
	}
	return s, nil
}

// Limits of a fit that counts as converged: a mean within mostMove sds of the stationary
// one, and a variance within a factor of mostSpread, each beyond 4 errors by chance.
const mostMove, mostSpread = 0.3, 1.6

// Unsettled lists the coordinates at which the bound is not stationary.
func (s *Stationarity) Unsettled() (list []int) {
	for j := range s.Move {
		move, spread := math.Abs(s.Move[j])-4*s.MoveSE[j], s.Spread[j]
		settled := move < mostMove && spread-4*s.SpreadSE[j] < mostSpread && spread+4*s.SpreadSE[j] > 1/mostSpread
		if !settled {
			list = append(list, j) // NaN is not settled
		}
	}
	return list
}
