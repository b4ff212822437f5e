package nuts

// Limits are the largest R-hat and the smallest effective number of draws with which n draws
// can be used: Vehtari et al. 2021 ask for an R-hat below 1.01 and 100 effective draws a chain
// to rely on; beyond these limits the draws do not describe the posterior. Few draws may miss
// the limits as those of good chains do by chance: R-hat may be 20/n more, and an eighth of n
// is enough.
func Limits(n float64) (rHat, ess float64) {
	return 1.05 + 20/n, min(100, n/8)
}

// MostDivergent is the share of draws from diverged trajectories beyond which a part of the
// posterior is missing.
const MostDivergent = 1.0 / 40

// Tries counts the chains that ran more than once, and those that never mixed.
type Tries struct{ Repeated, Unmixed int }

// Plus are the counts of both.
func (t Tries) Plus(u Tries) Tries { return Tries{t.Repeated + u.Repeated, t.Unmixed + u.Unmixed} }

// UntilMixed runs a chain, and repeats it if it does not mix: once by other random numbers,
// which run has to draw, then also after twice the warm-up and with smaller steps. Progress
// leaves repetitions out. If all fail, it returns the last chain. The error is run's.
//
// Only a chain that fails by itself runs again. Chains that each mix and disagree have found
// different modes; to repeat them until they agree would hide that.
func UntilMixed(o Options, run func(Options) (*Chain, error)) (*Chain, Tries, error) {
	o = o.withDefaults()
	chain, err := run(o)
	if err != nil || chain.mixes() {
		return chain, Tries{}, err
	}
	again, careful := o, o
	again.Progress, careful.Progress = nil, nil
	careful.Warmup, careful.Acceptance = 2*o.Warmup, max(o.Acceptance, 0.95)
	for _, o := range []Options{again, careful} {
		if chain, err = run(o); err != nil || chain.mixes() {
			return chain, Tries{Repeated: 1}, err
		}
	}
	return chain, Tries{Repeated: 1, Unmixed: 1}, nil
}

// mixes reports whether the halves of the chain agree about every scalar, and its draws are
// half as many effective ones as chains together should have, with few divergences.
func (c *Chain) mixes() bool {
	n := len(c.Energy)
	if float64(c.Divergences) > MostDivergent*float64(n) {
		return false
	}
	rHat, ess := Limits(float64(n))
	size := len(c.Draws) / n
	x := make([]float64, n)
	for j := range size {
		for i := range x {
			x[i] = c.Draws[i*size+j]
		}
		if d := Diagnose([][]float64{x}); !(d.RHat <= rHat && d.BulkESS >= ess/2) { // a constant has neither
			return false
		}
	}
	return true
}
