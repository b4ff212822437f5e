package fit

// Values of Plan.Sampling: the schemes of privacy/sampler.
const (
	SamplingPoisson      = "poisson"
	SamplingFull         = "full"
	SamplingFixedSize    = "fixed_size"
	SamplingBallsAndBins = "balls_and_bins"
	SamplingShuffle      = "shuffle"
)

func samplingNames() []string {
	return []string{SamplingPoisson, SamplingFull, SamplingFixedSize, SamplingBallsAndBins, SamplingShuffle}
}
