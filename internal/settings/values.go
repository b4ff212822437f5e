package settings

import "slices"

// Values of clipping.
const (
	ClippingAdaptive  = "adaptive"
	ClippingFlat      = "flat"
	ClippingAutomatic = "automatic"
)

// Values of clip-groups, besides lists of names.
const (
	ClipGroupsWhole  = "whole"
	ClipGroupsEach   = "each"
	ClipGroupsLayers = "layers"
)

// Values of trace.
const (
	Trace         = "trace" // the setting's name
	TraceNone     = "none"
	TraceLoss     = "loss"
	TraceAccuracy = "accuracy"
	TraceClasses  = "classes"
)

// TraceQuantities are the quantities that a fit may buy of iterates.
func TraceQuantities() []string { return []string{TraceLoss, TraceAccuracy, TraceClasses} }

// Values of init.
const (
	InitZero  = "zero"
	InitPrior = "prior"
)

// Values of gradient.
const (
	GradientAligned = "aligned" // one P-vector ∂/∂θ is released; λ's gradient follows from it
	// The gradient with respect to λ = (m, log s) is released, with prior and entropy
	// inside every record's and a draw of θ for each record: the Python package's.
	GradientVanilla = "vanilla"
)

// Values of noise-aware.
const (
	NoiseAwareMoments   = "moments"
	NoiseAwareSample    = "sample"
	NoiseAwareCurvature = "curvature"
	NoiseAwareVariance  = "variance"
	NoiseAwareNone      = "none"
)

// Values of method.
const (
	MethodVI        = "vi"
	MethodNUTS      = "nuts"
	MethodOneSample = "one_posterior_sample"
	MethodGibbs     = "gibbs_posterior"
	MethodAdaSSP    = "adassp"
	MethodOutput    = "output_perturbation"
	MethodObjective = "objective_perturbation"
)

// Methods are the values of method.
var Methods = []string{MethodVI, MethodNUTS, MethodOneSample, MethodGibbs, MethodAdaSSP, MethodOutput, MethodObjective}

// OneRelease reports whether a fit by the method is one release, without steps.
func OneRelease(method string) bool { return slices.Contains(Methods[2:], method) }

// Values of device. DeviceCUDAThenCPU continues on the processor if a card fails.
const (
	DeviceCPU         = "cpu"
	DeviceCUDA        = "cuda"
	DeviceCUDAThenCPU = "cuda,cpu"
)

// CompatD3P is the value of compat for the Python package d3p.
const CompatD3P = "d3p"

// Values of table.
const (
	TableMemory = "memory"
	TableDisk   = "disk"
)

// Values of table1, besides a number.
const (
	Table1None = "none"
	// Table1Default is the program's default.
	Table1Default = Auto
)

// Format is a file format of posterior draws.
type Format struct {
	Name    string
	Default bool
}

// FormatZarr is the format that is a folder; FormatsNone are no files of draws.
const (
	FormatZarr  = "zarr"
	FormatsNone = "none"
)

// Formats lists the file formats of posterior draws. Package outputs has a writer for
// each.
func Formats() []Format {
	return []Format{{"parquet", true}, {FormatZarr, true}, {"csv", false}, {"long", false}, {"stan", false}}
}

// FormatNames lists the names of the formats.
func FormatNames() (names []string) {
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// DefaultFormats lists the names of the formats that are written by default.
func DefaultFormats() (names []string) {
	for _, f := range Formats() {
		if f.Default {
			names = append(names, f.Name)
		}
	}
	return names
}

// NotPrivate stamps every file of a run with known noise or without noise.
const NotPrivate = "NOT PRIVATE"
