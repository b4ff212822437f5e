package table1

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"d3p/internal/models/law"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// normalColumn is a standard normal column, in cells of width 0.05.
func normalColumn() *law.Column {
	c := &law.Column{Edges: []float64{-5}}
	for k := 1; k <= 200; k++ {
		x := -5 + 0.05*float64(k)
		c.Edges, c.Shares = append(c.Edges, x), append(c.Shares, normalBelow(x)-normalBelow(x-0.05))
	}
	return c
}

// tableOf is a table of 30 groups of a thousand records and the mean of each, for a standard deviation
// s within groups. clear is the number of records of a group over the noise of a count.
func tableOf(s, clear float64, rng *rand.Rand) (t groupTable, means []float64) {
	const groups, records = 30, 1000
	t = groupTable{column: normalColumn(), noise: records / clear}
	for x := -2.0; x <= 2; x += 0.33 {
		t.cuts = append(t.cuts, x)
	}
	for range groups {
		mean, counts := math.Sqrt(1-s*s)*rng.NormFloat64(), make([]float64, len(t.cuts)+1)
		for range records {
			k, _ := slices.BinarySearch(t.cuts, mean+s*rng.NormFloat64())
			counts[k]++
		}
		for k := range counts {
			counts[k] += t.noise * rng.NormFloat64()
		}
		t.counts, means = append(t.counts, counts), append(means, mean)
		t.records, t.recordsSD = append(t.records, records*(1+0.15*rng.NormFloat64())), append(t.recordsSD, 0.15*records)
	}
	return t, means
}

// The table of groups tells how much a column varies within them, and each group's mean, within the
// errors that it states. A column that is constant is found to be.
func TestSpreadWithinGroups(t *testing.T) {
	for _, clear := range []float64{5, 20, 100} {
		for _, s := range []float64{0, 0.03, 0.1, 0.3, 0.6, 0.9, 1} {
			for seed := range uint64(3) {
				table, means := tableOf(s, clear, rand.New(rand.NewPCG(seed, 2)))
				var w law.Within
				table.spread(&w)
				// the grid's points are 15 % apart
				if math.Abs(w.Rest-s) > 3*w.RestSD+0.1*s || s == 0 && w.RestSD > 0.01 || w.RestSD > 0.03+1.1*s/clear {
					t.Errorf("%g times the noise, %g within: %.3f ± %.4f", clear, s, w.Rest, w.RestSD)
				}
				square := 0.0
				for g, mean := range means {
					square += math.Pow((mean-w.Mean[g])/(w.SD[g]+0.02), 2) / float64(len(means))
				}
				if w.Rest < 1 && square > 2 { // of 30 means; a chi-squared of 30 above 60 has one chance in a thousand
					t.Errorf("%g times the noise, %g within: the errors of means are %.2f times those stated", clear, s, math.Sqrt(square))
				}
			}
		}
	}
}

