package tables

import (
	"fmt"
	"math"

	"d3p/internal/models/data"
	"d3p/internal/privacy/noise"
)

const admissionsModel = `d3p: 1
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: %d}
  columns:
    admitted: {type: date, lower: 2012-01-01, upper: 2022-12-31}
    discharged: {type: date, lower: 2012-01-01, upper: 2023-12-31}
    year: {type: integer, lower: 2012, upper: 2022}
    days: {type: integer, lower: 0, upper: 365}
    born: {type: date, lower: 1910-01-01, upper: 2022-12-31, origin: 2012-01-01}
    sex: {type: binary, levels: [female, male]}
    ward: {type: category, levels: [internal, surgery, maternity, paediatrics, psychiatry, icu]}
    code: {type: category, levels: 1..120}
    urgency: {type: ordinal, levels: [planned, soon, urgent, emergency]}
    temperature: {type: real, lower: 30, upper: 44}
    crp: {type: real, lower: 0, upper: 600}
    lactate: {type: real, lower: 0, upper: 30}
    readmitted: {type: binary, levels: ["no", "yes"]}
  missing: {default: model}
twin:
  engine: marginals
  constraints:
    - ward != 'maternity' or sex == 'female'
    - discharged >= admitted
    - born <= admitted
`

// date is a day after 2000-01-01.
func date(day float64) string {
	return data.FormatDay(10957 + int(day))
}

// admissions simulates stays in a hospital: more each year, fewer in one spring; the discharge
// follows from the admission and the days, the year from the admission; codes are rare and
// belong to wards; laboratory values are missing together, and at their limit of detection.
func admissions(n int, random *noise.Random) (header []string, rows [][]string) {
	header = []string{"admitted", "discharged", "year", "days", "born", "sex", "ward", "code", "urgency", "temperature", "crp", "lactate", "readmitted"}
	chance := func(p float64) bool { return random.Uniform() < p }
	const first, last = 4383, 8400 // 2012-01-01, 2022-12-31
	wards := []string{"internal", "surgery", "maternity", "paediatrics", "psychiatry", "icu"}
	for len(rows) < n {
		day := first + math.Floor((last-first+1)*math.Pow(random.Uniform(), 0.8))
		if day > 7390 && day < 7480 && chance(0.6) {
			continue
		}
		male := chance(0.45)
		w := rank(6, 1.4, random)
		if w == 2 {
			male = false
		}
		age := map[int]float64{2: 30 + 5*random.Normal(), 3: 14 * random.Uniform()}[w]
		if w != 2 && w != 3 {
			age = 98 - 85*math.Pow(random.Uniform(), 0.6) + 4*random.Normal()
		}
		born := max(day-math.Floor(365.25*clamp(age, 0, 101)), -32870)
		code := 1 + 20*w + rank(20, 2.2, random)
		urgency := clamp(math.Floor(1.5+0.4*float64(w%4)+random.Normal()), 0, 3)
		severe := 0.5*urgency + 0.015*(age-50) + random.Normal()
		days := math.Floor(math.Exp(0.8 + 0.5*severe + 0.6*random.Normal()))
		if w == 2 {
			days = 2 + float64(rank(3, 1, random))
		}
		if chance(0.12) {
			days = 0
		}
		days = min(days, 365)
		temperature := math.Round(10*clamp(36.7+0.35*max(0, severe)+0.4*random.Normal(), 30, 44)) / 10
		crp := math.Round(10*min(600, math.Exp(1+0.9*severe+random.Normal()))) / 10
		if crp < 3 {
			crp = 0
		}
		lactate := math.Round(10*clamp(1+0.5*max(0, severe-1)+0.4*random.Normal(), 0.2, 30)) / 10
		readmitted := chance(logistic(-2 + 0.4*severe - 0.5*one(days == 0) + 0.6*one(w == 4)))
		row := []string{date(day), date(day + days), date(day)[:4], number(days), date(born),
			pick(male, "male", "female"), wards[w], fmt.Sprint(code), []string{"planned", "soon", "urgent", "emergency"}[int(urgency)],
			number(temperature), number(crp), number(lactate), pick(readmitted, "yes", "no")}
		if chance(logistic(0.3 - 0.8*severe)) { // nothing sent to the laboratory
			row[10], row[11] = "", ""
		}
		if chance(0.05) {
			row[9] = ""
		}
		rows = append(rows, row)
	}
	return header, rows
}
