package noise

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"d3p/internal/stattest"
)

var binomialCases = []struct {
	n uint64
	p float64
}{
	{1, 0.5}, {1, 0.01}, {2, 0.3}, {5, 0.9}, {6, 0.5}, {50, 0.02}, {100, 0.5}, {500, 1e-6},
	{3341, 0.02}, {60000, 128.0 / 60000}, {100000, 0.999}, {65537, 1 - 1e-4},
	{1000000, 0.001}, {1000000, 0.166}, {1000000000, 1e-7}, {1000000000, 0.3}, {1 << 32, 0.7},
	{1 << 40, 0.5},
}

// The mass outside the steps is below 2^-79, and the steps' weights fill the alias
// table.
func TestBinomialTables(t *testing.T) {
	for _, c := range binomialCases {
		b := NewBinomial(c.n, c.p)
		f := &b.law
		for _, edge := range []struct {
			k      uint64
			beyond bool
		}{{b.first - 1, b.first > 0}, {b.last + 1, b.last < b.n}} {
			if edge.beyond && f.log(edge.k)-f.logMode >= cutoff {
				t.Errorf("n=%d p=%g: %d is left out", c.n, c.p, edge.k)
			}
		}
		var total [slots]uint64 // of each step, from the alias table
		var sum uint64
		for i := range slots {
			total[i] += b.below[i]
			total[b.alias[i]] += 1<<slotBits - b.below[i]
			sum += b.weight[i]
		}
		if total != b.weight || sum != slots<<slotBits {
			t.Errorf("n=%d p=%g: the alias table does not hold the weights", c.n, c.p)
		}
		for k := b.first; k <= b.last; k += max(1, (b.last-b.first)/1000) {
			i := (k - b.first) / b.width
			height := float64(b.weight[i]) * b.unit
			if r := f.ratio(k) * (1 + f.slack); r > height {
				t.Errorf("n=%d p=%g: ratio(%d) = %g above its step, %g", c.n, c.p, k, r, height)
			}
			if r := f.ratio(k) * (1 - f.slack); r < float64(b.sure[i])*0x1p-64*height {
				t.Errorf("n=%d p=%g: %d is kept too surely", c.n, c.p, k)
			}
		}
	}
}

// Chi-square of 100 000 draws against the exact probabilities.
func TestBinomialLaw(t *testing.T) {
	s := Insecure(21).Stream(Sampling)
	for _, c := range binomialCases {
		const draws = 100000
		b := NewBinomial(c.n, c.p)
		f := &b.law
		// Cells: at most 400 runs of numbers over the support.
		run := (b.last-b.first)/400 + 1
		cells := int((b.last-b.first)/run) + 1
		observed := make([]int, cells)
		for range draws {
			k := b.Draw(s)
			if k > c.n {
				t.Fatalf("Binomial(%d, %g) = %d", c.n, c.p, k)
			}
			if b.flipped {
				k = c.n - k
			}
			observed[(k-b.first)/run]++
		}
		expected := make([]float64, cells)
		if b.last-b.first < 1e6 {
			for k := b.first; k <= b.last; k++ {
				expected[(k-b.first)/run] += draws * math.Exp(f.log(k))
			}
		} else { // the normal law is near enough to 1/sd
			mean, sd := float64(f.n)*f.p, math.Sqrt(float64(f.n)*f.p*(1-f.p))
			cdf := func(k uint64) float64 { return math.Erfc(-(float64(k)-0.5-mean)/sd/math.Sqrt2) / 2 }
			for i := range cells {
				lo := b.first + uint64(i)*run
				expected[i] = draws * (cdf(lo+run) - cdf(lo))
			}
		}
		heavy := 0
		for _, e := range expected {
			if e >= 100 {
				heavy++
			}
		}
		if heavy < 2 {
			continue
		}
		stattest.Require(t, "Binomial", stattest.ChiSquare(observed, expected))
	}
}

