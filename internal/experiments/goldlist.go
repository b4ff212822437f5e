package main

import (
	"math"
	"path/filepath"
	"strconv"
)

// golds are the references of gold-posteriors, all of them. Flat priors become
// normal priors far wider than the posterior.
var golds = []gold{
	kidiq.gold("kidiq-kidscore_momhsiq", nil),
	earnings.gold("earnings-logearn_interaction_z", earningsDesign),
	mesquite.gold("mesquite-logmesquite_logvas", mesquiteDesign),
	nes.gold("nes1980-nes", nesDesign),
	sblri.gold("sblri-blr", nil),
	wells.gold("wells-dist100ars-logit", wellsDesign),
	abaloneGold.gold("abalone-dpvi-logit", abaloneDesign),
	adultGold.gold("adult-logit", adultGoldDesign),
	contraceptionGold,
	radonGold,
	schoolsGold,
	mixtureGold,
}

var (
	kidiq = regression{name: "kidiq", family: "normal", lower: -1e3, upper: 1e3, intercept: true,
		response:   predictor{"kid_score", 85, 20},
		predictors: []predictor{{"mom_hs", 0.8, 0.4}, {"mom_iq", 100, 15}},
		priorB:     "normal(0, 100)", priorSigma: "half_cauchy(0.125)"}
	earnings = regression{name: "earnings", family: "normal", lower: -1e3, upper: 1e3, intercept: true,
		response:   predictor{"y", 9.5, 1},
		predictors: []predictor{{"z", 0, 1}, {"male", 0.4, 0.5}, {"zmale", 0.3, 0.7}},
		priorB:     "normal(0, 100)", priorSigma: "half_normal(100)"}
	mesquite = regression{name: "mesquite", family: "normal", lower: -1e3, upper: 1e3, intercept: true,
		response:   predictor{"y", 5, 1},
		predictors: []predictor{{"x1", 1, 1.5}, {"x2", 1, 1.2}, {"x3", 0.3, 0.2}, {"x4", 0.3, 0.4}, {"x5", 0.4, 0.7}, {"x6", 0.5, 0.5}},
		priorB:     "normal(0, 100)", priorSigma: "half_normal(100)"}
	nes = regression{name: "nes", family: "normal", lower: -1e3, upper: 1e3, intercept: true,
		response: predictor{"y", 3.5, 2},
		predictors: []predictor{{"ideo", 4, 1.3}, {"race", 1.2, 0.4}, {"age2", 0.3, 0.5}, {"age3", 0.3, 0.5}, {"age4", 0.2, 0.4},
			{"educ", 2.5, 1}, {"gender", 1.5, 0.5}, {"income", 3, 1}},
		priorB: "normal(0, 100)", priorSigma: "half_normal(100)"}
	sblri = regression{name: "sblri", family: "normal", lower: -1e5, upper: 1e5,
		response:   predictor{"y", 0, 100},
		predictors: []predictor{{"X1", 0, 100}, {"X2", 0, 100}, {"X3", 0, 100}, {"X4", 0, 100}, {"X5", 0, 100}},
		priorB:     "normal(0, 10)", priorSigma: "half_normal(0.1)"}
	wells = regression{name: "wells", family: "bernoulli", lower: -1e3, upper: 1e3, intercept: true,
		response:   predictor{name: "y"},
		predictors: []predictor{{"dist100", 0.5, 0.4}, {"arsenic", 1.6, 1.1}},
		priorB:     "normal(0, 100)"}
	abaloneGold = regression{name: "abalone", family: "bernoulli", lower: -1e3, upper: 1e3,
		response: predictor{name: "y"}, predictors: unit(numbered("x", 8)), priorB: "normal(0, 1)"}

	adultGold = regression{name: "adult", family: "bernoulli", lower: -10, upper: 10, intercept: true,
		response: predictor{name: "y"}, predictors: unit(numbered("x", 7)), priorB: "normal(0, 5)"}
)

