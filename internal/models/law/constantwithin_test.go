package law

import (
	"fmt"
	"math"
	"testing"

	"d3p/internal/models/data"
)

// nested has the wards of hospitals, the size of each hospital, two numbers of each
// ward, and two numbers that vary. Groups stand after what is constant within them.
func nested(levels int) *Law {
	number := func(name, within string) *data.Column {
		c := &data.Column{Name: set(name), Type: set(data.Real), Lower: set(-100.), Upper: set(100.), Center: set(0.), By: set(1.)}
		if within != "" {
			c.ConstantWithin = set(within)
		}
		return c
	}
	category := func(name string, levels int) *data.Column {
		c := &data.Column{Name: set(name), Type: set(data.Category)}
		for k := range levels {
			c.Levels = append(c.Levels, set(fmt.Sprint(k)))
		}
		return c
	}
	ward, hospital := category("ward", levels), category("hospital", 10)
	hospital.ConstantWithin = set("ward")
	return Declared(&data.Data{Rows: data.Rows{Public: set(500)}, Columns: []*data.Column{
		number("size", "hospital"), number("beds", "ward"), number("staff", "ward"), number("age", "none"), number("dose", ""), hospital, ward,
	}})
}

// Columns that are constant within a group are, through groups of groups, in every
// draw; and over records they are spread and correlated as the law has it.
func TestConstantWithinGroups(t *testing.T) {
	const n, levels = 40000, 400
	const size, beds, staff, age, dose, hospital, ward = 0, 1, 2, 3, 4, 5, 6
	correlated := nested(levels)
	correlated.Correlation = make([]float64, 7*7)
	for i := range 7 {
		correlated.Correlation[i*7+i] = 1
	}
	both := func(i, j int, r float64) {
		correlated.Correlation[i*7+j], correlated.Correlation[j*7+i] = r, r
	}
	both(beds, staff, 0.6)
	both(beds, age, 0.5)
	both(age, dose, 0.3)
	both(beds, ward, 0.4)
	both(staff, ward, 0.24)
	both(age, ward, 0.2)
	both(size, beds, 0.5)
	for name, l := range map[string]*Law{"declared": nested(levels), "correlated": correlated} {
		values, again := draw(l, n), draw(l, 1000)
		for _, pair := range [][2]int{{size, hospital}, {hospital, ward}, {beds, ward}, {staff, ward}} {
			seen := map[float64]float64{}
			for _, v := range [][][]float64{values, again} {
				for b, level := range v[pair[1]] {
					if x, ok := seen[level]; ok && x != v[pair[0]][b] {
						t.Fatalf("%s: level %v of %s has the values %v and %v of %s", name, level, l.Columns[pair[1]].Name, x, v[pair[0]][b], l.Columns[pair[0]].Name)
					}
					seen[level] = v[pair[0]][b]
				}
			}
			distinct := map[float64]bool{}
			for _, x := range seen {
				distinct[x] = true
			}
			if want := min(len(seen), 10); len(distinct) < want/2 {
				t.Errorf("%s: %d values of %s", name, len(distinct), l.Columns[pair[0]].Name)
			}
		}
		for _, i := range []int{size, beds, staff, age, dose} {
			mean, sd := moments(l.Columns[i].declared, values[i])
			// the values of 400 levels with 100 records each have the law's moments within 3 %
			// of its sd, draws of independent records within 6.5/200
			if math.Abs(mean) > 0.06 || math.Abs(sd-1) > 0.06 {
				t.Errorf("%s: %s has mean %.3f, sd %.3f", name, l.Columns[i].Name, mean, sd)
			}
		}
		for _, pair := range []struct {
			i, j int
			want float64
		}{{beds, staff, 0.6}, {beds, age, 0.5}, {age, dose, 0.3}, {staff, dose, 0}} {
			want := pair.want
			if l.Correlation == nil {
				want = 0
			}
			sum := 0.0
			for b := range n {
				sum += values[pair.i][b] * values[pair.j][b] / n
			}
			// chance has sd 1/√400 where both are of levels: P(beyond) < .3 %, and the seed is fixed
			if math.Abs(sum-want) > 3/math.Sqrt(levels) {
				t.Errorf("%s: correlation of %s and %s %.3f, want %.3f", name, l.Columns[pair.i].Name, l.Columns[pair.j].Name, sum, want)
			}
		}
	}
}

