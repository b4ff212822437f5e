// Package sampler draws the batches of a fit and states their privacy event: a scheme's
// Draw and its Event stand in one file, and neither exists without the other. The number of
// records is secret; it enters Draw only.
//
// Poisson: the batch size has the law Binomial(n, q), and the batch is a uniform subset of
// that size, which is independent inclusion with probability q at a cost of O(qn) a step.
// The subset is the first k different numbers of a sequence of exactly uniform ones below
// n, or for k > n/2 the complement of n-k such numbers.
//
// By a network (Exact is the other choice): the subset is the image of 0, ..., k-1 under an
// alternating Feistel network on ceil(log2 n) bits, at least 16, with cycle walking (Black
// and Rogaway 2002), with fresh tables in every step. A walk takes (M+1)/(n+1) <= 2 rounds
// of the network on average, M = 2^w, and the longest of k walks 2 + log2 k (Prediger et
// al. 2022, equations 9 to 14). Each round function is a table of 16-bit words from the AES
// stream. 10 rounds on 20 bits or more and 12 on fewer give (rounds-4)·w >= 60 for halves
// of w bits; the best generic attack known needs about 2^((r-4)w) outputs (Patarin 2001,
// eprint 2008/036), and NIST SP 800-38G requires 10. No attack is known, and none is proven
// impossible. A faster hash (Philox, multiply and xor) has no such claim.
//
// Fixed size takes a subset of B records, shuffle cuts a fresh permutation into equal
// batches: below 65,536 records by Fisher and Yates, else by such a network. The guarantee
// needs only that it is a bijection. If fewer records exist than declared, absent ones fill
// the population, so the rate is never above the claimed one.
package sampler

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// Config selects a scheme. All of it is public.
type Config struct {
	Scheme    string  // one of Schemes()
	Rate      float64 // q in (0, 1], or 0 when BatchSize is given
	BatchSize int     // expected records per batch, or 0 when Rate is given
	PublicN   int     // declared number of records; unused by full, and by poisson given Rate
	Batches   string  // of poisson and fixed_size: Exact, also if empty, or Feistel
}

// Times is the configuration with its rate times a factor. Factor 1 changes nothing.
func (cfg Config) Times(factor float64) Config {
	cfg.Rate *= factor
	return cfg
}

// Claim is a scheme's promise about its batches, known before any data is read.
type Claim interface {
	// Event returns the event, for an accountant, of the first `steps` steps if each
	// releases `of` once.
	Event(steps int, of event.Event) event.Event
	// Rate returns the expected fraction of the records in a batch, q. Dividing a sum over
	// a batch by it estimates the sum over all records.
	Rate() float64
	// Scheme returns the scheme's name.
	Scheme() string
	// Relations returns the neighbouring relations under which Event is valid.
	Relations() []event.Relation
}

// Sampler draws the batches that its Claim is about.
type Sampler interface {
	Claim
	// Draw returns the record indices of step t's batch, t >= 0, without
	// repetition and in no meaningful order, stored in dst[:0], which grows
	// only if it is too small; or all = true for every record. The batch
	// depends on the stream's key and t only.
	Draw(t int, dst []uint32) (batch []uint32, all bool)
	// Network is the network by which a device may draw the same batches; nil if they come
	// from none.
	Network() *Network
}

// Stepwise reports whether a scheme draws each batch independently, so that a second
// sampler for other steps repeats none of the first one's work. Other schemes go through
// the records in an order for several steps.
func Stepwise(scheme string) bool { return scheme == Poisson || scheme == FixedSize }

// OneStep reports whether a step of a scheme is accounted for alone, and not as a part of
// an epoch.
func OneStep(scheme string) bool { return Stepwise(scheme) || scheme == Full }

// Apart reports whether a scheme can draw batches from parts of the records separately,
// because it treats every record independently of all others.
func Apart(scheme string) bool {
	return scheme == Poisson || scheme == Full || scheme == BallsAndBins
}

// scheme is a claim that can be bound to records.
type scheme interface {
	Claim
	bind(n, first int, src *noise.Stream) drawer
}

type drawer interface {
	Draw(t int, dst []uint32) (batch []uint32, all bool)
}

// The names of the schemes.
const (
	Poisson      = "poisson"
	Full         = "full"
	FixedSize    = "fixed_size"
	BallsAndBins = "balls_and_bins"
	Shuffle      = "shuffle"
)

