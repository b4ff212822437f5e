package table1

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"d3p/internal/models"
	"d3p/internal/models/law"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/privacy/accountant"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// cohort reads a number whose declared bounds are far too wide, one on the logarithm,
// a count with few values, one with many, levels with a rare reference, and an outcome.
func cohort(t *testing.T) *models.Model {
	t.Helper()
	return modelstest.Compile(t, "cohort.yaml", `d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: 4000}
  columns:
    age: {type: real, lower: -500, upper: 500}
    income: {type: real, lower: 1, upper: 1000000, transform: log}
    visits: {type: integer, lower: 0, upper: 12}
    days: {type: integer, lower: 0, upper: 400, missing: {impute: 5}}
    group: {type: category, levels: [a, b, c]}
    y: {type: binary}
model:
  formula: y ~ 1 + age + income + visits + days + group
  family: bernoulli
`)
}

// records are n rows: age and income are correlated by 0.8, groups are 2, 38 and 60 %,
// days are missing in 10 % of the rows.
func records(t *testing.T, n int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("age,income,visits,days,group,y\n")
	for range n {
		z := rng.NormFloat64()
		age, income := 54+9.4*z, math.Exp(9+0.7*(0.8*z+0.6*rng.NormFloat64()))
		visits := min(int(rng.ExpFloat64()*2), 12)
		days := fmt.Sprint(int(30 + 8*rng.NormFloat64()))
		if rng.Float64() < 0.1 {
			days = ""
		}
		group, u := "c", rng.Float64()
		if u < 0.02 {
			group = "a"
		} else if u < 0.4 {
			group = "b"
		}
		y := 0
		if z+rng.NormFloat64() > 0.5 {
			y = 1
		}
		fmt.Fprintf(&b, "%.3f,%.3f,%d,%s,%s,%d\n", age, income, visits, days, group, y)
	}
	path := tableFile(t, b.String())
	return path
}

// tableFile is a CSV file with this text.
func tableFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func buy(t *testing.T, m *models.Model, data string, epsilon float64, p *Plan, seed uint64, rel event.Relation) (*law.Law, privacy.Ledger) {
	t.Helper()
	cfg := privacy.TableConfig{Data: data, Encoding: m.Encoding, Root: noise.Insecure(seed)}
	c, err := privacy.NewCurator(privacy.CuratorConfig{Columns: privacy.NewColumns(cfg), Root: noise.Insecure(seed),
		Budget: privacy.Budget{Epsilon: epsilon, Delta: 1e-5}, Relation: rel})
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.Buy(c, m)
	if err != nil {
		t.Fatal(err)
	}
	return l, c.Ledger()
}

func muOf(epsilon float64, rel event.Relation) float64 {
	mu := accountant.GaussianMu(accountant.Target{Epsilon: epsilon, Delta: 1e-5})
	if rel == event.Substitute {
		mu /= 2
	}
	return mu
}

