package accountant

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"d3p/internal/privacy/event"
	"d3p/internal/stattest"
)

// referenceRun is one ledger of testdata/accounting.json.
type referenceRun struct {
	ID, Sampler, Adjacency string
	Q, Sigma               float64
	T                      int64
	Segments               []referenceRun
	Epsilon, Delta         float64

	EpsilonLower float64 `json:"epsilon_lower"`
	EpsilonUpper float64 `json:"epsilon_upper"`
	DeltaLower   float64 `json:"delta_lower"`
	DeltaUpper   float64 `json:"delta_upper"`
	SigmaLower   float64 `json:"sigma_lower"`
	SigmaUpper   float64 `json:"sigma_upper"`
	Attack       float64 `json:"attack_lower_bound"`
	Batches      int     `json:"batches_per_epoch"`
	Epochs       int64
	Extrapolated float64 `json:"epsilon_extrapolated"`

	PeerSeconds map[string]float64 `json:"peer_seconds"` // what other accountants took
}

type reference struct {
	Epsilon, Sigma, Delta, Heterogeneous []referenceRun
	BallsAndBins                         []referenceRun `json:"balls_and_bins"`
}

func loadReference(t testing.TB) *reference {
	t.Helper()
	data, err := os.ReadFile("testdata/accounting.json")
	if err != nil {
		t.Fatal(err)
	}
	var r reference
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// thin is every point, but under the race detector only one in twenty.
func thin(all []referenceRun) []referenceRun {
	if !stattest.Race {
		return all
	}
	var kept []referenceRun
	for i := 0; i < len(all); i += 20 {
		kept = append(kept, all[i])
	}
	return kept
}

// event is the ledger of the run with noise multiplier sigma.
func (r referenceRun) event(sigma float64) event.Event {
	if len(r.Segments) > 0 {
		var c event.Composed
		for _, s := range r.Segments {
			s.Sampler = r.Sampler
			if s.Q == 1 {
				s.Sampler = "full"
			}
			c.Events = append(c.Events, s.event(s.Sigma))
		}
		return c
	}
	var step event.Event = event.Gaussian{NoiseMultiplier: sigma}
	switch r.Sampler {
	case "poisson":
		step = event.PoissonSampled{Rate: r.Q, Of: step}
	case "wor":
		b, n := fraction(r.Q)
		step = event.FixedSizeSampled{Population: n, Batch: b, Of: step}
	}
	return event.SelfComposed{Of: step, Count: r.T}
}

// fraction finds B and N with B/N = q to the last digits of the reference.
func fraction(q float64) (b, n int) {
	for _, n := range []int{1000, 60000, 1000000, 1000000000} {
		b := int(q*float64(n) + 0.5)
		if d := float64(b)/float64(n) - q; d < 1e-15 && d > -1e-15 {
			return b, n
		}
	}
	panic("no fraction")
}

func TestReferenceEpsilon(t *testing.T) {
	ref := loadReference(t)
	for _, r := range thin(append(ref.Epsilon, ref.Heterogeneous...)) {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			a, err := Epsilon(r.event(r.Sigma), event.Relation(r.Adjacency), r.Delta)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s %s q=%g sigma=%g T=%d delta=%g: [%.9g %.9g %.9g] want %.9g, %s in %v", r.Sampler, r.Adjacency, r.Q, r.Sigma, r.T, r.Delta,
				a.Lower, a.Estimate, a.Upper, r.Epsilon, a.Engine, time.Since(start))
			checkBracket(t, a.Lower, a.Upper, r.EpsilonLower, r.EpsilonUpper)
			if a.Upper < r.Attack {
				t.Errorf("upper %v is below the attack %v", a.Upper, r.Attack)
			}
		})
	}
}

// checkBracket checks [lower, upper] against the reference bracket: both
// contain the same exact value, and ours is narrow.
func checkBracket(t *testing.T, lower, upper, refLower, refUpper float64) {
	t.Helper()
	const slack = 1e-9 // declared float64 error of the reference brackets
	if upper < refLower*(1-slack) {
		t.Errorf("upper %.12g is below the reference's lower %.12g", upper, refLower)
	}
	if lower > refUpper*(1+slack) {
		t.Errorf("lower %.12g is above the reference's upper %.12g", lower, refUpper)
	}
	if upper > refUpper*(1+1e-3) {
		t.Errorf("upper %.12g is above the reference's upper %.12g by more than 1e-3", upper, refUpper)
	}
}

func TestReferenceDelta(t *testing.T) {
	for _, r := range thin(loadReference(t).Delta) {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			a, err := Delta(r.event(r.Sigma), event.Relation(r.Adjacency), r.Epsilon)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("[%.9g %.9g %.9g] want %.9g, %s in %.3fs", a.Lower, a.Estimate, a.Upper, r.Delta, a.Engine, a.Seconds)
			checkBracket(t, a.Lower, a.Upper, r.DeltaLower, r.DeltaUpper)
		})
	}
}

func TestReferenceSigma(t *testing.T) {
	for _, r := range thin(loadReference(t).Sigma) {
		t.Run(r.ID, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			c, err := CalibrateNoise(Target{Epsilon: r.Epsilon, Delta: r.Delta}, event.Relation(r.Adjacency), r.event)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s %s q=%g T=%d (%g, %g): sigma %v, not below %.9g, want %.9g, in %v", r.Sampler, r.Adjacency, r.Q, r.T, r.Epsilon, r.Delta,
				c.NoiseMultiplier, c.Lower, r.Sigma, time.Since(start))
			if c.Certified.Upper > r.Epsilon {
				t.Errorf("certified %v is above the target %v", c.Certified.Upper, r.Epsilon)
			}
			if c.NoiseMultiplier < r.SigmaLower || c.NoiseMultiplier > r.Sigma*(1+5e-5) {
				t.Errorf("sigma %v, want in [%v, %v]", c.NoiseMultiplier, r.SigmaLower, r.Sigma*(1+5e-5))
			}
			if c.Lower > r.Sigma {
				t.Errorf("lower %v is above the optimum %v", c.Lower, r.Sigma)
			}
		})
	}
}
