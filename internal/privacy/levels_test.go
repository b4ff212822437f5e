package privacy_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
)

// The texts of one unit pass the threshold with probability at most Delta, however the unit
// spreads its weight over its rows, with the rounding of the noise. A threshold that is a little
// lower does not do.
func TestThresholdCoversAUnit(t *testing.T) {
	tail := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	rng := rand.New(rand.NewPCG(1, 2))
	for _, sigma := range []float64{0.03, 0.5, 3, 40, 1e4} {
		for _, delta := range []float64{1e-12, 2e-7, 1e-3, 0.2} {
			for _, k := range []int{1, 2, 5, 64} {
				q := privacy.LevelQuery{Noise: sigma, Delta: delta}
				least := q.Threshold(k) - noise.LatticeSpacing(sigma)/2 // rounded to the threshold
				passes := func(weights []float64) (p float64) {
					for _, w := range weights {
						p += tail((least - w) / sigma)
					}
					return p
				}
				for trial := range 50 {
					n := 1 + trial%k
					weights, sum := make([]float64, n), 0.0
					for i := range weights {
						weights[i] = math.Pow(rng.Float64(), float64(trial%5)) // equal ones, too
						sum += weights[i]
					}
					for i := range weights {
						weights[i] /= sum
					}
					if p := passes(weights); p > delta {
						t.Fatalf("sigma %g, delta %g, k %d: %v pass with %g", sigma, delta, k, weights, p)
					}
				}
				if p := passes([]float64{1}); k == 1 && p < delta*(1-1e-6) {
					t.Errorf("sigma %g, delta %g: a text passes with %g only", sigma, delta, p)
				}
			}
		}
	}
}

// textsOf are the texts of column g, of rows with an id.
func textsOf(t *testing.T, unit, text string) *privacy.Columns {
	t.Helper()
	return privacy.NewTexts(privacy.TableConfig{Data: writeFile(t, "survey.csv", text), Encoding: survey(t, unit), Root: noise.Insecure(1)}, "g")
}

func levelsCurator(t *testing.T, texts *privacy.Columns, seed uint64, rel event.Relation) *privacy.Curator {
	t.Helper()
	return newCurator(t, privacy.CuratorConfig{Columns: texts, Root: noise.Insecure(seed), Budget: privacy.Budget{Epsilon: 10, Delta: 0.5}, Relation: rel})
}

// A unit, whatever its rows hold and however many there are, adds weights of at most 1 together to
// at most k texts, and moves no other text.
func TestOneUnitMovesTextsByOne(t *testing.T) {
	for name, unit := range map[string]string{"rows": aRow, "units": threeRows} {
		rng := rand.New(rand.NewPCG(7, uint64(len(name))))
		most, texts := 0.0, 0
		for trial := range 200 {
			header := "id,x,k,g,y\n"
			var others strings.Builder
			for i := range rng.IntN(4) {
				others.WriteString(hostileRows(rng, fmt.Sprintf("u%d", i), 1+rng.IntN(4)))
			}
			rows := 1
			if name == "units" {
				rows = 1 + rng.IntN(6)
			}
			weigh := func(own string) map[string]float64 {
				w, err := privacy.WeighTexts(textsOf(t, unit, header+placed(trial, others.String(), own)), "g")
				if err != nil {
					t.Fatal(err)
				}
				return w
			}
			before, after := weigh(""), weigh(hostileRows(rng, "me", rows))
			sum, moved := 0.0, 0
			for text, w := range after {
				if d := w - before[text]; d < 0 {
					t.Fatalf("a unit takes %g from %q", -d, text)
				} else if d > 0 {
					sum, moved = sum+d, moved+1
				}
			}
			for text := range before {
				if _, ok := after[text]; !ok {
					t.Fatalf("a unit removes %q", text)
				}
			}
			if sum > 1 || moved > 3 {
				t.Fatalf("%s: a unit adds %g to %d texts", name, sum, moved)
			}
			most, texts = max(most, sum), max(texts, moved)
		}
		if most < 1-1e-5 || name == "units" && texts < 3 {
			t.Errorf("%s: the largest unit adds %g, to %d texts", name, most, texts)
		}
	}
}

