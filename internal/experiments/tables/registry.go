package tables

import (
	"fmt"
	"math"

	"d3p/internal/privacy/noise"
)

const registryModel = `d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: %d}
  columns:
    kg: {type: real, lower: 30, upper: 250}
    lb: {type: integer, lower: 60, upper: 560}
    height: {type: real, lower: 120, upper: 220}
    bmi: {type: real, lower: 8, upper: 90}
    obese: {type: binary, levels: ["0", "1"]}
    stage: {type: ordinal, levels: [I, II, III, IV]}
    grade: {type: integer, lower: 1, upper: 9}
    therapy: {type: category, levels: [none, surgery, radiation, drugs, all]}
    drug: {type: category, levels: 1..40}
    marker_a: {type: real, lower: 0, upper: 5000}
    marker_b: {type: real, lower: 0, upper: 5000}
    marker_c: {type: real, lower: 0, upper: 100}
    share: {type: real, lower: 0, upper: 1}
    version: {type: category, levels: [v1, v2, v3]}
    country: {type: category, levels: 1..30}
    site: {type: category, levels: 1..90}
    year: {type: integer, lower: 1990, upper: 2025}
    relapse: {type: binary, levels: ["0", "1"]}
  missing: {default: model}
twin:
  engine: marginals
  constraints: ["stage != 'IV' or therapy != 'none'"]
`

// registry simulates patients whose columns repeat each other: kilograms and pounds,
// body mass index and obesity, stage and grade, two markers that are copies but for noise, a
// site that lies in a country. One level is never used, one share has masses at 0 and 1.
func registry(n int, random *noise.Random) (header []string, rows [][]string) {
	header = []string{"kg", "lb", "height", "bmi", "obese", "stage", "grade", "therapy", "drug", "marker_a", "marker_b", "marker_c", "share", "version", "country", "site", "year", "relapse"}
	chance := func(p float64) bool { return random.Uniform() < p }
	for range n {
		height := math.Round(10*clamp(170+10*random.Normal(), 120, 220)) / 10
		bmi := clamp(20+math.Exp(1.6+0.6*random.Normal()), 12, 80)
		kg := math.Round(10*clamp(bmi*height*height/1e4, 30, 250)) / 10
		bmi = math.Round(10*kg/height/height*1e4) / 10
		sick := random.Normal()
		stage := clamp(math.Floor(1.4+sick+0.4*random.Normal()), 0, 3)
		grade := clamp(2*stage+1+float64(rank(3, 1, random)), 1, 9)
		therapy := []string{"none", "surgery", "radiation", "drugs", "all"}[int(clamp(stage+float64(rank(2, 1, random)), 0, 4))]
		if stage == 3 && therapy == "none" {
			therapy = "all"
		}
		drug := ""
		if therapy == "drugs" || therapy == "all" {
			drug = fmt.Sprint(1 + rank(40, 3, random))
		}
		a := 0.0
		if chance(0.8) {
			a = math.Round(10*min(5000, math.Exp(3+1.3*sick+0.8*random.Normal()))) / 10
		}
		b := math.Round(10*clamp(a*(1+0.05*random.Normal()), 0, 5000)) / 10
		c := math.Round(10*clamp(30+12*random.Normal()+4*sick*sick, 0, 100)) / 10 // the relation has no slope
		share := math.Round(1000*logistic(1.2*sick+1.5*random.Normal())) / 1000
		if chance(0.25) {
			share = one(chance(0.4))
		}
		country := rank(30, 2.5, random)
		site := 1 + 3*country + rank(3, 1.5, random)
		year := 1990 + math.Floor(36*math.Pow(random.Uniform(), 0.7))
		relapse := chance(logistic(-1.5 + 1.1*sick + 0.4*one(bmi > 30) - 0.03*(year-2010) - 0.5*one(therapy == "all")))
		row := []string{number(kg), fmt.Sprint(math.Round(kg * 2.2046)), number(height), number(bmi), fmt.Sprint(one(bmi > 30)),
			[]string{"I", "II", "III", "IV"}[int(stage)], number(grade), therapy, drug, number(a), number(b), number(c), number(share),
			pick(year < 2008, "v1", "v2"), fmt.Sprint(1 + country), fmt.Sprint(site), number(year), fmt.Sprint(one(relapse))}
		if chance(0.1) {
			row[9], row[10] = "", ""
		}
		if year < 2000 {
			row[11] = ""
		}
		rows = append(rows, row)
	}
	return header, rows
}
