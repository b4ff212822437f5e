package nuts

import "math"

// stepSize tunes the step of the integrator to a mean acceptance probability by
// dual averaging. Hoffman and Gelman 2014, section 3.2, with their constants.
type stepSize struct {
	target           float64
	centre           float64 // log of ten times the initial step
	count            float64
	error            float64 // running mean of target - acceptance
	logStep, logMean float64
}

// restart begins at the given step.
func (s *stepSize) restart(step float64) {
	*s = stepSize{target: s.target, centre: math.Log(10 * step), logStep: math.Log(step)}
}

// update takes the acceptance probability of one transition.
func (s *stepSize) update(acceptance float64) {
	const gamma, t0, kappa = 0.05, 10, 0.75
	s.count++
	eta := 1 / (s.count + t0)
	s.error = (1-eta)*s.error + eta*(s.target-acceptance)
	s.logStep = s.centre - math.Sqrt(s.count)/gamma*s.error
	w := math.Pow(s.count, -kappa)
	s.logMean = w*s.logStep + (1-w)*s.logMean
}

// step is the step to try next.
func (s *stepSize) step() float64 { return math.Exp(s.logStep) }

// final is the step to keep.
func (s *stepSize) final() float64 { return math.Exp(s.logMean) }

// reasonableStep doubles or halves step until one leapfrog step from p changes
// its acceptance probability across 0.8. Hoffman and Gelman 2014, Alg. 4.
func reasonableStep(h *hamiltonian, p *point, step float64, rng Rand) float64 {
	const limit = 100 // doublings: from 1e-15 to 1e15
	trial := newPoint(len(p.x))
	direction := 0.0
	for range limit {
		trial.set(p)
		h.push(&trial, rng)
		before := h.energy(&trial)
		h.leapfrog(&trial, step)
		if h.err != nil {
			return step
		}
		way := -1.0
		if before-h.energy(&trial) > math.Log(0.8) {
			way = 1
		}
		switch {
		case direction == 0:
			direction = way
		case way != direction:
			return step
		}
		step *= math.Pow(2, direction)
	}
	return step
}
