package verify

// What the tests, which stand outside the package, look into.
var (
	ReportDiffers = reportDiffers
	Files         = verifyFiles
	Price         = verifyPrice
	BoundsDiffer  = boundsDiffer
)
