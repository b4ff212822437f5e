package privacy_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
	"d3p/internal/stattest"
	"d3p/internal/table1"
)

// logisticDraw is one of y on the design, in the columns of survey.
func logisticDraw(products [][]privacy.Reading, mean, sd []float64, sigma float64) privacy.LogisticDraw {
	return privacy.LogisticDraw{
		Purpose: "fit", Noise: sigma, Most: 1, Logistic: privacy.Logistic{
			Products: products, Response: privacy.Reading{Column: "y", Level: privacy.Number, By: 1}, Outcome: privacy.Comparison{Operator: ">", Number: 0.5},
			Mean: mean, SD: sd, Records: 20,
		},
	}
}

// curatorOf is a curator of columns whose noise has a known seed.
func curatorOf(t *testing.T, columns *privacy.Columns, epsilon float64, seed uint64) *privacy.Curator {
	t.Helper()
	c, err := privacy.NewCurator(privacy.CuratorConfig{
		Columns: columns, Root: noise.Insecure(seed), Budget: privacy.Budget{Epsilon: epsilon, Delta: 1e-5}, Relation: event.AddRemove,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// squareGrid has the middles of n×n squares from -reach to reach.
func squareGrid(n int, reach float64) (points [][]float64) {
	at := func(i int) float64 { return reach * (2*(float64(i)+0.5)/float64(n) - 1) }
	for i := range n {
		for j := range n {
			points = append(points, []float64{at(i), at(j)})
		}
	}
	return points
}

// logisticLaw is the law of a draw on a grid.
func logisticLaw(t *testing.T, unit, text string, m privacy.LogisticDraw, points [][]float64) []float64 {
	t.Helper()
	u, err := privacy.LogisticEnergy(columnsOf(t, survey(t, unit), "id,x,k,g,y\n"+text), m, points)
	if err != nil {
		t.Fatal(err)
	}
	for i := range u {
		u[i] = -u[i]
	}
	return normalise(u)
}

// hockeyStick is δ(ε) of p against q.
func hockeyStick(p, q []float64, epsilon float64) float64 {
	sum := 0.0
	for i, x := range p {
		sum += max(0, x-math.Exp(epsilon)*q[i])
	}
	return sum
}

// ofGaussian is δ(ε) of μ-Gaussian differential privacy.
func ofGaussian(mu, epsilon float64) float64 {
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	return normal(mu/2-epsilon/mu) - math.Exp(epsilon)*normal(-mu/2-epsilon/mu)
}

// A unit, whatever its rows hold, changes the law of a draw by no more than the Gaussian in
// the ledger, at every ε. The worst unit reaches it: one whose outcome the prior excludes, so
// that its log likelihood is linear.
func TestOneUnitChangesAnExactDrawByItsPrice(t *testing.T) {
	interval, square := line(evenGrid(-9, 9, 4000)), squareGrid(200, 7)
	for name, unit := range map[string]string{"rows": aRow, "units": threeRows} {
		rng := rand.New(rand.NewPCG(11, uint64(len(name))))
		worst := map[event.Relation]float64{}
		for trial := range 40 {
			m, points, room := hostileDraw(rng), square, 2e-4 // of the grid
			me := [2]string{hostileRows(rng, "me", 1+rng.IntN(4)), hostileRows(rng, "me", 1+rng.IntN(4))}
			if trial%4 == 0 {
				m, points, room = improbable(trial), interval, 1e-6
				me = [2]string{strings.Repeat("me,4,0,a,1\n", 3), strings.Repeat("me,-4,0,a,1\n", 3)}
			}
			if name == "rows" {
				for i := range me {
					me[i], _, _ = strings.Cut(me[i], "\n")
					me[i] += "\n"
				}
			}
			var others strings.Builder
			for i := range rng.IntN(4) {
				others.WriteString(hostileRows(rng, fmt.Sprintf("u%d", i), 1+rng.IntN(4)))
			}
			base := logisticLaw(t, unit, others.String(), m, points)
			first, second := logisticLaw(t, unit, others.String()+me[0], m, points), logisticLaw(t, unit, others.String()+me[1], m, points)
			for rel, pair := range map[event.Relation][2][]float64{event.AddRemove: {base, first}, event.Substitute: {first, second}, event.ZeroOut: {first, base}} {
				mu := 1 / m.Noise
				if rel == event.Substitute {
					mu = 2 / m.Noise
				}
				for _, epsilon := range []float64{0, 0.3, 1, 2} {
					most := max(hockeyStick(pair[0], pair[1], epsilon), hockeyStick(pair[1], pair[0], epsilon))
					bound := ofGaussian(mu, epsilon)
					if most > bound+room {
						t.Fatalf("%s, %s, trial %d: delta(%g) is %.6g, the price %.6g", name, rel, trial, epsilon, most, bound)
					}
					worst[rel] = max(worst[rel], most/bound)
				}
			}
		}
		for _, rel := range event.Relations() {
			if least := map[event.Relation]float64{event.AddRemove: 0.99, event.Substitute: 0.5, event.ZeroOut: 0.99}[rel]; worst[rel] < least {
				t.Errorf("%s, %s: no unit shows more than %.2g of the price: the test sees nothing", name, rel, worst[rel])
			}
		}
	}
}

// hostileDraw has two coefficients and any prior.
func hostileDraw(rng *rand.Rand) privacy.LogisticDraw {
	x, k := privacy.Reading{Column: "x", Level: privacy.Number, By: 1}, privacy.Reading{Column: "k", Level: privacy.Number, By: 0.2}
	return logisticDraw([][]privacy.Reading{{x}, {k}}, []float64{2 * rng.NormFloat64(), 0}, []float64{math.Exp(rng.NormFloat64()), 1}, 1.25)
}

// improbable has a prior by which one sign of x excludes the outcome, or with a mean of 0
// one so wide that each sign has a half of the line on which it does.
func improbable(trial int) privacy.LogisticDraw {
	mean := -60.0
	if trial%8 == 0 {
		mean = 0
	}
	return logisticDraw([][]privacy.Reading{{{Column: "x", Level: privacy.Number, By: 0.01}}}, []float64{mean}, []float64{1}, 1.25)
}

// A draw follows the law of its definition, computed here from the file.
func TestExactDrawFollowsItsLaw(t *testing.T) {
	text := "id,x,k,g,y\n" + "p,1,0,a,1\n" + "q,-2,0,a,1\n" + "r,3,0,a,0\n" + "s,9,0,a,0\n" + "t,0.5,0,a,\n" // the last two are rejected
	x := privacy.Reading{Column: "x", Level: privacy.Number, Center: 1, By: 2}
	m := logisticDraw([][]privacy.Reading{{x}}, []float64{0.5}, []float64{3}, 0.5)
	slope, err := m.Slope(1)
	if err != nil {
		t.Fatal(err)
	}
	if slope >= 2 || slope < 2*(1-1e-6) {
		t.Errorf("slope %.10g, want nearly 2", slope)
	}
	grid := evenGrid(-20, 20, 8001)
	log := make([]float64, len(grid))
	for i, b := range grid {
		log[i] = -(b - 0.5) * (b - 0.5) / 18
		for _, row := range [][2]float64{{0, 1}, {-1.5, 1}, {1, -1}} {
			if row[0] != 0 { // else its slope is 0, and so is its share of the law
				log[i] -= min(1, slope/(3*math.Abs(row[0]))) * math.Log1p(math.Exp(-row[1]*row[0]*b))
			}
		}
	}
	p := normalise(log)
	cdf, total := make([]float64, len(p)), 0.0
	for i := range p {
		cdf[i] = total + p[i]/2
		total += p[i]
	}
	columns := columnsOf(t, survey(t, aRow), text)
	var draws []float64
	for i := range 1000 {
		draw, err := curatorOf(t, columns, 20, uint64(i+1)).DrawLogistic(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		draws = append(draws, draw[0])
	}
	stattest.Require(t, "the law of a draw", stattest.KolmogorovSmirnov(draws, func(x float64) float64 {
		at := min(max((x+20)/40*float64(len(grid)-1), 0), float64(len(grid)-2))
		i := int(at)
		return cdf[i] + (at-float64(i))*(cdf[i+1]-cdf[i])
	}))
}

// No record is too long for a draw: a shortened one has the slope of all others, whatever its length, and a
// draw ends.
func TestLongRecordsAreShortened(t *testing.T) {
	far := func(by float64) privacy.Reading { return privacy.Reading{Column: "k", Level: privacy.Number, By: by} }
	x := privacy.Reading{Column: "x", Level: privacy.Number, By: 1}
	others := ""
	for i := range 12 {
		others += fmt.Sprintf("o%d,%d,0,a,%d\n", i, i%7-3, i%2)
	}
	for _, by := range []float64{1e-6, 1e-9, 1e-20, 1e-100, 1e-307} {
		m := logisticDraw([][]privacy.Reading{{}, {x}, {x, far(by)}}, []float64{0, 0, 0}, []float64{1, 1, 1}, 3)
		for _, record := range []string{"me,4,9,a,1\n", "me,1,1,a,0\n", "me,1,1,a,1\nyou,1,1,a,0\n"} {
			columns := columnsOf(t, survey(t, aRow), "id,x,k,g,y\n"+others+record)
			draw, err := curatorOf(t, columns, 20, 1).DrawLogistic(context.Background(), m)
			if err != nil || len(draw) != 3 || !(math.Abs(draw[2]) < 100) {
				t.Errorf("in units of %g, with %q: %v, %v", by, record, draw, err)
			}
		}
		points := [][]float64{{0, 0, -2}, {0, 0, -1}}
		whole, err := privacy.LogisticEnergy(columnsOf(t, survey(t, aRow), "id,x,k,g,y\nme,1,1,a,1\n"), m, points)
		if err != nil {
			t.Fatal(err)
		}
		slope, err := m.Slope(1)
		if rise := whole[0] - whole[1] - 1.5; err != nil || !(rise <= slope && rise > slope*(1-1e-4)) { // 1.5 is the prior's
			t.Errorf("in units of %g: the slope is %.10g, want %.10g (%v)", by, rise, slope, err)
		}
	}
}

// An exact draw is charged before it is made, and refused beyond the budget and for what is
// no logistic regression.
func TestExactDrawIsCharged(t *testing.T) {
	c := surveyor(t, "id,x,k,g,y\np,1,0,a,1\n", noise.Insecure(1), event.AddRemove)
	m := logisticDraw([][]privacy.Reading{{}}, []float64{0}, []float64{1}, 4)
	if _, err := c.DrawLogistic(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	entries := c.Ledger().Entries
	if len(entries) != 1 || entries[0].Event != event.Event(event.Gaussian{NoiseMultiplier: 4}) {
		t.Errorf("the ledger has %v", entries)
	}
	m.Noise = 0.1
	var over *privacy.BudgetError
	if _, err := c.DrawLogistic(context.Background(), m); !errors.As(err, &over) {
		t.Errorf("a second draw: %v, want a *BudgetError", err)
	}
	m.Noise, m.Records = 1e5, 1<<40
	if _, err := m.Slope(1); err == nil {
		t.Error("a draw whose rounding takes its whole budget was accepted")
	}
	for _, wrong := range []privacy.LogisticDraw{
		logisticDraw(nil, nil, nil, 4), logisticDraw([][]privacy.Reading{{}}, []float64{0}, []float64{0}, 4),
		logisticDraw([][]privacy.Reading{{}}, []float64{math.NaN()}, []float64{1}, 4), logisticDraw([][]privacy.Reading{{}}, []float64{0}, []float64{1}, 0),
		logisticDraw([][]privacy.Reading{{{Column: "nobody", By: 1}}}, []float64{0}, []float64{1}, 4),
	} {
		if _, err := c.DrawLogistic(context.Background(), wrong); err == nil || len(c.Ledger().Entries) != 1 {
			t.Errorf("%+v: %v, ledger of %d entries", wrong, err, len(c.Ledger().Entries))
		}
	}
}

// Where no weight is below 1, U is the negative log posterior of the model file: for every
// kind of column, a product, and a response that is computed.
func TestExactDrawIsOfTheModel(t *testing.T) {
	for _, formula := range []string{"y ~ 1 + x + k + g", "y ~ 1 + x*g + k", "y ~ 0 + x + k + g", "k > 2 ~ 1 + x + g", "g == 'b' ~ 1 + x", "k <= 2 ~ 1 + x", "k < 3 ~ 1 + g", "k >= 9 ~ 1 + x"} {
		intercept := `, Intercept: "normal(-1, 0.7)"`
		if strings.HasPrefix(formula, "y ~ 0") {
			intercept = ""
		}
		m := modelstest.Compile(t, "survey.yaml", `d3p: 1
data:
  unit: {entity: visit, rows_per_unit: 1}
  rows: {public: 100}
  columns:
    x: {type: real, lower: -4, upper: 4, scale: {center: 1, by: 2}, missing: {impute: 2, indicator: true}}
    k: {type: integer, lower: 0, upper: 9, transform: log1p}
    g: {type: category, levels: [a, b, c], reference: b}
    y: {type: binary, levels: [no, yes]}
  drop: [id]
model:
  formula: "`+formula+`"
  family: bernoulli
  priors: {b: "normal(0.5, 2)"`+intercept+`}
`)
		l, err := table1.LogisticOf(m)
		if err != nil {
			t.Fatal(formula, ": ", err)
		}
		text := "id,x,k,g,y\n1,1,2,a,yes\n2,-3,0,b,no\n3,,9,c,yes\n4,2,4,c,no\n5,1,1,z,yes\n6,99,3,a,\n"
		rng := rand.New(rand.NewPCG(3, uint64(len(formula))))
		var phis, thetas [][]float64
		for range 20 {
			phi, theta := make([]float64, m.P), make([]float64, m.P)
			for i, place := range l.Places {
				phi[i] = rng.NormFloat64()
				theta[place] = l.Mean[i] + l.SD[i]*phi[i]
			}
			phis, thetas = append(phis, phi), append(thetas, theta)
		}
		draw := privacy.LogisticDraw{Noise: 0.005, Most: 1, Logistic: l.Regression(20)}
		u, err := privacy.LogisticEnergy(columnsOf(t, m.Encoding, text), draw, phis)
		if err != nil {
			t.Fatal(formula, ": ", err)
		}
		log, err := privacy.PosteriorDensity(drawsFrom(t, m, text, event.AddRemove, noise.Insecure(1)), privacy.PosteriorDraw{Model: m, Epsilon: 1, Range: 1 / (1 + 1e-6)}, thetas)
		if err != nil {
			t.Fatal(formula, ": ", err)
		}
		for i := range u {
			if off := u[i] + log[i] - u[0] - log[0]; math.Abs(off) > 1e-9*(1+math.Abs(u[i])) {
				t.Errorf("%s: point %d: U is off by %g", formula, i, off)
			}
		}
	}
}
