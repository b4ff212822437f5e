package outputs

// What the tests of files, which stand outside the package, look into.
var (
	BaseName     = baseName
	Grid         = grid
	MeanVariance = meanVariance
	ParseTrace   = parseTrace
	Quoted       = quoted
)
