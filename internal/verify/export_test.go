package verify

// The tests stand outside the package and use these.
var (
	ReportDiffers = reportDiffers
	Files         = verifyFiles
	Price         = verifyPrice
	BoundsDiffer  = boundsDiffer
	LevelsDiffer  = levelsDiffer
)