// Table 1 buys how numbers vary within a group if nothing declares them constant:
// one that is constant in each ward is so in records that the law draws, and one that is not varies. The
// rows of the table state the same law.
func TestOpenColumnsByGroup(t *testing.T) {
	beds := make([]float64, 30)
	for k := range beds {
		beds[k] = 25 + float64(k*7%30)
	}
	m := wardsOf(t, len(beds), "", "")
	p := Auto(m, muOf(1, event.AddRemove), 20000, event.AddRemove)
	if r := p.release(Groups); r == nil || !r.Open || goodGroups*r.Noise > 20000/30*1.01 {
		t.Fatalf("the release of groups is %+v", r)
	}
	l, ledger := buy(t, m, patients(t, 20000, beds), 1, p, 3, event.AddRemove)
	if len(ledger.Entries) != len(p.Releases) {
		t.Fatalf("%d releases, %d entries of the ledger", len(p.Releases), len(ledger.Entries))
	}
	for i, e := range ledger.Entries {
		if e.Purpose != string(p.Releases[i].Kind) {
			t.Errorf("entry %d of the ledger is %q, of the plan %q", i, e.Purpose, p.Releases[i].Kind)
		}
	}
	rows := Rows(l, &m.Spec.Data)
	read, err := LawOf(rows, &m.Spec.Data)
	if err != nil {
		t.Fatal(err)
	}
	if again := Rows(read, &m.Spec.Data); !reflect.DeepEqual(again[len(again)-62:], rows[len(rows)-62:]) {
		t.Errorf("the rows of the law that was read are %v", again[len(again)-62:])
	}
	rng := noise.NewRandom(noise.Public(1).Stream(noise.Simulation))
	uncoded := l.Copy()
	uncoded.Coded, uncoded.Pairs, uncoded.Within = nil, nil, nil
	for name, of := range map[string]*law.Law{"bought": l, "drawn": l.Drawn(rng), "read": read, "without codes": uncoded} {
		values := make([][]float64, len(of.Columns))
		for i := range values {
			values[i] = make([]float64, 6000)
		}
		of.Draw(values, rng)
		// the standard deviation of ages is 10
		if of, within := withinWards(values[0], values[1], beds), withinWards(values[0], values[2], nil); of > 5 || within < 8.5 || within > 11.5 {
			t.Errorf("%s: beds are %.2f from those of their ward, ages %.2f from their ward's mean", name, of, within)
		}
	}
	for _, epsilon := range []float64{0.1, 1, 4} { // of few records, it costs too much
		if p := Auto(m, muOf(epsilon, event.AddRemove), 1000, event.AddRemove); p != nil && p.release(Groups) != nil && goodGroups*p.release(Groups).Noise > 1000/30*1.01 {
			t.Errorf("1000 records at epsilon %g: %+v", epsilon, p.release(Groups))
		}
	}
	if p := Auto(m, muOf(1, event.AddRemove), 1000, event.AddRemove); p.release(Groups) != nil {
		t.Errorf("1000 records at epsilon 1: %+v", p.release(Groups))
	}
}

// withinWards is the root mean square of values about those of their ward; nil: about its mean.
func withinWards(wards, values, of []float64) float64 {
	sum, n := map[float64]float64{}, map[float64]float64{}
	for b, ward := range wards {
		sum[ward], n[ward] = sum[ward]+values[b], n[ward]+1
	}
	square := 0.0
	for b, ward := range wards {
		center := sum[ward] / n[ward]
		if of != nil {
			center = of[int(ward)]
		}
		square += (values[b] - center) * (values[b] - center) / float64(len(wards))
	}
	return math.Sqrt(square)
}

// Of a table of one row, of one group or of one number, what is known by group is finite.
func TestSpreadOfBadTables(t *testing.T) {
	m := wardsOf(t, 30, "", "")
	for name, text := range map[string]string{"empty": "", "one": "1,2,3,1\n", "malformed": strings.Repeat("1,2\n", 500), "constant": strings.Repeat("3,40,50,0\n", 9000), "outside": strings.Repeat("zz,1e9,-1e9,1\n", 9000)} {
		path := tableFile(t, "ward,beds,age,y\n"+text)
		for _, epsilon := range []float64{1, 1000} {
			l, _ := buy(t, m, path, epsilon, Auto(m, muOf(epsilon, event.AddRemove), 20000, event.AddRemove), 1, event.AddRemove)
			if len(l.Groups) != 2 {
				t.Fatalf("%d columns by group", len(l.Groups))
			}
			for _, w := range l.Groups {
				for _, x := range slices.Concat(w.Mean, w.SD, []float64{w.Rest, w.RestSD}) {
					if !(math.Abs(x) < 10) {
						t.Fatalf("%s, epsilon %g: %+v", name, epsilon, w)
					}
				}
			}
			values := make([][]float64, len(l.Columns))
			for i := range values {
				values[i] = make([]float64, 100)
			}
			l.Draw(values, noise.NewRandom(noise.Public(1).Stream(noise.Simulation)))
		}
	}
}
