package law

import (
	"encoding/json"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// looked is a law of two numbers whose histograms differ, one of them of logarithms, and what a closer
// look says: they are correlated by .995, the variance of their difference is known within 4 %.
func looked() *Law {
	l := bought()
	l.Correlation, l.CorrelationSD = make([]float64, 16), make([]float64, 16)
	for i := range 4 {
		l.Correlation[i*4+i] = 1
	}
	l.Correlation[2], l.Correlation[8] = 0.9, 0.9
	l.CorrelationSD[2], l.CorrelationSD[8] = 0.1, 0.1
	half := math.Sqrt(0.5)
	wide, narrow := math.Sqrt(1.995), math.Sqrt(0.005)
	l.SetCloser(&Closer{
		Columns: []int{0, 2},
		Basis:   []float64{wide * half, wide * half, narrow * half, -narrow * half},
		Moments: []float64{1, 0, 0, 1},
		SD:      []float64{0.04, 0.04, 0.04, 0.04},
	})
	return l
}

// correlationOf is that of the transformed numbers of columns 0 and 2.
func correlationOf(l *Law, values [][]float64) float64 {
	var x, y []float64
	for b := range values[0] {
		x, y = append(x, l.Columns[0].declared.Transformed(values[0][b])), append(y, l.Columns[2].declared.Transformed(values[2][b]))
	}
	return stat.Correlation(x, y, nil)
}

// Drawn records vary together as the closer look says, whatever histograms and scores make of it,
// and are as wide as before; also beside coded levels, and read from a file.
func TestRecordsOfACloserLook(t *testing.T) {
	const n = 20000
	coded := looked()
	coded.Coded = []int{3}
	text, err := json.Marshal(looked())
	if err != nil {
		t.Fatal(err)
	}
	read := &Law{}
	if err := json.Unmarshal(text, read); err != nil {
		t.Fatal(err)
	}
	if err := read.Bind(declaration()); err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]*Law{"scores": looked(), "coded": coded, "read": read} {
		plain := l.Copy()
		plain.Closer = nil
		without, values := draw(plain, n), draw(l.AsBought(), n)
		if got := correlationOf(l, without); got > 0.97 {
			t.Fatalf("%s: a correlation of %.4f without a closer look: nothing to correct", name, got)
		}
		// the map is made for 8192 other records: the difference's variance is off by 1.6 %, times 5
		if got := 1 - correlationOf(l, values); math.Abs(got/0.005-1) > 0.08 {
			t.Errorf("%s: a correlation of 1 - %.5f, want 1 - 0.005", name, got)
		}
		for _, i := range []int{0, 2} {
			d := l.Columns[i].declared
			_, before := moments(d, without[i])
			_, after := moments(d, values[i])
			if math.Abs(after/before-1) > 0.05 {
				t.Errorf("%s: column %d is %.3f times as wide", name, i, after/before)
			}
		}
	}
}

// Records are drawn with less variance in a narrow direction, by the noise of what the closer look
// says of it. Drawn laws differ by that noise, and so do the columns' own parts.
func TestNoiseOfACloserLook(t *testing.T) {
	const n, laws = 20000, 200
	l := looked()
	rng := source1()
	least := 1 - correlationOf(l, draw(l, n))
	if most := 1 - correlationOf(l, draw(l.AsBought(), n)); math.Abs(least/most-0.96) > 0.02 {
		t.Errorf("cautious records have %.4f times the variance, want .96", least/most)
	}
	sum, square := 0.0, 0.0
	for range laws {
		c := l.Drawn(rng).Closer
		x := (1 - c.correlation()[1]) / 0.005
		sum, square = sum+x/laws, square+x*x/laws
		if c.SD[3] != 0 {
			t.Fatal("a drawn law has noise")
		}
	}
	// The wide direction has as much noise: .04√2. 200 draws: means are off by .004, standard deviations by 5 %
	if sd := math.Sqrt(square - sum*sum); math.Abs(sum-1) > 0.02 || sd < 0.045 || sd > 0.07 {
		t.Errorf("drawn variances are %.3f ± %.3f, want 1 ± .057", sum, sd)
	}
	parts, sd := l.OwnParts([]int{0, 2})
	for j, part := range parts {
		if math.Abs(part/0.00998-1) > 0.02 || math.Abs(sd[j]/(0.057*0.00998)-1) > 0.2 {
			t.Errorf("column %d has %.5f ± %.5f of its own, want .00998 ± .00057", j, part, sd[j])
		}
	}
	l.Closer.SD[3], l.Closer.Moments[3] = 0.3, -0.1 // nothing known but that it is small
	l.SetCloser(l.Closer)
	if parts, sd := l.OwnParts([]int{0, 2}); parts[0] > 3*sd[0] || sd[0] > 0.005 {
		t.Errorf("a direction without variance: own parts %v ± %v", parts, sd)
	}
	draw(l, 100)
}

// A law file whose closer look does not fit its columns is refused.
func TestCloserLooksAreChecked(t *testing.T) {
	for name, spoil := range map[string]func(c *Closer){
		"levels": func(c *Closer) { c.Columns[1] = 3 },
		"column": func(c *Closer) { c.Columns[1] = 9 },
		"basis":  func(c *Closer) { c.Basis = c.Basis[:3] },
		"noise":  func(c *Closer) { c.SD = nil },
	} {
		l := looked()
		spoil(l.Closer)
		if l.Bind(declaration()) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
