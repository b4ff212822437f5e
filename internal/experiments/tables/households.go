package tables

import (
	"fmt"
	"math"

	"d3p/internal/privacy/noise"
)

const householdsModel = `d3p: 1
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: %d}
  columns:
    age: {type: integer, lower: 0, upper: 105}
    band: {type: category, levels: [child, working, retired]}
    sex: {type: binary, levels: [female, male]}
    region: {type: category, levels: [r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11]}
    school: {type: ordinal, levels: [none, primary, secondary, college, degree]}
    hours: {type: integer, lower: 0, upper: 80}
    income: {type: real, lower: 0, upper: 500000}
    rooms: {type: integer, lower: 1, upper: 12}
    weight: {type: real, lower: 2, upper: 250}
    pressure: {type: real, lower: 50, upper: 260}
    smoker: {type: binary, levels: ["no", "yes"]}
    visits: {type: integer, lower: 0, upper: 60}
    ill: {type: binary, levels: ["no", "yes"]}
  missing: {default: model}
twin:
  engine: marginals
  constraints: ["band != 'child' or smoker == 'no'"]
privacy: {epsilon: 1}
`

// households simulates people: spikes at zero hours and income, steps at 20 and 40 hours,
// skewed incomes and counts, missing values that follow age, and a rule.
func households(n int, random *noise.Random) (header []string, rows [][]string) {
	header = []string{"age", "band", "sex", "region", "school", "hours", "income", "rooms", "weight", "pressure", "smoker", "visits", "ill"}
	chance := func(p float64) bool { return random.Uniform() < p }
	for range n {
		age := math.Floor(100 * math.Pow(random.Uniform(), 1.2) * (0.8 + 0.2*random.Uniform()))
		band := "working"
		if age < 16 {
			band = "child"
		} else if age >= 66 {
			band = "retired"
		}
		male := chance(0.49)
		region := int(12 * math.Pow(random.Uniform(), 2))
		ability := random.Normal() + 0.1*float64(6-region)/6
		school := int(min(4, max(0, math.Floor(2+ability+min(0, (age-20)/6)))))
		hours := 0.0
		if band == "working" && chance(0.78) || band == "retired" && chance(0.08) {
			hours = 40
			if chance(0.5) {
				hours = math.Round(min(80, max(5, 36+9*random.Normal())))
			} else if !male && chance(0.4) {
				hours = 20
			}
		}
		income := 0.0
		if hours > 0 || band == "retired" && chance(0.9) {
			income = math.Round(min(500000, math.Exp(9.3+0.3*float64(school)+0.012*hours+0.2*one(male)+0.4*random.Normal())))
		}
		rooms := math.Round(min(12, max(1, 3+math.Log1p(income)/8+1.3*random.Normal())))
		weight := 3 + 72*(1-math.Exp(-age/11)) + 9*one(male)*one(age > 14) + (4+0.12*min(age, 60))*random.Normal()
		pressure := 95 + 0.45*age + 0.25*(weight-60) + 11*random.Normal()
		smoker := age >= 16 && chance(1/(1+math.Exp(0.6+0.5*float64(school)-0.3*one(male)+0.02*(age-40))))
		risk := 1 / (1 + math.Exp(5.2-0.05*age-0.02*(pressure-120)-0.7*one(smoker)-0.25*float64(region%3)))
		ill := chance(risk)
		visits := math.Floor(-math.Log(random.Uniform()) * (1 + 3*one(ill) + age/60))
		row := []string{number(age), band, pick(male, "male", "female"), fmt.Sprintf("r%d", region),
			[]string{"none", "primary", "secondary", "college", "degree"}[school], number(hours), number(income), number(rooms),
			number(math.Round(min(250, max(2, weight))*10) / 10), number(math.Round(min(260, max(50, pressure)))), pick(smoker, "yes", "no"),
			number(min(60, visits)), pick(ill, "yes", "no")}
		if chance(0.25) && age < 30 {
			row[9] = ""
		}
		if chance(0.08) {
			row[6] = ""
		}
		rows = append(rows, row)
	}
	return header, rows
}
