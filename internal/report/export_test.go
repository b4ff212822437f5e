package report

// What the tests of files and pages, which stand outside the package, look into.
var (
	Badge          = badge
	Beliefs        = beliefs
	Breakable      = breakable
	FalsePositives = falsePositives
	FieldsByHeader = fieldsByHeader
	PerIteration   = perIteration
	PlainMarkdown  = plainMarkdown
	Steps          = preprocessing
	TogetherOf     = together
	TruePositives  = truePositives
	VariantsOf     = variants
	ZCDPOf         = zcdp
)