var schemes = []struct {
	name string
	make func(Config) (scheme, error)
}{
	{Poisson, newPoisson},
	{Full, newFull},
	{FixedSize, newFixedSize},
	{BallsAndBins, newBallsAndBins},
	{Shuffle, newShuffle},
}

// The ways to draw a subset of given size: see subset.go and network.go.
const (
	Exact   = "exact"
	Feistel = "feistel"
)

// HasBatches reports whether a scheme draws subsets, so that Batches is a choice.
func HasBatches(scheme string) bool { return scheme == Poisson || scheme == FixedSize }

func (cfg Config) checkBatches() error {
	switch {
	case cfg.Batches == "" || cfg.Batches == Exact || cfg.Batches == Feistel && HasBatches(cfg.Scheme):
		return nil
	case cfg.Batches == Feistel:
		return fmt.Errorf("sampler: scheme %s draws no subsets (leave out batches %s, or choose scheme %s or %s)", cfg.Scheme, Feistel, Poisson, FixedSize)
	}
	return fmt.Errorf("sampler: unknown batches %q: choose %s or %s", cfg.Batches, Exact, Feistel)
}

// Schemes returns the names of all schemes.
func Schemes() []string {
	names := make([]string, len(schemes))
	for i, s := range schemes {
		names[i] = s.name
	}
	return names
}

// ClaimFor returns the claim of cfg; it needs no data. The error names the invalid field of
// cfg.
func ClaimFor(cfg Config) (Claim, error) { return find(cfg) }

// Relations returns the neighbouring relations under which the batches of a scheme
// are accounted for. It panics if there is no such scheme.
func Relations(scheme string) []event.Relation {
	claim, err := find(Config{Scheme: scheme, Rate: 1, PublicN: 1})
	if err != nil {
		panic(err)
	}
	return claim.Relations()
}

// EventFor returns the event of the first `steps` steps of a valid cfg when
// each releases `of` once. It panics if cfg is not valid.
func EventFor(cfg Config, steps int, of event.Event) event.Event {
	claim, err := find(cfg)
	if err != nil {
		panic(err)
	}
	return claim.Event(steps, of)
}

// New returns the sampler of cfg for n records, n < 2^32, with random numbers from src
// (purpose noise.Sampling), which no one else may use. Steps before first (0 for a new fit)
// were drawn from another source.
func New(cfg Config, n, first int, src *noise.Stream) (Sampler, error) {
	s, err := find(cfg)
	if err != nil {
		return nil, err
	}
	if n < 0 || n > math.MaxUint32 {
		panic("sampler: the number of records is not in [0, 2^32)")
	}
	return bound{s, s.bind(n, first, src)}, nil
}

// bound is a scheme with records.
type bound struct {
	Claim
	drawer
}

func (b bound) Network() *Network {
	if d, ok := b.drawer.(interface{ network() *Network }); ok {
		return d.network()
	}
	return nil
}

func find(cfg Config) (scheme, error) {
	if err := cfg.checkBatches(); err != nil {
		return nil, err
	}
	for _, s := range schemes {
		if s.name == cfg.Scheme {
			return s.make(cfg)
		}
	}
	return nil, fmt.Errorf("sampler: unknown scheme %q: choose one of %q", cfg.Scheme, Schemes())
}

// rate returns the expected fraction of records per batch that cfg asks for.
func (cfg Config) rate() (float64, error) {
	switch {
	case cfg.BatchSize == 0:
		if !(cfg.Rate > 0 && cfg.Rate <= 1) {
			return 0, fmt.Errorf("sampler: rate %g is not in (0, 1], and no batch size is given", cfg.Rate)
		}
		return cfg.Rate, nil
	case cfg.Rate != 0:
		return 0, errors.New("sampler: both a rate and a batch size are given: choose one")
	}
	if err := cfg.checkPublicN(); err != nil {
		return 0, err
	}
	if cfg.BatchSize < 0 || cfg.BatchSize > cfg.PublicN {
		return 0, fmt.Errorf("sampler: batch size %d is not between 1 and the declared %d records", cfg.BatchSize, cfg.PublicN)
	}
	return float64(cfg.BatchSize) / float64(cfg.PublicN), nil
}

func (cfg Config) checkPublicN() error {
	if cfg.PublicN < 1 || cfg.PublicN > math.MaxUint32 {
		return fmt.Errorf("sampler: %d declared records: scheme %s needs a number from 1 to 2^32-1", cfg.PublicN, cfg.Scheme)
	}
	return nil
}

// grown returns dst[:0] with capacity for size numbers.
func grown(dst []uint32, size int) []uint32 { return slices.Grow(dst[:0], size) }
