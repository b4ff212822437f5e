package noise

// Purpose is the use of a stream's numbers. Streams of different purposes are
// independent. The name, not the number, enters the key derivation.
type Purpose uint32

// The purposes. Privacy rests on the first three, on RecordNoise, RowSelection and
// TableNoise.
const (
	Sampling           Purpose = iota // which records are in a batch
	GradientNoise                     // noise added to clipped sums
	CountNoise                        // noise added to the clipped-record count
	Reparameterisation                // eta of theta = m + s·eta, one draw per step
	RecordNoise                       // eta per record, and a model's own per-record draws
	Initialisation                    // starting point of the optimizer
	PosteriorDraws                    // draws written to the release
	Prediction                        // draws of the posterior predictive
	RowSelection                      // which rows of a unit are kept
	Twin                              // synthetic tables drawn from a release
	Simulation                        // tables drawn from the prior
	TableNoise                        // noise added to counts and moments
)

var purposes = [...]struct {
	name    string
	private bool
}{
	Sampling:           {"sampling", true},
	GradientNoise:      {"gradient noise", true},
	CountNoise:         {"count noise", true},
	Reparameterisation: {"reparameterisation", false},
	RecordNoise:        {"record noise", true},
	Initialisation:     {"initialisation", false},
	PosteriorDraws:     {"posterior draws", false},
	Prediction:         {"prediction", false},
	RowSelection:       {"row selection", true},
	Twin:               {"twin", false},
	Simulation:         {"simulation", false},
	TableNoise:         {"table noise", true},
}

// String returns the name, as it enters the key derivation.
func (p Purpose) String() string { return purposes[p].name }

// Private reports whether the privacy guarantee needs these numbers to be
// unpredictable.
func (p Purpose) Private() bool { return purposes[p].private }
