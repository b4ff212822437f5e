package fit

// Names of the starting points of the posterior's location.
const (
	InitZero  = "zero"  // 0 on the unconstrained scale
	InitPrior = "prior" // one draw from the prior
)

func initNames() []string { return []string{InitZero, InitPrior} }
