package report

// The tests of files and pages stand outside the package and use these.
var (
	Badge          = badge
	Beliefs        = beliefs
	Breakable      = breakable
	FalsePositives = falsePositives
	FieldsByHeader = fieldsByHeader
	PerIteration   = perIteration
	PlainMarkdown  = plainMarkdown
	Steps          = preprocessing
	TextFile       = textFile
	TogetherOf     = together
	TruePositives  = truePositives
	VariantsOf     = variants
	ZCDPOf         = zcdp
)
