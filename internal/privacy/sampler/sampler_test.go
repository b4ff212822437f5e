package sampler

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

var gaussian = event.Gaussian{NoiseMultiplier: 1.5}

func stream(seed uint64) *noise.Stream { return noise.Insecure(seed).Stream(noise.Sampling) }

func open(t testing.TB, cfg Config, n int, seed uint64) Sampler {
	t.Helper()
	s, err := New(cfg, n, 0, stream(seed))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// configs returns each scheme with about n/5 of n records per batch.
func configs(n int) []Config {
	var all []Config
	for _, name := range Schemes() {
		cfg := Config{Scheme: name, PublicN: n}
		if name != "full" {
			cfg.Rate = 0.2
		}
		all = append(all, cfg)
	}
	return all
}

// members returns the batch in increasing order and fails on a repetition or
// an index that is out of range.
func members(t *testing.T, s Sampler, step, n int) []uint32 {
	t.Helper()
	batch, all := s.Draw(step, nil)
	if all {
		for i := range n {
			batch = append(batch, uint32(i))
		}
	}
	batch = slices.Clone(batch)
	slices.Sort(batch)
	for i, v := range batch {
		if int(v) >= n || i > 0 && batch[i-1] == v {
			t.Fatalf("%s, n=%d, step %d: index %d is out of range or repeated", s.Scheme(), n, step, v)
		}
	}
	return batch
}

func TestBatchesAreSetsAndDependOnKeyAndStepOnly(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 1000, 65535, 65536, 65537, 100001} {
		for _, cfg := range configs(n) {
			if cfg.Scheme == "fixed_size" && n < 3 {
				continue // a fifth of two records is no record
			}
			s := open(t, cfg, n, 1)
			var want [12][]uint32
			for step := range want {
				want[step] = members(t, s, step, n)
			}
			again := open(t, cfg, n, 1)
			for _, step := range []int{11, 3, 4, 4, 0, 7} {
				if !slices.Equal(members(t, again, step, n), want[step]) {
					t.Errorf("%s, n=%d: step %d depends on what was drawn before", cfg.Scheme, n, step)
				}
			}
			other := open(t, cfg, n, 2)
			if cfg.Scheme != "full" && n >= 1000 && slices.Equal(members(t, other, 0, n), want[0]) {
				t.Errorf("%s, n=%d: two keys give one batch", cfg.Scheme, n)
			}
		}
	}
}

// Every record is in a batch with the claimed probability, and every pair as
// often as the scheme says.
func TestInclusionFrequencies(t *testing.T) {
	const n, runs = 10, 40000
	for _, cfg := range configs(n) {
		if cfg.Scheme == "full" {
			continue
		}
		s := open(t, cfg, n, 3)
		var single [n]int
		var pair [n][n]int
		for r := range runs { // one batch of every epoch of five, each in turn
			batch := members(t, s, 5*r+r%5, n)
			for i, a := range batch {
				single[a]++
				for _, b := range batch[i+1:] {
					pair[a][b]++
				}
			}
		}
		both := map[string]float64{
			"poisson":        0.04,
			"fixed_size":     2.0 / 10 * 1 / 9,
			"balls_and_bins": 0.04,
			"shuffle":        2.0 / 10 * 1 / 9,
		}[cfg.Scheme]
		for a := range n {
			stattest.Require(t, fmt.Sprintf("%s: record %d", cfg.Scheme, a), stattest.Binomial(single[a], runs, s.Rate()))
			for b := a + 1; b < n; b++ {
				stattest.Require(t, fmt.Sprintf("%s: records %d and %d", cfg.Scheme, a, b), stattest.Binomial(pair[a][b], runs, both))
			}
		}
	}
}

// All subsets of up to six records have the probability that the scheme says.
func TestSubsetFrequencies(t *testing.T) {
	const runs = 30000
	for n := 2; n <= 6; n++ {
		for _, cfg := range []Config{
			{Scheme: "poisson", Rate: 0.3},
			{Scheme: "poisson", Rate: 0.8},
			{Scheme: "fixed_size", BatchSize: 2, PublicN: n},
			{Scheme: "balls_and_bins", Rate: 0.25},
			{Scheme: "shuffle", BatchSize: 2, PublicN: n},
		} {
			s := open(t, cfg, n, 4)
			counts := make([]int, 1<<n)
			batches := int(math.Round(1 / s.Rate()))
			for r := range runs { // one batch of every epoch, each batch in turn
				set := 0
				for _, i := range members(t, s, r*batches+r%batches, n) {
					set |= 1 << i
				}
				counts[set]++
			}
			expected := make([]float64, len(counts))
			for set := range expected {
				expected[set] = runs * subsetProbability(cfg, s, n, set)
			}
			// Drop impossible sets, and fail if they occurred.
			var o []int
			var e []float64
			for set := range expected {
				if expected[set] > 0 {
					o, e = append(o, counts[set]), append(e, expected[set])
				} else if counts[set] != 0 {
					t.Errorf("%s, n=%d: impossible subset %b", cfg.Scheme, n, set)
				}
			}
			if len(e) > 1 {
				stattest.Require(t, fmt.Sprintf("%+v, n=%d", cfg, n), stattest.ChiSquare(o, e))
			}
		}
	}
}

