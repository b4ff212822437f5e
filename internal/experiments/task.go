package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// task is one data set with the model that the reference used.
type task struct {
	name  string // in thresholds.json
	delta float64
	runs  int // default number of fits per setting, spread over the replicates
	load  func(shared string) ([]replicate, error)
	// score turns predictions (and the fitted parameters) into metrics.
	score func(r replicate, predicted []float64, params map[string]float64) map[string]float64
	// drawn scores posterior draws of the run instead of predictions.
	drawn   func(r replicate, run string) (map[string]float64, error)
	fitArgs []string // further arguments of fit
}

// replicate is one train/test pair with its model file.
type replicate struct {
	model       string // YAML
	train, test table
	public      table     // one row per group, for models that name public.csv
	y           []float64 // of the test rows
	truth       []float64 // parameters that made the data, when they are known
}

// experiment judges one thing against a reference.
type experiment interface {
	judge(opt options, reference []threshold, dir string, out *report) error
}

// experiments names everything that can be judged.
var experiments = []struct {
	name string
	experiment
}{
	{"abalone", abaloneTask},
	{"simlr", simlrTask},
	{"adult", adultTask},
	{"gold", goldTask{}},
	{"coverage", cellTask{}},
	{"tables", realTableTask{}},
	{"methods", methodTask{}},
	{"twins", twinTask{}},
	{"priors", priorCoverage},
	{"tools", toolCoverage},
	{"cohort", cohortCoverage},
	{"gmm", gmmTask},
	{"hlr100", hlrTask{100}.task()},
	{"hlr200", hlrTask{200}.task()},
	{"hlr500", hlrTask{500}.task()},
	{"hlr1000", hlrTask{1000}.task()},
	{"vae", mnistGlorotTask},
	{"vae-narrow", mnistNarrowTask},
	{"cnn", mnistClassifierTask},
	{"scattering", scatteringTask},
	{"scattering-fashion", scatteringFashionTask},
	{"cifar10", cifar10Task{"cifar10-cnn"}},
	{"scattering-cifar10", cifar10Task{"scattering-cifar10"}},
}

func lookup(name string) (experiment, bool) {
	for _, f := range figures {
		if f.name == name {
			return f, true
		}
	}
	for _, e := range experiments {
		if e.name == name {
			return e.experiment, true
		}
	}
	return nil, false
}

// needsData reports whether the named task reads public data.
func needsData(name string) bool {
	e, _ := lookup(name)
	switch e := e.(type) {
	case coverageTask, cellTask:
		return false
	case figureTask:
		return !e.simulated
	}
	return true
}

func taskNames() (names []string) {
	for _, e := range experiments {
		names = append(names, e.name)
	}
	for _, f := range figures {
		names = append(names, f.name)
	}
	return names
}

// judge fits every setting of the task and writes a line per threshold.
func (t task) judge(opt options, reference []threshold, dir string, out *report) error {
	replicates, err := t.load(opt.shared)
	if err != nil {
		return err
	}
	results, err := openResults(opt.results)
	if err != nil {
		return err
	}
	for i, r := range replicates {
		folder := filepath.Join(dir, strconv.Itoa(i))
		if err := r.write(folder); err != nil {
			return err
		}
	}
	runs := t.runs
	if opt.runs > 0 {
		runs = opt.runs
	}
	for _, s := range settingsOf(reference, t.name, opt.epsilons) {
		measured := map[string][]float64{}
		for k := range runs {
			i := k % len(replicates)
			folder := filepath.Join(dir, strconv.Itoa(i))
			fmt.Fprintf(os.Stderr, "%s: epsilon %s, fit %d of %d\n", t.name, s.label, k+1, runs)
			for _, variant := range s.variants() {
				run := filepath.Join(folder, fmt.Sprintf("run-%s-%s-%d", s.label, variant.name, k))
				metrics, err := results.of(fitKey{t.name, s.label, variant.name, k}, func() (map[string]float64, error) {
					return t.fit(opt.d3p, replicates[i], s, variant, k, folder, run)
				})
				if err != nil {
					return err
				}
				for _, th := range s.thresholds {
					if v, ok := variant.metric(th.Metric, metrics); ok {
						measured[th.Metric] = append(measured[th.Metric], v)
					}
				}
				if opt.keep == "" {
					os.RemoveAll(run)
				}
			}
		}
		for _, th := range s.thresholds {
			out.line(s.label, th, measured[th.Metric])
		}
	}
	return nil
}

// variant is a fit with or without the noise-aware variance; the reference has the log
// predictive density of both.
type variant struct{ name, flag string }

func (s setting) variants() []variant {
	if s.epsilon == nil || !slices.ContainsFunc(s.thresholds, func(t threshold) bool { return t.Metric == "tll" }) {
		return []variant{{name: "default"}}
	}
	return []variant{{name: "default"}, {name: "plain", flag: "--noise-aware=none"}}
}

// metric picks the value that this variant measures for the named threshold.
func (v variant) metric(name string, metrics map[string]float64) (float64, bool) {
	plain := v.name == "plain"
	switch name {
	case "tll_noise_aware":
		return metrics["tll"], !plain
	case "tll":
		return metrics["tll"], plain || v.flag == "" && metrics["nonprivate"] == 1
	default:
		value, ok := metrics[name]
		return value, ok && !plain
	}
}

// fit runs d3p fit and d3p predict in folder and scores the predictions.
func (t task) fit(d3p string, r replicate, s setting, v variant, k int, folder, run string) (map[string]float64, error) {
	args := []string{"fit-nonprivate", "--guide", "mean_field"} // the reference's family
	if s.epsilon != nil {
		args = []string{"fit", "--epsilon", s.label, "--delta", strconv.FormatFloat(t.delta, 'g', -1, 64),
			"--accept-risk", "delta-above-1/n"}
	}
	args = append(args, "--model", filepath.Join(folder, "model.yaml"), "--out", run, "--quiet", "--init-seed", strconv.Itoa(k))
	args = append(args, t.fitArgs...)
	if v.flag != "" {
		args = append(args, v.flag)
	}
	if err := command(d3p, append(args, filepath.Join(folder, "train.csv"))...); err != nil {
		return nil, err
	}
	metrics, err := t.metrics(d3p, r, folder, run)
	if err == nil && s.epsilon == nil {
		metrics["nonprivate"] = 1
	}
	return metrics, err
}

// metrics scores a finished run.
func (t task) metrics(d3p string, r replicate, folder, run string) (map[string]float64, error) {
	if t.drawn != nil {
		return t.drawn(r, run)
	}
	predictions := filepath.Join(run, "predictions.csv")
	if err := command(d3p, "predict", run, filepath.Join(folder, "test.csv"), "--out", predictions, "--quiet"); err != nil {
		return nil, err
	}
	predicted, err := readColumn(predictions, "mean")
	if err != nil {
		return nil, err
	}
	params, err := readSummary(filepath.Join(run, "release", "summary.csv"))
	if err != nil {
		return nil, err
	}
	return t.score(r, predicted, params), nil
}

// write stores the model and the two tables in folder.
func (r replicate) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "model.yaml"), []byte(r.model), 0o644); err != nil {
		return err
	}
	if r.public.header != nil {
		if err := r.public.write(filepath.Join(folder, "public.csv")); err != nil {
			return err
		}
	}
	if err := r.train.write(filepath.Join(folder, "train.csv")); err != nil {
		return err
	}
	return r.test.write(filepath.Join(folder, "test.csv"))
}