// Within a step the law is not flat: it falls from the mode outwards. Half of a
// step's numbers, those nearer to the mode, are drawn as often as the exact
// probabilities say, in each of 250 steps.
func TestBinomialWithinSteps(t *testing.T) {
	b := NewBinomial(1000000, 0.166)
	if b.width < 10 {
		t.Fatalf("steps of %d numbers: the test tests nothing", b.width)
	}
	var inner [slots]float64 // probability, given the step
	steps := (b.last-b.first)/b.width + 1
	near := func(i, k uint64) bool { return (k-b.first-i*b.width < b.width/2) == (k > b.law.mode) }
	for i := range steps {
		sum := 0.0
		for k := b.first + i*b.width; k <= min(b.first+(i+1)*b.width-1, b.last); k++ {
			p := math.Exp(b.law.log(k))
			sum += p
			if near(i, k) {
				inner[i] += p
			}
		}
		inner[i] /= sum
	}
	s := Insecure(26).Stream(Sampling)
	var off, variance float64
	for range 600000 {
		k := b.Draw(s)
		i := (k - b.first) / b.width
		if near(i, k) {
			off++
		}
		off -= inner[i]
		variance += inner[i] * (1 - inner[i])
	}
	stattest.Require(t, "inner halves", stattest.Normal(off/math.Sqrt(variance)))
}

func TestBinomialEdges(t *testing.T) {
	s := Insecure(23).Stream(Sampling)
	for _, c := range []struct {
		n    uint64
		p    float64
		want uint64
	}{
		{0, 0.5, 0}, {10, 0, 0}, {10, 1, 10}, {0, 0, 0}, {0, 1, 0}, {1 << 40, 1, 1 << 40},
		{1000, math.SmallestNonzeroFloat64, 0}, {1 << 40, 1e-40, 0},
	} {
		if got := NewBinomial(c.n, c.p).Draw(s); got != c.want {
			t.Errorf("Binomial(%d, %g) = %d, want %d", c.n, c.p, got, c.want)
		}
	}
}

func TestBinomialRefuses(t *testing.T) {
	for _, c := range []struct {
		n uint64
		p float64
	}{{10, -0.25}, {10, 1.25}, {10, math.NaN()}, {1<<40 + 1, 0.5}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Binomial(%d, %g): accepted", c.n, c.p)
				}
			}()
			NewBinomial(c.n, c.p)
		}()
	}
}

func TestDrawsDoNotAllocate(t *testing.T) {
	s := Insecure(24).Stream(Sampling)
	z := make([]float64, 100)
	p := make([]byte, 1000)
	law := NewBinomial(1000000, 0.01)
	step := uint64(0)
	draw := func() {
		s.Seek(step)
		s.Normals(z)
		s.AddGaussian(z, 1.5)
		s.Fill(p)
		law.Draw(s)
		s.Uint64n(7)
		step++
	}
	if n := testing.AllocsPerRun(100, draw); n != 0 {
		t.Errorf("%g allocations a step", n)
	}
}

func BenchmarkBinomial(b *testing.B) {
	s := Insecure(1).Stream(Sampling)
	for _, c := range binomialCases[8:] {
		d := NewBinomial(c.n, c.p)
		b.Run(fmt.Sprintf("n=%d/p=%.3g", c.n, c.p), func(b *testing.B) {
			for b.Loop() {
				d.Draw(s)
			}
		})
	}
}

// Of the 2^63 places that a draw's first word chooses one leads below the steps and one above.
func TestDrawsReachTheTails(t *testing.T) {
	for _, p := range []float64{0.25, 0.75} {
		b := NewBinomial(2000, p)
		for place, k := range []uint64{b.first - 1, b.last + 1} {
			s := Insecure(28).Stream(Sampling)
			clear(s.buf[:16]) // the second word begins the fraction: 0 is the tail's first number
			binary.LittleEndian.PutUint64(s.buf[:], reject<<56|uint64(place)<<1)
			s.used = 0
			if got := b.Draw(s); got != b.counted(k) {
				t.Errorf("p=%g: place %d is %d, want %d", p, place, got, b.counted(k))
			}
		}
		s := Insecure(28).Stream(Sampling)
		clear(s.buf[:16])
		binary.LittleEndian.PutUint64(s.buf[:], reject<<56|2<<1)
		s.used = 0
		if got := b.counted(b.Draw(s)); got < b.first || got > b.last {
			t.Errorf("p=%g: a third place leads to a tail", p)
		}
	}
}