// The law is that of the records, within its noise: where numbers lie in a hundredth of
// their bounds, what is rare, what is missing, what goes together.
func TestBoughtLaw(t *testing.T) {
	m, data := cohort(t), records(t, 4000)
	for seed := range uint64(20) {
		const epsilon = 4
		p := Auto(m, muOf(epsilon, event.AddRemove), 4000, event.AddRemove)
		if p == nil || p.Share > 0.0601 {
			t.Fatalf("plan %+v", p)
		}
		l, _ := buy(t, m, data, epsilon, p, seed, event.AddRemove)
		within := func(what string, got, want, by float64) {
			if !(math.Abs(got-want) <= by) {
				t.Errorf("seed %d: %s is %.4g, want %.4g +- %.2g", seed, what, got, want, by)
			}
		}
		within("units", l.Records, 4000, 6*l.RecordsSD)
		for name, want := range map[string][2]float64{"age": {54, 9.4}, "income": {9, 0.7}, "days": {29.5, 8}, "visits": {1.54, 1.95}} {
			mean, sd := l.Column(name).Moments()
			meanSD, sdSD := l.Column(name).MomentsSD()
			within("mean of "+name, mean, want[0], 0.05*want[1]+5*meanSD)
			within("sd of "+name, sd, want[1], 0.12*want[1]+5*sdSD)
			within("noise of the mean of "+name, meanSD, 0, 0.1*want[1])
			if !(meanSD > 0) {
				t.Errorf("the mean of %s has no noise", name)
			}
		}
		group := l.Column("group")
		for i, want := range []float64{0.02, 0.38, 0.6} {
			within("share of group "+fmt.Sprint(i), group.Shares[i], want, 0.03+5*group.ShareSD[i])
		}
		within("days missing", l.Column("days").Missing, 0.1, 0.02+5*l.Column("days").MissingSD)
		k := len(l.Columns)
		within("correlation of age and income", l.Correlation[1], 0.8, 0.1+4*l.CorrelationSD[1])
		within("correlation of age and days", l.Correlation[3], 0, 0.05+5*l.CorrelationSD[3])
		within("correlation of age and y", l.Correlation[5], math.Sqrt(0.5), 0.1+4*l.CorrelationSD[5])
		within("noise of a correlation", l.CorrelationSD[1], 0, 0.15)
		values := make([][]float64, k)
		for i := range values {
			values[i] = make([]float64, 1000)
		}
		l.Draw(values, testRand{rand.New(rand.NewPCG(3, 4))}) // a matrix that is not positive panics
	}
}

type testRand struct{ *rand.Rand }

func (r testRand) Normal() float64  { return r.NormFloat64() }
func (r testRand) Uniform() float64 { return r.Float64() }

// The ledger follows the plan, one entry a release, under every relation; all of it
// together takes the planned share of μ².
func TestPurchaseCostsItsShare(t *testing.T) {
	m, data := cohort(t), records(t, 300)
	for _, rel := range event.Relations() {
		for _, share := range []float64{0.03, 0.4} {
			const epsilon = 2
			mu := muOf(epsilon, rel)
			p := Of(m, share, mu, 1000, rel)
			_, spent := buy(t, m, data, epsilon, p, 1, rel)
			if len(p.Releases) < 3 || len(spent.Entries) != len(p.Releases) {
				t.Fatalf("%s: %d entries", rel, len(spent.Entries))
			}
			took := 0.0
			for i, e := range spent.Entries {
				g := e.Event.(event.Gaussian)
				if e.Purpose != string(p.Releases[i].Kind) || g != p.Events()[i] {
					t.Errorf("%s: entry %d is %q, %v, planned is %q, %v", rel, i, e.Purpose, g, p.Releases[i].Kind, p.Events()[i])
				}
				took += 1 / (g.NoiseMultiplier * g.NoiseMultiplier)
			}
			if math.Abs(took/(share*mu*mu)-1) > 1e-9 {
				t.Errorf("%s: %g of μ² was spent, want %g", rel, took/(mu*mu), share)
			}
		}
	}
}

