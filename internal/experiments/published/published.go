// Package published has what the authors of two papers measured: from the logs of Prediger et al.
// 2022 (github.com/PROBIC/d3p-paper-experiments, VAE) and of Jälkö, Dikmen and Honkela 2017
// (github.com/DPBayes/DPVI-code, uai17-code/logistic/abalone at 17ce9c0).
package published

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"d3p/internal/report/figure"
)

// Programs of the logs.
const (
	Python     = "d3p"
	TensorFlow = "TensorFlow"
)

var (
	// autoEncoders are means of −ELBO of test images over 20 runs after an epoch, and seconds an epoch.
	//
	//go:embed autoencoders.csv
	autoEncoders string
	// steps are milliseconds of a step of the auto-encoder of MNIST on a V100, over 20 runs of 100.
	//
	//go:embed steps.csv
	steps string
	// abalone are accuracies of the best of five clip norms, of five runs, at the epsilon of their noise
	// by our accountant, under add-or-remove and delta 0.001.
	//
	//go:embed abalone.csv
	abalone string
)

// Accuracies are those of the logistic regression of Abalone, by epsilon.
func Accuracies() (figure.Series, error) { return series(abalone, "best clip norm", nil, 1, 3, 4) }

// Bounds are −ELBO of test images by epoch, of auto-encoders by a program of the logs.
func Bounds(images, program string, private bool) (figure.Series, error) {
	return series(autoEncoders, program, []string{images, program, kind(private)}, 3, 4, 5)
}

// StepTimes are milliseconds of a step by the number of images in a batch.
func StepTimes(private bool) (figure.Series, error) {
	return series(steps, Python+", "+kind(private)+", on a V100", []string{kind(private)}, 1, 2, 3)
}

func kind(private bool) string {
	if private {
		return "private"
	}
	return "not private"
}

// series are the rows of a table that begin with key.
func series(table, name string, key []string, x, mean, se int) (figure.Series, error) {
	s := figure.Series{Name: "published, " + name}
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		return s, err
	}
	for _, row := range rows[1:] {
		if strings.Join(row[:len(key)], ",") != strings.Join(key, ",") {
			continue
		}
		var p figure.Measured
		for column, to := range map[int]*float64{x: &p.X, mean: &p.Mean, se: &p.SE} {
			if *to, err = strconv.ParseFloat(row[column], 64); err != nil {
				return s, err
			}
		}
		s.Points = append(s.Points, p)
	}
	if len(s.Points) == 0 {
		return s, fmt.Errorf("nothing is published about %s", strings.Join(key, ", "))
	}
	return s, nil
}