// rows are n rows of units of their own with the same text.
func rows(from, n int, text string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "v%d,1,1,%s,1\n", from+i, text)
	}
	return b.String()
}

// Texts of one unit are released with probability at most Delta, nearly that where a unit has one;
// of other texts the counts have the noise of the event; texts that nobody has are never released.
func TestLevelsFollowTheirLaw(t *testing.T) {
	const runs = 4000
	q := privacy.LevelQuery{Column: "g", Noise: 2, Delta: 0.15}
	own := map[string]string{"one": "me,1,1,mine,1\n", "three": "me,1,1,m1,1\nme,1,1,m2,1\nme,1,1,m3,1\n"}
	for name, unit := range own {
		texts := textsOf(t, threeRows, "id,x,k,g,y\n"+rows(0, 40, "common")+unit)
		rare, squares, common := 0, 0.0, 0
		for seed := range uint64(runs) {
			levels, err := levelsCurator(t, texts, seed, event.AddRemove).Levels("levels", q)
			if err != nil {
				t.Fatal(err)
			}
			own := false
			for _, l := range levels {
				if l.Count < q.Threshold(3) {
					t.Fatalf("%v is below the threshold", l)
				}
				if l.Name == "common" {
					common++
					squares += (l.Count - 40) * (l.Count - 40)
				}
				own = own || l.Name[0] == 'm'
			}
			if own {
				rare++
			}
		}
		// all tests of stattest fail by chance once in a million runs
		if most := stattest.AtLeast(rare, runs, 1e-9); most > q.Delta {
			t.Errorf("%s: a unit shows itself with a probability of at least %g", name, most)
		}
		if name == "one" && rare < runs/20 {
			t.Errorf("a unit shows itself in %d of %d runs", rare, runs)
		}
		if sd := math.Sqrt(squares / runs); common != runs || math.Abs(sd/2-1) > 6/math.Sqrt(2*runs) {
			t.Errorf("%d counts with noise of %g", common, sd)
		}
	}
}

// No test of membership by counts and by a unit's own text exceeds the price.
func TestLevelsStayBelowEpsilon(t *testing.T) {
	const runs, confidence = 10000, 1e-9
	q := privacy.LevelQuery{Column: "g", Noise: 1.5, Delta: 0.05}
	score := func(table string, seed uint64, weak bool) []float64 {
		texts, of := textsOf(t, aRow, "id,x,k,g,y\n"+table), q
		if weak {
			of.Noise, of.Delta = q.Noise/3, 0.2
		}
		scores := make([]float64, runs)
		for i := range scores {
			levels, err := levelsCurator(t, texts, seed+uint64(i), event.AddRemove).Levels("levels", of)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range levels {
				if l.Name == "mine" {
					scores[i] = 1e3
				} else {
					scores[i] += l.Count
				}
			}
		}
		slices.Sort(scores)
		return scores
	}
	const delta = 0.06
	price, err := accountant.Epsilon(q.Event(event.AddRemove), event.AddRemove, delta)
	if err != nil {
		t.Fatal(err)
	}
	// the largest epsilon that some cut of the scores shows
	shown := func(in, out []float64) (most float64) {
		for _, c := range out[:len(out)-1] {
			above := func(list []float64) int { n, _ := slices.BinarySearch(list, c); return len(list) - n }
			p, no := stattest.AtLeast(above(in), runs, confidence), stattest.AtMost(above(out), runs, confidence)
			most = max(most, math.Log(max(p-delta, 1e-300)/no))
		}
		return most
	}
	base := rows(0, 30, "common")
	for text, least := range map[string]float64{"mine": 0, "common": 0.3} {
		member := base + rows(99, 1, text)
		if e := shown(score(member, 0, false), score(base, 1<<40, false)); e > price.Upper || e < least*price.Upper {
			t.Errorf("%s: the attack shows epsilon %.3g of %.3g", text, e, price.Upper)
		}
		if e := shown(score(member, 0, true), score(base, 1<<40, true)); e < price.Upper {
			t.Errorf("%s: with a third of the noise the attack shows epsilon %.3g of %.3g only", text, e, price.Upper)
		}
	}
}

