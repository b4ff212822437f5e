package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// realTableTask fits models of public tables as a stranger declares them: bounds alone, no
// scales, levels in any order. It compares them with the posterior without privacy: the
// share of 90 % intervals that hold its mean, the number of resolved coefficients with the
// other sign, and the ratio of widths.
type realTableTask struct{}

// realTable is a public table with a model of it.
type realTable struct {
	name, file string // below data/
	model      string
}

// columnsOf opens the model file of a table with n records.
func columnsOf(name, entity string, n int) string {
	return fmt.Sprintf("d3p: 1\nname: %s\ndata:\n  unit: {entity: %s, rows_per_unit: 1}\n  rows: {public: %d}\n", name, entity, n)
}

var realTables = []realTable{
	{"wells", "wells/wells.csv", columnsOf("wells", "household", 3020) + `  columns:
    switched: {type: binary}
    arsenic: {type: real, lower: 0, upper: 20}
    dist: {type: real, lower: 0, upper: 1000}
    assoc: {type: binary}
    educ: {type: integer, lower: 0, upper: 20}
model: {formula: switched ~ arsenic + dist + assoc + educ, family: bernoulli}
`},
	{"contraception", "contraception/contraception.csv", columnsOf("contraception", "woman", 1934) + `  columns:
    district: {type: category, levels: 1..61}
    use: {type: category, levels: ["N", "Y"]}
    livch: {type: category, levels: ["0", "1", "2", "3+"]}
    age: {type: real, lower: -15, upper: 20}
    urban: {type: category, levels: ["N", "Y"]}
model: {formula: "use == 'Y' ~ age + livch + urban + (1 | district)", family: bernoulli}
`},
	{"abalone", "abalone/abalone.csv", columnsOf("abalone", "animal", 4177) + `  columns:
    sex: {type: category, levels: [F, I, M]}
    length: {type: real, lower: 0, upper: 1}
    diameter: {type: real, lower: 0, upper: 1}
    whole_weight: {type: real, lower: 0, upper: 3}
    shucked_weight: {type: real, lower: 0, upper: 2}
    rings: {type: integer, lower: 0, upper: 40}
model: {formula: rings ~ sex + length + diameter + whole_weight + shucked_weight, family: poisson}
`},
	{"nhanes pressure", "nhanes/train.csv", columnsOf("pressure", "person", 9422) + `  columns:
    Age: {type: real, lower: 18, upper: 80}
    Sex: {type: category, levels: [female, male]}
    Race1: {type: category, levels: [Black, Hispanic, Mexican, White, Other]}
    BMI: {type: real, lower: 10, upper: 80}
    Weight: {type: real, lower: 30, upper: 250}
    Height: {type: real, lower: 130, upper: 210}
    Poverty: {type: real, lower: 0, upper: 5}
    BPSysAve: {type: real, lower: 70, upper: 230}
    Diabetes: {type: category, levels: ["No", "Yes"]}
model: {formula: BPSysAve ~ Age + Sex + Race1 + BMI + Weight + Height + Poverty + Diabetes, family: normal}
`},
	{"nhanes diabetes", "nhanes/train.csv", columnsOf("diabetes", "person", 9422) + `  columns:
    Age: {type: real, lower: 18, upper: 80}
    Sex: {type: category, levels: [female, male]}
    Race1: {type: category, levels: [Black, Hispanic, Mexican, White, Other]}
    BMI: {type: real, lower: 10, upper: 80}
    TotChol: {type: real, lower: 1, upper: 15}
    DirectChol: {type: real, lower: 0.3, upper: 5}
    Pulse: {type: integer, lower: 30, upper: 140}
    Diabetes: {type: category, levels: ["No", "Yes"]}
model: {formula: "Diabetes == 'Yes' ~ Age + Sex + Race1 + BMI + TotChol + DirectChol + Pulse", family: bernoulli}
`},
	{"adult", "adult/train.csv", columnsOf("adult", "person", 32561) + `  columns:
    age: {type: integer, lower: 17, upper: 90}
    education_num: {type: integer, lower: 1, upper: 16}
    marital_status: {type: category, levels: [Married-AF-spouse, Married-civ-spouse, Divorced, Never-married, Separated, Widowed, Married-spouse-absent]}
    relationship: {type: category, levels: [Wife, Own-child, Husband, Not-in-family, Other-relative, Unmarried]}
    sex: {type: category, levels: [Female, Male]}
    capital_gain: {type: integer, lower: 0, upper: 99999}
    hours_per_week: {type: integer, lower: 1, upper: 99}
    income: {type: category, levels: ["<=50K", ">50K"]}
model: {formula: "income == '>50K' ~ age + education_num + marital_status + relationship + sex + capital_gain + hours_per_week", family: bernoulli}
`},
}