// gold compares a regression with its reference. design turns the stored table into the
// fitted one (nil: as stored).
func (r regression) gold(folder string, design func(data string) (table, error)) gold {
	if design == nil {
		design = func(data string) (table, error) {
			return readTable(filepath.Join(data, "gold-posteriors", folder, "data.csv"))
		}
	}
	return gold{folder: folder, load: design, model: r.yaml, names: r.names()}
}

func unit(names []string) []predictor {
	out := make([]predictor, len(names))
	for i, n := range names {
		out[i] = predictor{n, 0, 1}
	}
	return out
}

func number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

// design reads a table and computes a new one, row by row.
func design(path string, header []string, row func(get func(name string) float64) []float64) (table, error) {
	in, err := readTable(path)
	if err != nil {
		return table{}, err
	}
	at := map[string]int{}
	for j, h := range in.header {
		at[h] = j
	}
	out := table{header: header}
	for _, r := range in.rows {
		out.rows = append(out.rows, row(func(name string) float64 { return r[at[name]] }))
	}
	return out, nil
}

func earningsDesign(data string) (table, error) {
	path := filepath.Join(data, "gold-posteriors", "earnings-logearn_interaction_z", "data.csv")
	in, err := readTable(path)
	if err != nil {
		return table{}, err
	}
	heights, err := in.column("height")
	if err != nil {
		return table{}, err
	}
	mean, se := meanSE(heights)
	sd := se * math.Sqrt(float64(len(heights)))
	return design(path, []string{"y", "z", "male", "zmale"}, func(get func(string) float64) []float64 {
		z := (get("height") - mean) / sd
		return []float64{math.Log(get("earn")), z, get("male"), z * get("male")}
	})
}

func mesquiteDesign(data string) (table, error) {
	path := filepath.Join(data, "gold-posteriors", "mesquite-logmesquite_logvas", "data.csv")
	return design(path, []string{"y", "x1", "x2", "x3", "x4", "x5", "x6"}, func(get func(string) float64) []float64 {
		d1, d2 := get("diam1"), get("diam2")
		return []float64{math.Log(get("weight")), math.Log(d1 * d2 * get("canopy_height")), math.Log(d1 * d2), math.Log(d1 / d2),
			math.Log(get("total_height")), math.Log(get("density")), get("group")}
	})
}

func nesDesign(data string) (table, error) {
	path := filepath.Join(data, "gold-posteriors", "nes1980-nes", "data.csv")
	header := []string{"y", "ideo", "race", "age2", "age3", "age4", "educ", "gender", "income"}
	return design(path, header, func(get func(string) float64) []float64 {
		age := get("age_discrete")
		return []float64{get("partyid7"), get("real_ideo"), get("race_adj"), indicator(age == 2), indicator(age == 3), indicator(age == 4),
			get("educ1"), get("gender"), get("income")}
	})
}

func wellsDesign(data string) (table, error) {
	return design(filepath.Join(data, "wells", "wells.csv"), []string{"dist100", "arsenic", "y"}, func(get func(string) float64) []float64 {
		return []float64{get("dist") / 100, get("arsenic"), get("switched")}
	})
}

func abaloneDesign(data string) (table, error) {
	r, err := loadAbalone(filepath.Dir(data))
	if err != nil {
		return table{}, err
	}
	return r[0].train, nil
}

func adultGoldDesign(data string) (table, error) {
	header, cells, err := readCells(filepath.Join(data, "adult", "train.csv"))
	if err != nil {
		return table{}, err
	}
	j, err := index(header, "age", "education_num", "hours_per_week", "capital_gain", "capital_loss", "sex", "marital_status", "income")
	if err != nil {
		return table{}, err
	}
	t := table{header: append(numbered("x", 7), "y")}
	for _, row := range cells {
		t.rows = append(t.rows, []float64{
			number(row[j[0]]) / 90, number(row[j[1]]) / 16, number(row[j[2]]) / 99,
			math.Log1p(number(row[j[3]])) / math.Log(100000), math.Log1p(number(row[j[4]])) / math.Log(5001),
			indicator(row[j[5]] == "Male"), indicator(row[j[6]] == "Married-civ-spouse"), indicator(row[j[7]] == ">50K"),
		})
	}
	return t, nil
}