// A law without such groups draws as if groups were unknown.
func TestOrderOfTheFile(t *testing.T) {
	for i, j := range bought().order() {
		if i != j {
			t.Fatalf("order %v", bought().order())
		}
	}
}

// A column with a known variation within a category has its mean in each level, and the rest of
// its spread about it, in every way of drawing; caution leaves it less, a drawn law another.
func TestVaryingWithinGroups(t *testing.T) {
	const n, levels, rest = 20000, 10, 0.4
	const x, z, site = 0, 1, 2
	number := func(name string) *data.Column {
		return &data.Column{Name: set(name), Type: set(data.Real), Lower: set(-100.), Upper: set(100.), Center: set(0.), By: set(1.)}
	}
	group := &data.Column{Name: set("site"), Type: set(data.Category)}
	known := Within{Column: x, Category: site, Rest: rest, SD: make([]float64, levels)}
	for k := range levels {
		group.Levels = append(group.Levels, set(fmt.Sprint(k)))
		known.Mean = append(known.Mean, 0.3*(float64(k*7%levels)-4.5))
	}
	l := Declared(&data.Data{Rows: data.Rows{Public: set(500)}, Columns: []*data.Column{number("x"), number("z"), group}})
	l.Groups = []Within{known}
	if err := l.checkLevels(); err != nil {
		t.Fatal(err)
	}
	correlated, coded := l.Copy(), l.Copy()
	correlated.Correlation = []float64{1, 0.6, 0, 0.6, 1, 0, 0, 0, 1}
	coded.Correlation, coded.Coded = correlated.Correlation, []int{site}
	coded.Within = []Within{{Column: x, Category: site, Mean: make([]float64, levels), SD: make([]float64, levels)}}
	coded.Within[0].Mean[0], coded.Within[0].Mean[1] = 2, -2 // the groups' table knows better
	for name, l := range map[string]*Law{"independent": l, "correlated": correlated, "coded": coded} {
		values := draw(l, n)
		square, product := 0.0, 0.0
		for b, level := range values[site] {
			off := values[x][b] - known.Mean[int(level)]
			square, product = square+off*off/n, product+off*values[z][b]/n
		}
		// chance has the sd .4/200 of the first root and .4/141 of the second mean
		if math.Abs(math.Sqrt(square)-rest) > 0.012 {
			t.Errorf("%s: x is %.3f from the mean of its site, want %g", name, math.Sqrt(square), rest)
		}
		if want := 0.6 * rest; l.Correlation != nil && math.Abs(product-want) > 0.02 {
			t.Errorf("%s: within sites the covariance of x and z is %.3f, want %.3f", name, product, want)
		}
	}
	l.Groups[0].RestSD = 0.1
	if got := l.cautious().Groups[0].Rest; math.Abs(got-0.3) > 1e-9 {
		t.Errorf("with caution %g within sites", got)
	}
	if got := l.PlugIn().cautious().Groups[0].Rest; got != rest {
		t.Errorf("as believed %g within sites", got)
	}
	if got := l.Drawn(source1()).Groups[0]; got.Rest == rest || got.RestSD != 0 || math.Abs(got.Rest-rest) > 0.5 {
		t.Errorf("drawn %+v", got)
	}
	for level := range l.Groups[0].SD {
		l.Groups[0].SD[level] = 0.5
	}
	varies := l.KnowsGroups()
	if l.Groups[0].Rest = 0; !varies || l.KnowsGroups() {
		t.Errorf("the values of a column that varies within groups count as known: %v; of one that does not: %v", varies, l.KnowsGroups())
	}
	l.Columns[x].group = z
	if l.checkLevels() == nil {
		t.Error("the law has the values of another group than the declared one")
	}
}
