// Package optimizer turns gradients into ascent steps. An optimizer gets only released
// numbers, so its work is post-processing.
//
// Shapes: V variational parameters, T steps.
package optimizer

import (
	"fmt"
	"strings"
)

// Optimizer is one family's state in one fit.
type Optimizer interface {
	// Update takes a step in coordinates low <= j < high. It reads and writes no other
	// coordinate.
	Update(u Update, low, high int)
	// Moments returns the optimizer's state arrays, in a fixed order, for
	// checkpoints: copying into them restores it.
	Moments() [][]float64
}

// Update is step T (from 1) along the gradient G (V) from X (V) with learning rate
// Rate. It sets Gain[j] = ∂(step j)/∂G[j] for the first len(Gain) coordinates, the
// adaptive scales held fixed: the linear response that carries noise in G into X. NoiseSD is
// the standard deviation of the privacy noise in each number of G that is the location of a
// parameter.
type Update struct {
	X, G, Gain []float64
	T          int
	Rate       float64
	NoiseSD    float64
}

// Family is one line of the table of optimizers.
type Family struct {
	Name string
	Rate float64 // default learning rate
	New  func(size int, o Options) Optimizer
}

// Options are the settings that some optimizers have besides the learning rate.
type Options struct {
	Momentum    float64 // sgd
	WeightDecay float64 // adamw
}

// Names of optimizers that a default or another setting refers to.
const (
	AdamName          = "adam"
	AdamCorrectedName = "adam_corrected"
	AdamWName         = "adamw"
	SGDName           = "sgd"
)

// Families returns the table. A new optimizer is one file and one line here.
func Families() []Family {
	return []Family{
		{AdamName, 0.03, func(n int, _ Options) Optimizer { return newAdam(n) }},
		{AdamCorrectedName, 0.03, func(n int, _ Options) Optimizer { return newAdamCorrected(n) }},
		{AdamWName, 0.03, func(n int, o Options) Optimizer { return newAdamW(n, o.WeightDecay) }},
		{"adagrad", 0.1, func(n int, _ Options) Optimizer { return newAdagrad(n) }},
		{SGDName, 1e-3, func(n int, o Options) Optimizer { return newSGD(n, o.Momentum) }},
	}
}

// Names lists the table for messages and help texts.
func Names() []string {
	var names []string
	for _, o := range Families() {
		names = append(names, o.Name)
	}
	return names
}

// Lookup returns the line of the table called name.
func Lookup(name string) (Family, error) {
	for _, o := range Families() {
		if o.Name == name {
			return o, nil
		}
	}
	return Family{}, fmt.Errorf("--optimizer: unknown optimizer %q (choose one of %s)",
		name, strings.Join(Names(), ", "))
}