// judge implements experiment.
func (realTableTask) judge(opt options, _ []threshold, dir string, out *report) error {
	runs := cmp.Or(opt.runs, 5)
	epsilons, err := numbers(opt.epsilons, "1")
	if err != nil {
		return err
	}
	for i, t := range realTables {
		folder, data := filepath.Join(dir, strconv.Itoa(i)), filepath.Join(opt.shared, "data", t.file)
		if _, err := os.Stat(data); err != nil {
			return err
		}
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		model := filepath.Join(folder, "model.yaml")
		if err := os.WriteFile(model, []byte(t.model), 0o644); err != nil {
			return err
		}
		reference, err := fittedCoefficients(opt.d3p, data, filepath.Join(folder, "nonprivate"), "fit-nonprivate", "--model", model)
		if err != nil {
			return err
		}
		for _, epsilon := range epsilons {
			var c comparison
			for k := range runs {
				fitted, err := fittedCoefficients(opt.d3p, data, filepath.Join(folder, fmt.Sprintf("%g-%d", epsilon, k)), "fit",
					"--model", model, "--epsilon", fmt.Sprint(epsilon), "--seed", strconv.Itoa(k))
				if err != nil {
					return err
				}
				c.add(fitted, reference)
			}
			out.note(t.name, fmt.Sprint(epsilon), c.String())
		}
	}
	return nil
}

// fittedCoefficients fits with a command and reads the coefficients of the release.
func fittedCoefficients(d3p, data, run string, args ...string) (map[string]coefficient, error) {
	if err := os.RemoveAll(run); err != nil {
		return nil, err
	}
	if err := command(d3p, append(args, "--out", run, "--quiet", data)...); err != nil {
		return nil, err
	}
	all, err := readCoefficients(filepath.Join(run, "release", "summary.csv"))
	for name, c := range all {
		if !strings.HasPrefix(name, "b[") && name != "Intercept" && name != "sigma" {
			delete(all, name)
		} else if math.IsNaN(c.mean + c.sd + c.low + c.high) {
			return nil, fmt.Errorf("%s: %s has no number", run, name)
		}
	}
	return all, err
}

// comparison counts how private coefficients compare with those without privacy.
type comparison struct {
	all, hold, wrong, resolvedWrong, resolved int
	narrowest                                 float64 // smallest ratio of standard deviations
	name                                      string
	width                                     float64 // sum of log ratios
}

// add counts a fit. A sign is wrong if both 90 % intervals exclude zero on different sides.
func (c *comparison) add(fitted, reference map[string]coefficient) {
	for name, r := range reference {
		f := fitted[name]
		c.all++
		if f.low <= r.mean && r.mean <= f.high {
			c.hold++
		}
		if f.verdict == "resolved" {
			c.resolved++
		}
		if f.low > 0 && r.high < 0 || f.high < 0 && r.low > 0 {
			c.wrong++
			if f.verdict == "resolved" {
				c.resolvedWrong++
			}
		}
		ratio := f.sd / r.sd
		c.width += math.Log(ratio)
		if c.name == "" || ratio < c.narrowest {
			c.narrowest, c.name = ratio, name
		}
	}
}

func (c *comparison) String() string {
	return fmt.Sprintf("%.0f %% of %d intervals hold the mean without privacy, sd %.2f times its own (least %.2f, %s), wrong signs %d (%d called resolved), %d resolved",
		100*float64(c.hold)/float64(c.all), c.all, math.Exp(c.width/float64(c.all)), c.narrowest, c.name, c.wrong, c.resolvedWrong, c.resolved)
}
