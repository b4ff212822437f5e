package fit

import (
	"fmt"
	"strings"
)

// Optimizer turns the gradient of step t into an ascent step. It sees only
// released quantities, so whatever it does is post-processing.
type Optimizer interface {
	// Update takes a step in coordinates low <= j < high, of which no other one
	// takes notice.
	Update(u update, low, high int)
	// Moments returns the optimizer's state arrays, in a fixed order, for
	// checkpoints: copying into them restores it.
	Moments() [][]float64
}

// An update adds step T (from 1) along the gradient G (V) to X (V), with learning
// rate Rate, and sets Gain[j] = ∂(step j)/∂G[j] for the first len(Gain) coordinates
// with the adaptive scales held fixed: the linear response that carries noise in
// G into X.
type update struct {
	X, G, Gain []float64
	T          int
	Rate       float64
}

// optimizerFamily is one line of the table of optimizers.
type optimizerFamily struct {
	name string
	rate float64 // default learning rate
	make func(size int, opt optimizerOptions) Optimizer
}

// optimizerOptions carries what some optimizers need beside the learning rate.
type optimizerOptions struct {
	momentum    float64 // sgd
	weightDecay float64 // adamw
}

// optimizers returns the table: a new optimizer is one file and one line here.
func optimizers() []optimizerFamily {
	return []optimizerFamily{
		{"adam", 0.03, func(n int, _ optimizerOptions) Optimizer { return newAdam(n) }},
		{"adamw", 0.03, func(n int, o optimizerOptions) Optimizer { return newAdamW(n, o.weightDecay) }},
		{"adagrad", 0.1, func(n int, _ optimizerOptions) Optimizer { return newAdagrad(n) }},
		{"sgd", 1e-3, func(n int, o optimizerOptions) Optimizer { return newSGD(n, o.momentum) }},
	}
}

// optimizerNames lists the table for messages and help texts.
func optimizerNames() []string {
	var names []string
	for _, o := range optimizers() {
		names = append(names, o.name)
	}
	return names
}

// lookupOptimizer returns the line of the table called name.
func lookupOptimizer(name string) (optimizerFamily, error) {
	for _, o := range optimizers() {
		if o.name == name {
			return o, nil
		}
	}
	return optimizerFamily{}, fmt.Errorf("--optimizer: unknown optimizer %q (choose one of %s)",
		name, strings.Join(optimizerNames(), ", "))
}
