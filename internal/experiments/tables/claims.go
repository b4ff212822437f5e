package tables

import (
	"fmt"
	"math"

	"d3p/internal/privacy/noise"
)

const claimsModel = `d3p: 1
data:
  unit: {entity: member, rows_per_unit: 1}
  rows: {public: %d}
  columns:
    born: {type: integer, lower: 1920, upper: 2010}
    age: {type: integer, lower: 14, upper: 104}
    sex: {type: binary, levels: [female, male]}
    civil: {type: category, levels: [single, married, widowed, divorced]}
    plan: {type: category, levels: [basic, plus, family, premium]}
    deductible: {type: integer, lower: 0, upper: 5000}
    region: {type: category, levels: 1..60}
    cost: {type: real, lower: 0, upper: 1000000}
    paid: {type: real, lower: 0, upper: 1000000}
    copay: {type: real, lower: 0, upper: 500}
    visits: {type: integer, lower: 0, upper: 400}
    joined: {type: date, lower: 2000-01-01, upper: 2024-12-31}
    score: {type: real, lower: -10, upper: 10}
    lapsed: {type: binary, levels: ["no", "yes"]}
  missing: {default: model}
twin:
  engine: marginals
  constraints: ["civil != 'single' or plan != 'family'"]
`

// claims simulates insured people: three of five cost nothing, the others log-normal amounts
// up to a million, cut at a limit of 50,000; the insurer pays what is above the deductible, of
// which there are five; the birth year gives the age; regions have the shares of a power law.
func claims(n int, random *noise.Random) (header []string, rows [][]string) {
	header = []string{"born", "age", "sex", "civil", "plan", "deductible", "region", "cost", "paid", "copay", "visits", "joined", "score", "lapsed"}
	chance := func(p float64) bool { return random.Uniform() < p }
	for range n {
		age := 14 + math.Floor(85*math.Pow(random.Uniform(), 1.4)+5*random.Uniform())
		born := 2024 - age - one(chance(0.3))
		male := chance(0.48)
		civil := "single"
		if chance(logistic((age - 30) / 6)) {
			civil = "married"
			if chance(0.15) {
				civil = "divorced"
			}
			if chance(logistic((age - 80) / 6)) {
				civil = "widowed"
			}
		}
		plan := "basic"
		if civil == "married" && chance(0.6) {
			plan = "family"
		} else if chance(0.3) {
			plan = pick(chance(0.15), "premium", "plus")
		}
		deductible := map[string][]float64{"basic": {1000, 2500, 5000}, "plus": {500, 1000}, "family": {500, 1000, 2500}, "premium": {0}}[plan]
		own := deductible[rank(len(deductible), 1.5, random)]
		sick := 0.03*(age-45) + random.Normal()
		cost, visits := 0.0, 0.0
		if chance(logistic(sick - 0.4)) {
			cost = math.Round(100*min(1e6, math.Exp(6+0.7*sick+1.4*random.Normal()))) / 100
			if cost > 50000 && chance(0.8) {
				cost = 50000
			}
			visits = min(400, 1+math.Floor(-math.Log(random.Uniform())*(1+math.Sqrt(cost)/12)))
		}
		paid := max(0, cost-own)
		copay := 0.0
		if cost > 0 {
			copay = []float64{20, 50, 100}[rank(3, 1.5, random)]
			if chance(0.3) {
				copay = math.Round(min(500, 0.1*cost*random.Uniform())*100) / 100
			}
		}
		day := math.Floor(9131 * (1 - math.Pow(random.Uniform(), 2)))
		if chance(0.4) { // the first of a year
			day = []float64{0, 366, 731, 1096, 1461, 1827, 2192, 2557, 2922, 3288, 3653, 4018, 4383, 4749, 5114, 5479, 5844, 6210, 6575, 6940, 7305, 7671, 8036, 8401, 8766}[rank(25, 0.6, random)]
		}
		score := clamp(0.8*sick+0.3*random.Normal(), -10, 10)
		lapsed := chance(logistic(-2.2 + 0.8*one(plan == "basic") - 0.4*score + 0.0002*(day-4500) + 0.4*one(own >= 2500)))
		row := []string{number(born), number(age), pick(male, "male", "female"), civil, plan, number(own), fmt.Sprint(1 + rank(60, 2.5, random)),
			number(cost), number(paid), number(copay), number(visits), date(day), number(math.Round(1000*score) / 1000), pick(lapsed, "yes", "no")}
		if chance(0.06) { // the file of amounts was lost
			row[7], row[8], row[9] = "", "", ""
		}
		if chance(logistic(-4 + 0.04*age)) {
			row[12] = ""
		}
		rows = append(rows, row)
	}
	return header, rows
}
