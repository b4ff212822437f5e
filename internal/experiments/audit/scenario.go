package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// steep are settings under which a release shows the sum of the noisy gradients. The
// parameters are a point, and plain steps are so short that the gradients stay those of the
// start.
func steep(more ...string) []string {
	return append([]string{"--guide=delta", "--optimizer=sgd", "--averaging=0", "--clipping=flat", "--clip-norm=1", "--noise-aware=none", "--accept-risk=delta-above-1/n"}, more...)
}

const exact = "--learning-rate=1e-9"

const logisticModel = `d3p: 1
name: logistic
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    x: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}}
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: y ~ 1 + x
  family: bernoulli
`

const linearModel = `d3p: 1
name: linear
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    x: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}}
    y: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}}
model:
  formula: y ~ 1 + x
  family: normal
`

const visitsModel = `d3p: 1
name: visits
data:
  unit: {entity: person, id: id, rows_per_unit: 2, keep: first}
  rows: {public: 10}
  columns:
    days: {type: real, lower: 1, upper: 10000}
    h: {type: category, levels: [a, b, c]}
    y: {type: integer, lower: 0, upper: 20000}
  tables:
    hospitals:
      file: hospitals.csv
      public: true
      key: h
      columns:
        beds: {type: real, scale: {center: 400, by: 300}}
        size: {type: real, scale: {center: 0, by: 7}}
model:
  formula: y ~ 1 + offset(log(days)) + (1 | h)
  group_formula:
    h: 1 + beds + size
  family: poisson
  parametrisation: non_centred
`

// hospitals is the public table that visitsModel names.
const hospitals = "h,beds,size\na,2881,6\nb,300,1\nc,500,2\n"

const hierarchicalModel = `d3p: 1
name: hierarchical
data:
  unit: {entity: patient, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    x: {type: real, lower: -5, upper: 5, scale: {center: 0, by: 1}}
    h: {type: category, levels: [a, b, c, d]}
    y: {type: binary, levels: ["0", "1"]}
model:
  formula: y ~ 1 + x + (1 + x | h)
  family: bernoulli
  parametrisation: non_centred
`

const mixtureModel = `d3p: 1
name: mixture
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    x1: {type: real, lower: -10, upper: 10}
    x2: {type: real, lower: -10, upper: 10}
core:
  dims:
    k: 3
    d: [x1, x2]
  params:
    pis: dirichlet(1) [k]
    mus: normal(0, 1) [k, d]
    sigs: inverse_gamma(1, 1) [k, d]
  rows:
    observe:
      d: mixture(pis, normal(mus, sigs), over=k)
`

const networkModel = `d3p: 1
name: ring
data:
  unit: {entity: record, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    x1: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}
    x2: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}
    inside: {type: binary, levels: ["0", "1"]}
nets:
  net:
    input: [features]
    layers:
      - dense: {units: 16, activation: tanh}
      - dense: {units: 16, activation: tanh}
      - dense: {units: 1}
core:
  dims:
    features: [x1, x2]
  rows:
    observe:
      inside: bernoulli(logits=net(columns(features)))
`

const twinModel = `d3p: 1
name: twin
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    age: {type: integer, lower: 0, upper: 110}
    height: {type: real, lower: 50, upper: 230, scale: {center: 165, by: 20}}
    eye: {type: category, levels: [blue, brown, green]}
twin:
  components: 3
  features:
    age: poisson
    height: normal
    eye: categorical
`

// levelsModel has a parameter for every level and none that levels share, so canaries in
// different levels do not disturb each other.
func levelsModel(levels int) string {
	return fmt.Sprintf(`d3p: 1
name: levels
data:
  unit: {entity: person, rows_per_unit: 1}
  rows: {public: 10}
  columns:
    level: {type: category, levels: 1..%d}
    y: {type: integer, lower: 0, upper: 1000}
core:
  dims:
    level: levels(level)
  params:
    b: normal(0, 1) [level]
  rows:
    observe:
      y: poisson(exp(b[level]))
`, levels)
}