func subsetProbability(cfg Config, s Sampler, n, set int) float64 {
	size := 0
	for i := range n {
		size += set >> i & 1
	}
	uniform := func(want int) float64 { // all subsets of that size alike
		if size != want {
			return 0
		}
		return 1 / math.Exp(logChoose(n, want))
	}
	switch cfg.Scheme {
	case "fixed_size":
		return uniform(cfg.BatchSize)
	case "shuffle":
		batches := int(math.Round(1 / s.Rate()))
		var p float64
		for b := range batches {
			p += uniform((b+1)*n/batches-b*n/batches) / float64(batches)
		}
		return p
	default:
		q := s.Rate()
		return math.Pow(q, float64(size)) * math.Pow(1-q, float64(n-size))
	}
}

func logChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// Over an epoch every record is in exactly one batch.
func TestEpochsCoverEveryRecordOnce(t *testing.T) {
	for _, n := range []int{10, 997, 70000} {
		for _, scheme := range []string{"balls_and_bins", "shuffle"} {
			cfg := Config{Scheme: scheme, BatchSize: n / 4, PublicN: n}
			s := open(t, cfg, n, 5)
			batches := int(math.Round(1 / s.Rate()))
			for epoch := range 3 {
				times := make([]int, n)
				for b := range batches {
					for _, i := range members(t, s, epoch*batches+b, n) {
						times[i]++
					}
				}
				for i, k := range times {
					if k != 1 {
						t.Fatalf("%s, n=%d, epoch %d: record %d is in %d batches", scheme, n, epoch, i, k)
					}
				}
			}
		}
	}
}

// The size of a Poisson batch is Binomial(n, q) above and below the change of
// permutations.
func TestPoissonSizes(t *testing.T) {
	for _, n := range []int{1000, 100000} {
		s := open(t, Config{Scheme: "poisson", Rate: 0.001}, n, 6)
		mean := float64(n) * 0.001
		counts := make([]int, 400)
		expected := make([]float64, 400)
		const runs = 5000
		var dst []uint32
		for step := range runs {
			dst, _ = s.Draw(step, dst)
			counts[len(dst)]++
		}
		for k := range expected {
			expected[k] = runs * math.Exp(logChoose(n, k)+float64(k)*math.Log(0.001)+float64(n-k)*math.Log1p(-0.001))
		}
		stattest.Require(t, fmt.Sprintf("batch size around %g", mean), stattest.ChiSquare(counts, expected))
	}
}

// Records that lack are drawn as absent, and the claim stays that of the
// declared number.
func TestFewerRecordsThanDeclared(t *testing.T) {
	s := open(t, Config{Scheme: "fixed_size", BatchSize: 50, PublicN: 100}, 60, 7)
	total := 0
	const runs = 2000
	for step := range runs {
		total += len(members(t, s, step, 60))
	}
	// A batch holds a hypergeometric number of the 60: mean 30, variance
	// 50·.6·.4·50/99.
	z := (float64(total) - 30*runs) / math.Sqrt(runs*50*.6*.4*50/99)
	stattest.Require(t, "present records", stattest.Normal(z))
}

func TestEvents(t *testing.T) {
	missing := map[string]bool{}
	for _, name := range Schemes() {
		missing[name] = true
	}
	for _, c := range []struct {
		cfg   Config
		steps int
		want  event.Event
		rate  float64
	}{
		{Config{Scheme: "full"}, 7, event.SelfComposed{Of: gaussian, Count: 7}, 1},
		{Config{Scheme: "poisson", Rate: 0.01}, 1000,
			event.SelfComposed{Of: event.PoissonSampled{Rate: 0.01, Of: gaussian}, Count: 1000}, 0.01},
		{Config{Scheme: "poisson", BatchSize: 128, PublicN: 60000}, 9380,
			event.SelfComposed{Of: event.PoissonSampled{Rate: 128.0 / 60000, Of: gaussian}, Count: 9380}, 128.0 / 60000},
		{Config{Scheme: "fixed_size", BatchSize: 128, PublicN: 60000}, 9380,
			event.SelfComposed{Of: event.FixedSizeSampled{Population: 60000, Batch: 128, Of: gaussian}, Count: 9380}, 128.0 / 60000},
		{Config{Scheme: "balls_and_bins", BatchSize: 128, PublicN: 60000}, 9380,
			event.SelfComposed{Of: event.BallsAndBins{Batches: 469, Of: gaussian}, Count: 20}, 1.0 / 469},
		{Config{Scheme: "shuffle", BatchSize: 128, PublicN: 60000}, 9381,
			event.SelfComposed{Of: event.Shuffled{Of: gaussian}, Count: 21}, 1.0 / 469},
	} {
		delete(missing, c.cfg.Scheme)
		if got := EventFor(c.cfg, c.steps, gaussian); got != c.want {
			t.Errorf("%+v: event %+v, want %+v", c.cfg, got, c.want)
		}
		s := open(t, c.cfg, 60000, 1)
		if got := s.Event(c.steps, gaussian); got != c.want {
			t.Errorf("%+v: the sampler's event %+v, want %+v", c.cfg, got, c.want)
		}
		if s.Rate() != c.rate || s.Scheme() != c.cfg.Scheme || len(s.Relations()) == 0 {
			t.Errorf("%+v: rate %g, scheme %s, relations %v", c.cfg, s.Rate(), s.Scheme(), s.Relations())
		}
	}
	for name := range missing {
		t.Errorf("this test has no event of %s", name)
	}
}

