package outputs

// The tests of files stand outside the package and use these.
var (
	Grid         = grid
	MeanVariance = meanVariance
	ParseTrace   = parseTrace
	Quoted       = quoted
)
