package run

import "d3p/internal/privacy/noise"

// PosteriorRandom is the public source of draws from the posterior.
func PosteriorRandom(seed uint64) *noise.Stream {
	return noise.Public(seed).Stream(noise.PosteriorDraws)
}

// PriorRandom is the public source of draws from the prior. It differs from the source of
// draws from the posterior.
func PriorRandom(seed uint64) *noise.Random {
	return noise.NewRandom(noise.Public(seed).Child(1).Stream(noise.PosteriorDraws))
}

// SimulationRandom is the public source of tables from the prior.
func SimulationRandom(seed uint64) *noise.Random {
	return noise.NewRandom(noise.Public(seed).Stream(noise.Simulation))
}