func TestConfigErrors(t *testing.T) {
	for want, cfg := range map[string]Config{
		`unknown scheme "sorted"`:       {Scheme: "sorted"},
		"rate 0 is not in (0, 1]":       {Scheme: "poisson"},
		"rate 1.5 is not in (0, 1]":     {Scheme: "poisson", Rate: 1.5},
		"rate NaN is not in (0, 1]":     {Scheme: "poisson", Rate: math.NaN()},
		"both a rate and a batch size":  {Scheme: "poisson", Rate: 0.5, BatchSize: 3, PublicN: 10},
		"0 declared records":            {Scheme: "balls_and_bins", BatchSize: 3},
		"batch size 11 is not between":  {Scheme: "fixed_size", BatchSize: 11, PublicN: 10},
		"batch size -1 is not between":  {Scheme: "shuffle", BatchSize: -1, PublicN: 10},
		"is less than one record":       {Scheme: "fixed_size", Rate: 0.01, PublicN: 10},
		"makes epochs of 1e+12 batches": {Scheme: "shuffle", Rate: 1e-12, PublicN: 10},
	} {
		if _, err := New(cfg, 10, 0, stream(1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", cfg, err, want)
		}
	}
}

func TestDrawDoesNotAllocate(t *testing.T) {
	for _, n := range []int{3000, 70000, bitsFrom} {
		for _, cfg := range append(configs(n), Config{Scheme: "poisson", Rate: 0.8}) {
			s := open(t, cfg, n, 8)
			dst, _ := s.Draw(0, nil)
			step := 1
			if got := testing.AllocsPerRun(20, func() { dst, _ = s.Draw(step, dst); step++ }); got != 0 {
				t.Errorf("%s, n=%d: %g allocations a step", cfg.Scheme, n, got)
			}
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	for _, c := range []struct {
		cfg Config
		n   int
	}{
		{Config{Scheme: "poisson", BatchSize: 67, PublicN: 3341}, 3341},
		{Config{Scheme: "poisson", BatchSize: 600, PublicN: 60000}, 60000},
		{Config{Scheme: "poisson", BatchSize: 5000, PublicN: 60000}, 60000},
		{Config{Scheme: "poisson", BatchSize: 1000, PublicN: 1000000}, 1000000},
		{Config{Scheme: "poisson", BatchSize: 5000, PublicN: 1000000}, 1000000},
		{Config{Scheme: "poisson", BatchSize: 5000, PublicN: 10000000}, 10000000},
		{Config{Scheme: "fixed_size", BatchSize: 5000, PublicN: 1000000}, 1000000},
		{Config{Scheme: "balls_and_bins", BatchSize: 1000, PublicN: 1000000}, 1000000},
		{Config{Scheme: "shuffle", BatchSize: 1000, PublicN: 1000000}, 1000000},
	} {
		b.Run(fmt.Sprintf("%s/N=%d/B=%d", c.cfg.Scheme, c.n, c.cfg.BatchSize), func(b *testing.B) {
			s := open(b, c.cfg, c.n, 1)
			dst, _ := s.Draw(0, nil)
			indices, step := 0, 0
			for b.Loop() {
				dst, _ = s.Draw(step, dst)
				indices += len(dst)
				step++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(indices), "ns/index")
		})
	}
}

// A batch of fixed size may draw an absent record in place of one that lacks, and then holds fewer: the
// accountant has no bound for the record that comes there.
func TestAbsentRecordsAreNoNeighbours(t *testing.T) {
	cfg := Config{Scheme: FixedSize, BatchSize: 5, PublicN: 10}
	s := open(t, cfg, 9, 1)
	fewest := 5
	for step := range 100 {
		batch, _ := s.Draw(step, nil)
		fewest = min(fewest, len(batch))
	}
	claim, err := ClaimFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if fewest < 5 && slices.Contains(claim.Relations(), event.AddRemove) {
		t.Error("batches with absent records are claimed under add_remove")
	}
}
