package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The references with groups or components, in core blocks, all in the unit of
// the file.

// contraceptionGold is a logistic regression with an intercept per district.
var contraceptionGold = gold{
	folder: "contraception-hier-logit",
	load:   contraceptionDesign,
	model: func(rows int) string {
		return coreModel("contraception", rows, []string{
			"district: " + category(contraceptionDistricts()), "livch1: {type: binary}", "livch2: {type: binary}", "livch3: {type: binary}",
			real("age10"), real("age10_sq"), "urban: {type: binary}", "y: {type: binary}",
		}, `
  dims:
    coef: [livch1, livch2, livch3, age10, age10_sq, urban]
    district: levels(district)
  params:
    mu: normal(0, 2.5)
    tau: half_normal(1)
    b: normal(0, 2.5) [coef]
    z: normal(0, 1) [district]
  let:
    a: mu + tau * z
  rows:
    observe:
      y: bernoulli(logits=a[district] + columns(coef) @ b)
`)
	},
	names: append([]string{"mu", "tau", "b[livch1]", "b[livch2]", "b[livch3]", "b[age10]", "b[age10_sq]", "b[urban]"},
		elements("a", contraceptionDistricts())...),
}

// contraceptionDistricts lists the codes of the districts; 54 is not in use.
func contraceptionDistricts() []string {
	return slices.DeleteFunc(codes(61), func(code string) bool { return code == "54" })
}

func contraceptionDesign(data string) (table, error) {
	header, cells, err := readCells(filepath.Join(data, "contraception", "contraception.csv"))
	if err != nil {
		return table{}, err
	}
	j, err := index(header, "district", "livch", "age", "urban", "use")
	if err != nil {
		return table{}, err
	}
	t := table{header: []string{"district", "livch1", "livch2", "livch3", "age10", "age10_sq", "urban", "y"}}
	for _, row := range cells {
		age, children := number(row[j[2]])/10, row[j[1]]
		t.rows = append(t.rows, []float64{number(row[j[0]]), indicator(children == "1"), indicator(children == "2"), indicator(children == "3+"),
			age, age * age, indicator(row[j[3]] == "Y"), indicator(row[j[4]] == "Y")})
	}
	return t, nil
}

// radonGold is a linear regression with an intercept per county of Minnesota;
// counties are numbered in the order of their names.
var radonGold = gold{
	folder: "radon-mn-hier",
	load:   radonDesign,
	model: func(rows int) string {
		return coreModel("radon", rows, []string{
			"county: " + category(codes(radonCounties)), real("log_uppm"), real("floor"), real("y"),
		}, `
  dims:
    county: levels(county)
  params:
    mu_alpha: normal(0, 10)
    sigma_alpha: half_normal(1)
    sigma_y: half_normal(1)
    beta1_log_uppm: normal(0, 10)
    beta2_floor: normal(0, 10)
    z: normal(0, 1) [county]
  let:
    alpha: mu_alpha + sigma_alpha * z
  rows:
    observe:
      y: normal(alpha[county] + beta1_log_uppm * log_uppm + beta2_floor * floor, sigma_y)
`)
	},
	names: append([]string{"mu_alpha", "sigma_alpha", "sigma_y", "beta1_log_uppm", "beta2_floor"},
		elements("alpha", codes(radonCounties))...),
}

// radonCounties is the number of counties of Minnesota in the survey.
const radonCounties = 85

func radonDesign(data string) (table, error) {
	header, cells, err := readCells(filepath.Join(data, "radon", "radon.csv"))
	if err != nil {
		return table{}, err
	}
	j, err := index(header, "state", "county", "log_uppm", "floor", "log_radon")
	if err != nil {
		return table{}, err
	}
	cells = slices.DeleteFunc(cells, func(row []string) bool { return row[j[0]] != "MN" })
	var counties []string
	for _, row := range cells {
		counties = append(counties, row[j[1]])
	}
	slices.Sort(counties)
	counties = slices.Compact(counties)
	t := table{header: []string{"county", "log_uppm", "floor", "y"}}
	for _, row := range cells {
		code := slices.Index(counties, row[j[1]]) + 1
		t.rows = append(t.rows, []float64{float64(code), number(row[j[2]]), number(row[j[3]]), number(row[j[4]])})
	}
	return t, nil
}

// schoolsGold has one record per school, whose standard error is known.
var schoolsGold = gold{
	folder: "eight_schools-eight_schools_noncentered",
	load: func(data string) (table, error) {
		t, err := readTable(filepath.Join(data, "gold-posteriors", "eight_schools-eight_schools_noncentered", "data.csv"))
		t.header = append(t.header, "school")
		for i, row := range t.rows {
			t.rows[i] = append(row, float64(i+1))
		}
		return t, err
	},
	model: func(rows int) string {
		return coreModel("eight_schools", rows, []string{real("y"), "sigma: {type: real, lower: 1, upper: 100, scale: {center: 0, by: 1}, source: expert}",
			"school: " + category(codes(8))}, `
  dims:
    school: levels(school)
  params:
    mu: normal(0, 5)
    tau: half_cauchy(5)
    z: normal(0, 1) [school]
  let:
    theta: mu + tau * z
  rows:
    observe:
      y: normal(theta[school], sigma)
`)
	},
	names: append(elements("theta", codes(8)), "mu", "tau"),
}

// mixtureGold has two components, told apart by the order of their means;
// dirichlet of two concentrations is the beta of the reference.
var mixtureGold = gold{
	folder: "low_dim_gauss_mix-low_dim_gauss_mix",
	load: func(data string) (table, error) {
		return readTable(filepath.Join(data, "gold-posteriors", "low_dim_gauss_mix-low_dim_gauss_mix", "data.csv"))
	},
	model: func(rows int) string {
		return coreModel("low_dim_gauss_mix", rows, []string{real("y")}, `
  dims:
    k: 2
  params:
    mu: ordered_normal(0, 2) [k]
    sigma: half_normal(2) [k]
    theta: dirichlet(5) [k]
  rows:
    observe:
      y: mixture(theta, normal(mu, sigma), over=k)
`)
	},
	names: append(append(elements("mu", codes(2)), elements("sigma", codes(2))...), "theta[1]"),
}

// coreModel is a model file with these columns and core blocks.
func coreModel(name string, rows int, columns []string, core string) string {
	return fmt.Sprintf("d3p: 1\nname: %s\ndata:\n  unit: {entity: record, rows_per_unit: 1}\n  rows: {public: %d}\n  columns:\n    %s\ncore:%sprivacy:\n  neighbours: add_remove\n",
		name, rows, strings.Join(columns, "\n    "), core)
}

// real declares a column in the unit of the file, with bounds that no value
// reaches.
func real(name string) string {
	return name + ": {type: real, lower: -1000, upper: 1000, scale: {center: 0, by: 1}, source: expert}"
}

// category declares a category.
func category(levels []string) string {
	return "{type: category, levels: [\"" + strings.Join(levels, "\", \"") + "\"]}"
}

// codes are the numbers 1 to n as text.
func codes(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i + 1)
	}
	return out
}

// elements are base[label] for every label.
func elements(base string, labels []string) []string {
	out := make([]string, len(labels))
	for i, l := range labels {
		out[i] = base + "[" + l + "]"
	}
	return out
}
