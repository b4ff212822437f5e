package settings

// Values of clipping.
const (
	ClippingAdaptive  = "adaptive"
	ClippingFlat      = "flat"
	ClippingAutomatic = "automatic"
)

// Values of init.
const (
	InitZero  = "zero"
	InitPrior = "prior"
)

// Values of gradient.
const (
	GradientAligned = "aligned" // one P-vector ∂/∂θ is released; λ's gradient follows from it
	GradientVanilla = "vanilla" // the gradient with respect to λ = (m, log s) is released
)

// Values of theta.
const (
	ThetaShared    = "shared"     // one draw of θ per step for all records
	ThetaPerRecord = "per_record" // a fresh draw for every record
)

// Values of prior-gradient.
const (
	PriorOutside = "outside" // added after the noise: it depends on no record
	PriorInside  = "inside"  // 1/N of prior and entropy in every record's gradient
)

// Values of noise-aware.
const (
	NoiseAwareCurvature = "curvature"
	NoiseAwareVariance  = "variance"
	NoiseAwareTemper    = "temper"
	NoiseAwareNone      = "none"
)

// CompatD3P is the value of compat for the Python package d3p.
const CompatD3P = "d3p"

// Format is a file format of posterior draws.
type Format struct {
	Name    string
	Default bool
}

// Formats lists the file formats of posterior draws. Package report has a writer
// for each.
func Formats() []Format {
	return []Format{{"parquet", true}, {"zarr", true}, {"csv", false}, {"long", false}, {"stan", false}}
}

// FormatNames lists the names of the formats.
func FormatNames() (names []string) {
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// DefaultFormats lists the names of the formats that are written unless others are
// asked for.
func DefaultFormats() (names []string) {
	for _, f := range Formats() {
		if f.Default {
			names = append(names, f.Name)
		}
	}
	return names
}