// Levels are one entry of the ledger, charged before a weight counts; their texts alone answer.
func TestLevelsAreCharged(t *testing.T) {
	texts := textsOf(t, aRow, "id,x,k,g,y\n"+rows(0, 200, "a")+rows(500, 300, "b")+rows(900, 1, "c"))
	q := privacy.LevelQuery{Column: "g", Noise: 10, Delta: 1e-7}
	for _, rel := range []event.Relation{event.AddRemove, event.ZeroOut, event.Substitute} {
		c := newCurator(t, privacy.CuratorConfig{Columns: texts, Root: noise.Insecure(1), Budget: privacy.Budget{Epsilon: 1, Delta: 1e-5}, Relation: rel})
		levels, err := c.Levels("levels of g", q)
		if err != nil || len(levels) != 2 || levels[0].Name != "b" || levels[1].Name != "a" {
			t.Errorf("%s: %v, %v", rel, levels, err)
		}
		l := c.Ledger()
		if len(l.Entries) != 1 || !event.Equal(l.Entries[0].Event, q.Event(rel)) || l.Entries[0].Purpose != "levels of g" {
			t.Errorf("%s: ledger %+v", rel, l.Entries)
		}
		if d, err := accountant.Delta(l.Event(), rel, 20); err != nil || math.Abs(d.Upper/q.Delta-1) > 1e-6 {
			t.Errorf("%s: delta %v, %v at a large epsilon", rel, d.Upper, err)
		}
	}
	poor := newCurator(t, privacy.CuratorConfig{Columns: texts, Root: noise.Insecure(1), Budget: privacy.Budget{Epsilon: 0.1, Delta: 1e-5}, Relation: event.AddRemove})
	var over *privacy.BudgetError
	if _, err := poor.Levels("levels", q); !errors.As(err, &over) || len(poor.Ledger().Entries) > 0 {
		t.Errorf("%v, ledger %+v", err, poor.Ledger().Entries)
	}
	for name, wrong := range map[string]privacy.LevelQuery{
		"another column": {Column: "x", Noise: 1, Delta: 0.1}, "no noise": {Column: "g", Delta: 0.1}, "no delta": {Column: "g", Noise: 1},
		"a delta without a proof": {Column: "g", Noise: 1, Delta: 0.5},
	} {
		if _, err := levelsCurator(t, texts, 1, event.AddRemove).Levels("levels", wrong); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := levelsCurator(t, columnsOf(t, survey(t, aRow), "id,x,k,g,y\n"+rows(0, 9, "a")), 1, event.AddRemove).Levels("levels", q); err == nil {
		t.Error("columns without texts are accepted")
	}
}

// Only texts that can stand in every file of a release are levels.
func TestOddTextsAreNoLevels(t *testing.T) {
	odd := []string{"", " ", "NA", "NaN", "a\x00b", "\xff\xfe", "a\u202eb", "\ufeffa", "\x1b[31m", "=1+1", "@x", "+cmd", "-cmd", strings.Repeat("x", 101), "\u2028", `"a` + "\n" + `b"`, "\u200b"}
	sound := map[string]string{" b ": "b", "b": "b", `"a, b"`: "a, b", "-1": "-1", "é": "é", "<b>": "<b>", "a: b": "a: b", strings.Repeat("y", 100): strings.Repeat("y", 100), "1.0": "1.0", "1": "1"}
	text, want := "id,x,k,g,y\n", map[string]float64{}
	for i, cell := range odd {
		text += fmt.Sprintf("o%d,1,1,%s,1\n", i, cell)
	}
	for _, cell := range slices.Sorted(maps.Keys(sound)) {
		text += fmt.Sprintf("s%s,1,1,%s,1\n", "x", cell)
		want[sound[cell]]++
	}
	got, err := privacy.WeighTexts(textsOf(t, aRow, text), "g")
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v\n%v\nwant\n%v", err, got, want)
	}
}
