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