// Nothing is bought where it would say nothing, little where little is enough.
func TestAuto(t *testing.T) {
	m := cohort(t)
	share := func(epsilon float64, records int) float64 {
		p := Auto(m, muOf(epsilon, event.AddRemove), records, event.AddRemove)
		if p == nil {
			return 0
		}
		return p.Share
	}
	if got := share(0.3, 300); got != 0 {
		t.Errorf("300 records at epsilon 0.3: share %g", got)
	}
	if got := share(1, 400); got < 0.1 || got > 0.4 {
		t.Errorf("400 records at epsilon 1, few: share %g", got)
	}
	if few := models.LeastPerNumber*m.P - 1; share(2, few) != 0 || share(2, few+1) < 0.04 {
		t.Errorf("%d records for %d numbers at epsilon 2: share %g, of one more %g", few, m.P, share(2, few), share(2, few+1))
	}
	if got := share(1, 4000); got < 0.02 || got > 0.0701 {
		t.Errorf("4000 records at epsilon 1: share %g", got)
	}
	if got := share(1, 1000000); got < 0.02 || got > 0.0701 {
		t.Errorf("a million records at epsilon 1, rare levels: share %g", got)
	}
	if got := share(20, 1000000); got == 0 || got > 0.005 {
		t.Errorf("a million records at epsilon 20: share %g", got)
	}
	numbers := oneColumn(t, 50000, "real", 0, 10)
	if p := Auto(numbers, muOf(1, event.AddRemove), 50000, event.AddRemove); p.release(Counts).Noise > 0.003*50000 || p.Share > 0.012 {
		t.Errorf("50,000 records without levels at epsilon 1: counts with noise %g for a share of %g", p.release(Counts).Noise, p.Share)
	}
	twin := modelstest.Compile(t, "twin.yaml", "d3p: 1\ndata:\n  unit: {entity: patient, rows_per_unit: 1}\n  rows: {public: 4000}\n  columns:\n    a: {type: binary}\n    b: {type: binary}\ntwin:\n  components: 3\n")
	if p := Auto(twin, 0.25, 4000, event.AddRemove); p == nil || math.Abs(p.Share-0.26) > 1e-9 {
		t.Errorf("a mixture buys %+v, want 26 %% of the budget", p)
	}
	if p := Auto(twin, 4, 1000000, event.AddRemove); p == nil || p.Share > 0.001 {
		t.Errorf("a mixture of a million records buys %+v", p)
	}
	if p := Auto(twin, 0.25, 100, event.AddRemove); p != nil {
		t.Errorf("a mixture of 100 records buys %+v", p)
	}
}

// Tables of nothing, of one value, or of what no declaration admits give a law, too, in
// which every number is finite.
func TestLawOfBadTables(t *testing.T) {
	m := cohort(t)
	for name, text := range map[string]string{
		"empty": "", "one": "1,1,1,1,a,1\n", "malformed": strings.Repeat("1,2\n", 100), "missing": strings.Repeat(",,,,,\n", 2000),
		"outside": strings.Repeat("1e300,-1e300,99999,-5,zz,7\n", 2000), "constant": strings.Repeat("3,100,2,9,b,0\n", 4000),
	} {
		path := tableFile(t, "age,income,visits,days,group,y\n"+text)
		for seed := range uint64(5) {
			l, _ := buy(t, m, path, 1, Of(m, 0.4, muOf(1, event.AddRemove), 1000, event.AddRemove), seed, event.AddRemove)
			for i := range l.Columns {
				c := &l.Columns[i]
				sum := 0.0
				for _, x := range c.Shares {
					if !(x >= 0) {
						t.Fatalf("%s: share %g of %s", name, x, c.Name)
					}
					sum += x
				}
				if math.Abs(sum-1) > 1e-9 || !(c.Missing >= 0 && c.Missing <= 1) {
					t.Errorf("%s: shares of %s add up to %g, missing is %g", name, c.Name, sum, c.Missing)
				}
				if c.Edges != nil {
					if mean, sd := c.Moments(); math.IsNaN(mean) || !(sd >= 0) {
						t.Errorf("%s: moments of %s are %g, %g", name, c.Name, mean, sd)
					}
				}
			}
			for _, r := range Rows(l, &m.Spec.Data) {
				if r.Low != nil && !(*r.Low <= r.Value && r.Value <= *r.High && !math.IsInf(*r.High-*r.Low, 0)) {
					t.Errorf("%s: %s of %s is %g, between %g and %g", name, r.Statistic, r.Column, r.Value, *r.Low, *r.High)
				}
			}
			values := make([][]float64, len(l.Columns))
			for i := range values {
				values[i] = make([]float64, 50)
			}
			l.Draw(values, testRand{rand.New(rand.NewPCG(3, 4))})
		}
	}
}
