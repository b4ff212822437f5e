package sampler

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"d3p/internal/stattest"
)

// A batch of a network is the images of 0, ..., k-1, with k of the exact scheme's law,
// and what Network states gives the same batch.
func TestNetworkBatches(t *testing.T) {
	for _, n := range []int{1, 2, 300, 65536, 100_000} {
		for _, cfg := range []Config{
			{Scheme: Poisson, Rate: 0.01, Batches: Feistel}, {Scheme: Poisson, Rate: 0.9, Batches: Feistel},
			{Scheme: FixedSize, Rate: 1, PublicN: n, Batches: Feistel},
		} {
			s := open(t, cfg, n, 31)
			network := s.Network()
			exact := cfg
			exact.Batches = Exact
			if e := open(t, exact, n, 31); e.Network() != nil {
				t.Error("exact batches have a network")
			}
			for step := range 4 {
				batch, _ := s.Draw(step, nil)
				want, _ := open(t, exact, n, 31).Draw(step, nil)
				if len(batch) != len(want) || network.Size(step) != len(want) {
					t.Fatalf("%v, n=%d: %d records, of size %d; the exact batch has %d", cfg, n, len(batch), network.Size(step), len(want))
				}
				if again := imagesOf(network, step); !slices.Equal(again, batch) {
					t.Fatalf("%v, n=%d: the network's images are not the batch", cfg, n)
				}
				slices.Sort(batch)
				if len(slices.Compact(batch)) != len(want) || len(batch) > 0 && int(batch[len(batch)-1]) >= n {
					t.Fatalf("%v, n=%d: a record is repeated or absent", cfg, n)
				}
			}
		}
	}
}

// imagesOf draws a batch by the statement of Network alone.
func imagesOf(n *Network, step int) (batch []uint32) {
	size, tables := n.Size(step), make([]uint16, n.Words)
	n.Stream.SeekBlock(uint64(step), n.Block)
	n.Stream.Words16(tables)
	for i := range uint32(size) {
		v := i
		for first := true; first || v >= n.Records; first = false {
			left, right := v>>n.Right, v&(1<<n.Right-1)
			for at := 0; at < n.Words; at += 1<<n.Right + 1<<n.Left {
				left ^= uint32(tables[at+int(right)]) & (1<<n.Left - 1)
				right ^= uint32(tables[at+1<<n.Right+int(left)]) & (1<<n.Right - 1)
			}
			v = left<<n.Right | right
		}
		batch = append(batch, v)
	}
	return batch
}

// A walk of an index takes more than j steps with probability
//
//	Π_{l<j} (M-n-l)/(M-l) <= (1-n/M)^j,  M = 2^width,
//
// so (M+1)/(n+1) on average, at most 2, and the longest of k walks takes at most
// 2 + log2 k on average, as Prediger et al. 2022, equations 9 to 14, bound
// the iterations of d3p's sampler.
func TestWalks(t *testing.T) {
	const n, keys, k = 70_001, 40, 5000
	f := newFeistel(n, stream(33))
	M := float64(uint64(1) << bits.Len64(n-1))
	if M != float64(uint64(1)<<(f.left+f.right)) {
		t.Fatalf("%d and %d bits for %d records", f.left, f.right, n)
	}
	longer, longest := make([]float64, 64), 0.
	for step := range uint64(keys) {
		f.renew(step)
		most := 0
		for i := range uint32(k) {
			v := []uint32{i}
			steps := 0
			for steps == 0 || v[0] >= n {
				f.permute(v)
				steps++
			}
			for j := range min(steps, len(longer)) {
				longer[j]++
			}
			most = max(most, steps)
		}
		longest += float64(most) / keys
	}
	var total, mean float64
	p := 1.
	for j := range longer {
		total += longer[j]
		mean += p
		if j > 0 && p*keys*k > 100 {
			// Walks under one key are negatively correlated: the binomial deviation is a bound.
			z := (longer[j] - p*keys*k) / math.Sqrt(p*(1-p)*keys*k)
			stattest.Require(t, fmt.Sprintf("walks of more than %d steps", j), stattest.Normal(z/1.05))
		}
		if p > math.Pow(1-n/M, float64(j)) {
			t.Errorf("more than %d steps: probability %g is above (1-n/M)^j", j, p)
		}
		p *= (M - n - float64(j)) / (M - float64(j))
	}
	if want := (M + 1) / (n + 1); math.Abs(mean-want) > 1e-9 || want > 2 {
		t.Errorf("%g steps on average by the products, %g by the formula", mean, want)
	}
	if got := total / (keys * k); math.Abs(got-mean) > 0.02 {
		t.Errorf("%g steps on average, want %g", got, mean)
	}
	if bound := 2 + math.Log2(k); longest > bound {
		t.Errorf("the longest of %d walks takes %g steps on average, more than %g", k, longest, bound)
	}
}

// Batches of a scheme without subsets have no network, and a mistake names the choice.
func TestBatchesNeedSubsets(t *testing.T) {
	for _, cfg := range []Config{
		{Scheme: Full, Batches: Feistel}, {Scheme: Shuffle, Rate: 0.5, PublicN: 10, Batches: Feistel}, {Scheme: Poisson, Rate: 0.5, Batches: "feistl"},
	} {
		if _, err := ClaimFor(cfg); err == nil {
			t.Errorf("%v has a claim", cfg)
		}
	}
	if s := open(t, Config{Scheme: FixedSize, BatchSize: 5, PublicN: 20, Batches: Feistel}, 10, 1); s.Network() != nil {
		t.Error("a device would draw absent records")
	}
}
