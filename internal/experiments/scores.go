package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"

	"d3p/internal/models"
	"d3p/internal/posterior"
	release "d3p/internal/score"
)

// reach is the number of standard deviations of a 90 % interval to either side.
const reach = 1.6448536269514722

// score is a fit's score for a parameter, the mean over its unconstrained numbers (log sd):
// the share of intervals that hold the truth; the log score of the truth under a normal
// posterior, up to the constant; and the squared error of the mean.
type score struct{ held, log, square float64 }

// tableScores are the scores of a table, by parameter.
type tableScores map[string]score

// scoreTable compares a posterior with the parameters that made the table.
func scoreTable(m *models.Model, post *posterior.Posterior, truth []float64) tableScores {
	sd := make([]float64, m.P)
	post.SD(sd)
	out := tableScores{}
	for _, p := range m.Params {
		var s score
		each := 1 / float64(p.Size)
		for j := p.Offset; j < p.Offset+p.Size; j++ {
			z := (post.Mean[j] - truth[j]) / sd[j]
			if math.Abs(z) <= reach {
				s.held += each
			}
			s.log -= (z*z/2 + math.Log(sd[j])) * each
			s.square += (post.Mean[j] - truth[j]) * (post.Mean[j] - truth[j]) * each
		}
		out[p.Name] = s
	}
	return out
}

// scores are the scores of tables, by setting.
type scores struct{ settings [][]tableScores }

// mean returns the mean over settings of the means over tables of the number that pick
// takes from a parameter's score, and its standard error.
func (s scores) mean(parameter string, pick func(score) float64) (mean, se float64) {
	for _, tables := range s.settings {
		values := make([]float64, len(tables))
		for i, t := range tables {
			values[i] = pick(t[parameter])
		}
		m, e := meanSE(values)
		mean, se = mean+m, se+e*e
	}
	n := float64(len(s.settings))
	return mean / n, math.Sqrt(se) / n
}

// report writes a line for each parameter.
func (s scores) report(out *report, model, epsilon string, f coverageFit) {
	for _, name := range slices.Sorted(maps.Keys(s.settings[0][0])) {
		square, ofSquare := s.mean(name, func(x score) float64 { return x.square })
		root := math.Sqrt(square)
		words := fmt.Sprintf("root mean squared error %.3f ± %.3f", root, ofSquare/(2*root))
		if !f.point {
			held, ofHeld := s.mean(name, func(x score) float64 { return 100 * x.held })
			log, ofLog := s.mean(name, func(x score) float64 { return x.log })
			words = fmt.Sprintf("%.0f ± %.0f %% hold, log score %.2f ± %.2f, %s", held, ofHeld, log, ofLog, words)
		}
		out.note(model, epsilon, fmt.Sprintf("%s of %s: %s", name, f.name, words))
	}
}

// appendScores adds the scores of tables to a CSV file; without a path it does nothing. Its
// columns are fit, model, records, epsilon, table, parameter, held share, log score and
// squared error.
func appendScores(path string, s setup, f coverageFit, tables []tableScores) error {
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	for k, t := range tables {
		for _, name := range slices.Sorted(maps.Keys(t)) {
			x := t[name]
			fmt.Fprintf(file, "%q,%s,%d,%g,%d,%s,%g,%g,%g\n", f.name, s.name, s.records, s.epsilon, k, name, x.held, x.log, x.square)
		}
	}
	return file.Close()
}

// binaryMetrics scores probabilities p of y = 1: accuracy at one half, area
// under the ROC curve (ties count half) and mean log predictive density.
func binaryMetrics(p, y []float64) map[string]float64 {
	var right, logp float64
	for i := range p {
		if (p[i] > 0.5) == (y[i] == 1) {
			right++
		}
		q := p[i]
		if y[i] == 0 {
			q = 1 - q
		}
		logp += math.Log(math.Max(q, 1e-12))
	}
	n := float64(len(p))
	return map[string]float64{"acc": right / n, "auc": auc(p, y), "tll": logp / n}
}

// auc is the area under the ROC curve of scores of y = 1.
func auc(p, y []float64) float64 { return release.AUC(p, func(i int) bool { return y[i] == 1 }) }

// rmse is the root mean squared difference of two vectors.
func rmse(a, b []float64) float64 {
	var sum float64
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum / float64(len(a)))
}

// meanSE returns the mean of xs and its standard error.
func meanSE(xs []float64) (mean, se float64) {
	for _, x := range xs {
		mean += x
	}
	n := float64(len(xs))
	mean /= n
	for _, x := range xs {
		se += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(se / math.Max(n-1, 1) / n)
}
