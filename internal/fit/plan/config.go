package plan

import (
	"errors"
	"fmt"

	"d3p/internal/settings"
)

// Config has the user's settings. Each field has the name of its row in the table of
// settings. The zero value of a field leaves the decision to New, which decides from public
// facts only. Choosing a setting by looking at private results costs privacy that no
// accountant counts.
type Config struct {
	Records  int   // N, declared and public
	unpriced bool  // see Check
	follows  *Plan // see SettleLevels

	Epsilon, Delta  float64
	Neighbours      string  // an event.Relation
	NoiseMultiplier float64 // σ instead of a calibrated one
	NoiseSchedule   string  // of package schedule
	BatchSchedule   string  // of package schedule
	Table1          string  // settings.Auto, Table1None, or a share of μ²
	Trace           string  // quantities to buy of iterates, see chooseSideQueries

	Sampling     string  // sampler scheme
	Batches      string  // sampler.Exact or sampler.Feistel
	Card         bool    // a CUDA device takes the steps, which decides the default of Batches
	SamplingRate float64 // q
	BatchSize    int     // in place of q: B/N
	Steps        int     // T
	Epochs       float64 // in place of T: epochs/q

	Clipping         string
	ClipNorm         float64 // C; C₀ when clipping is adaptive
	ClipQuantile     float64
	ClipNormSchedule string // of package schedule
	ClipGroups       string // see chooseClipGroups

	Optimizer    string
	LearningRate float64
	Schedule     string
	Momentum     float64 // sgd
	WeightDecay  float64 // adamw

	Guide     string
	Rank      int // of the low-rank guide
	Init      string
	InitScale float64
	InitSeed  uint64 // of public draws only; it never fixes privacy noise or batches

	Gradient   string
	Averaging  *float64 // fraction of the steps; 0 is the last iterate, nil the default
	NoiseAware string
	Compat     string // "d3p": the Python package's algorithm

	Method     string // of settings.Methods
	NonPrivate bool   // fit-nonprivate: no clipping, no noise, no guarantee
	Draws      int    // θ draws per step of a non-private fit
}

// Values are the settings that c gives, by name, with those that its compatibility sets.
func (c Config) Values() map[string]any {
	if c.Compat == settings.CompatD3P {
		c = withD3P(c)
	}
	return c.given()
}

func (c Config) given() map[string]any {
	if c.NonPrivate {
		return settings.Given(&c, settings.Algorithm)
	}
	return settings.Given(&c, settings.Algorithm, settings.Price)
}

// read is c with its values in the spelling of the table of settings. The error holds every
// invalid value, each with its flag.
func (c Config) read() (Config, error) {
	var errs []error
	refuse := func(name, format string, args ...any) {
		errs = append(errs, fmt.Errorf("--"+name+": "+format, args...))
	}
	given := c.given()
	for _, row := range settings.Table() {
		value, ok := given[row.Name]
		if !ok {
			continue
		}
		value, mistake := row.Read(row.Print(value))
		if mistake != nil {
			refuse(row.Name, "%w", mistake)
			continue
		}
		settings.Set(&c, row.Name, value)
	}
	for _, conflict := range settings.Conflicts(given, c.Values()) {
		refuse(conflict.Name, "%w", conflict)
	}
	if c.BatchSize > c.Records && c.Records > 0 {
		refuse("batch-size", "%d is more than the %d records (type --batch-size %[2]d or less)", c.BatchSize, c.Records)
	}
	if !c.NonPrivate {
		if c.Epsilon == 0 && c.NoiseMultiplier == 0 {
			refuse("epsilon", "missing (choose the privacy budget: type --epsilon 1)")
		}
		if c.Draws > 1 {
			refuse("draws", "%d draws per step are for fit-nonprivate only (type --draws 1)", c.Draws)
		}
	}
	return c, errors.Join(errs...)
}