// scenarios are the attacked fits. Canaries have the longest gradients that the
// declarations allow.
func scenarios() ([]scenario, error) {
	logistic := scenario{model: logisticModel, header: "x,y", base: []string{"0,0"}, canaries: [][]string{{"5,1"}}}
	sampled := logistic
	sampled.rate = 0.3
	of := func(s scenario, name string, args ...string) scenario {
		s.name, s.args = name, args
		return s
	}
	line := scenario{model: linearModel, header: "x,y", base: []string{"0,0"}, canaries: [][]string{{"5,5"}}, whole: true}
	bounded := logistic
	bounded.model, bounded.whole = strings.Replace(logisticModel, "model:", "likelihood: {divergence: beta, beta: 1.5}\nmodel:", 1), true
	drawn := logistic
	drawn.model, drawn.whole = logisticModel+"  priors: {b: \"normal(-5, 1)\"}\n", true // so that the canary's outcome is improbable
	visits := scenario{model: visitsModel, header: "id,days,h,y", base: []string{"1,10,b,2", "2,20,c,5"}}
	visits.canaries = [][]string{{"9,10000,a,20000", "9,10000,a,4"}} // the residuals are opposite
	list := []scenario{
		of(logistic, "logistic, all records, one step", steep("--sampling=full", "--steps=1", exact)...),
		of(logistic, "logistic, all records, eight steps", steep("--sampling=full", "--steps=8", exact)...),
		of(sampled, "logistic, Poisson batches", steep("--sampling=poisson", "--sampling-rate=0.3", "--steps=8", exact)...),
		of(logistic, "logistic, the defaults"),
		of(logistic, "logistic, the sampled posterior", "--noise-aware=sample", "--accept-risk=delta-above-1/n"),
		of(line, "linear regression by its second moments", "--noise-aware=moments", "--accept-risk=delta-above-1/n"),
		of(bounded, "one draw of a posterior", "--method=one_posterior_sample", "--accept-risk=approximate-sampler,delta-above-1/n"),
		of(drawn, "one exact draw of a posterior", "--method=one_posterior_sample", "--accept-risk=delta-above-1/n"),
		of(drawn, "one exact draw of a Gibbs posterior", "--method=gibbs_posterior", "--accept-risk=delta-above-1/n"),
		of(visits, "Poisson regression, two rows a person", steep("--sampling=full", "--steps=1", exact)...),
		of(scenario{model: hierarchicalModel, header: "x,h,y", base: []string{"0,b,1"}, canaries: [][]string{{"5,a,1"}}},
			"hierarchical logistic", steep("--sampling=full", "--steps=4", exact)...),
		of(scenario{model: mixtureModel, header: "x1,x2", base: []string{"1,1"}, canaries: [][]string{{"10,-10"}}},
			"mixture", steep("--sampling=full", "--steps=4", exact)...),
		of(scenario{model: twinModel, header: "age,height,eye", base: []string{"40,170,brown"}, canaries: [][]string{{"110,230,green"}}},
			"synthetic table", steep("--sampling=full", "--steps=4", exact)...),
		of(scenario{model: networkModel, header: "x1,x2,inside", base: []string{"0,0,0"}, canaries: [][]string{{"3,3,1"}}},
			"network", steep("--sampling=full", "--steps=1", "--learning-rate=0.01", "--clip-norm=0.05")...),
		levelScenario(100),
		networkScenario(25),
	}
	for _, name := range []string{"Poisson regression, two rows a person", "hierarchical logistic", "mixture", "synthetic table"} {
		i := slices.IndexFunc(list, func(s scenario) bool { return s.name == name })
		s, err := hunted(list[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, s)
	}
	return list, nil
}

// levelScenario puts one canary into every level.
func levelScenario(levels int) scenario {
	s := scenario{name: fmt.Sprintf("%d canaries in one run, levels", levels), model: levelsModel(levels), header: "level,y",
		args: steep("--sampling=full", "--steps=1", exact), runs: 20}
	for i := range levels {
		s.canaries = append(s.canaries, []string{fmt.Sprintf("%d,1000", i+1)})
	}
	return s
}

// networkScenario has as many inputs as canaries. Each canary sets another input to its
// bound, so its gradient is mostly in other weights.
func networkScenario(inputs int) scenario {
	rng := rand.New(rand.NewPCG(1, 9))
	s := scenario{name: fmt.Sprintf("%d canaries in one run, network", inputs),
		args: steep("--sampling=full", "--steps=1", "--learning-rate=0.01", "--clip-norm=0.05"), runs: 60}
	var names []string
	var columns strings.Builder
	for i := range inputs {
		names = append(names, fmt.Sprintf("x%d", i))
		fmt.Fprintf(&columns, "    x%d: {type: real, lower: -20, upper: 20, scale: {center: 0, by: 1}}\n", i)
		row := slices.Repeat([]string{"0"}, inputs+1)
		row[i], row[inputs] = "20", strconv.Itoa(rng.IntN(2))
		s.canaries = append(s.canaries, []string{strings.Join(row, ",")})
	}
	s.header = strings.Join(append(names, "inside"), ",")
	s.model = strings.NewReplacer(
		"    x1: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}\n", "",
		"    x2: {type: real, lower: -3, upper: 3, scale: {center: 0, by: 1}}\n", columns.String(),
		"[x1, x2]", "["+strings.Join(names, ", ")+"]").Replace(networkModel)
	return s
}
