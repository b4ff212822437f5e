package outputs

// What the tests of files, which stand outside the package, look into.
var (
	Grid         = grid
	MeanVariance = meanVariance
	ParseTrace   = parseTrace
	Quoted       = quoted
)
