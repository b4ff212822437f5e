// Package difference checks gradients against difference quotients, for tests.
package difference

import (
	"fmt"
	"math"
)

// Machine runs the log density of records and its gradients: a *graph.Machine.
type Machine interface {
	Globals(theta, aux []float64)
	Records(rows []float64, stride, n int, aux []float64)
	Loss() []float64
	Gradient(record int, dst []float64)
	SquaredNorm(record int) float64
	AddGradients(scale, dst []float64)
}

// Batch is the input of Records: N encoded records, Stride numbers apart in Rows,
// and the normals of their local latents in Aux.
type Batch struct {
	Rows   []float64
	Stride int
	N      int
	Aux    []float64
}

// Check compares the gradient of every record at theta, shape (P), with central differences
// of the loss. It compares the norm and the weighted sum that the machine computes from
// structure with those of the gradients written out. It returns the first disagreement.
func Check(m Machine, theta []float64, d Batch) error {
	p := len(theta)
	losses := func(dst []float64) {
		m.Globals(theta, nil)
		m.Records(d.Rows, d.Stride, d.N, d.Aux)
		for r := range dst {
			dst[r] = m.Loss()[r%len(m.Loss())] // a gradient that belongs to no record
		}
	}
	quotients, above, below := make([]float64, d.N*p), make([]float64, d.N), make([]float64, d.N)
	for j, at := range theta {
		theta[j] = at + step
		losses(above)
		theta[j] = at - step
		losses(below)
		theta[j] = at
		for r := range d.N {
			quotients[r*p+j] = (above[r] - below[r]) / (2 * step)
		}
	}
	losses(above)
	gradient, sum, scale := make([]float64, p), make([]float64, p), make([]float64, d.N)
	for r := range d.N {
		m.Gradient(r, gradient)
		norm2, largest := 0.0, 1.0
		for _, g := range gradient {
			norm2 += g * g
			largest = max(largest, math.Abs(g))
		}
		for j, g := range gradient {
			if want := quotients[r*p+j]; !(math.Abs(g-want) <= 1e-6*largest) {
				return fmt.Errorf("record %d, parameter %d: gradient %v, difference quotient %v", r, j, g, want)
			}
		}
		if got := m.SquaredNorm(r); !(math.Abs(got-norm2) <= 1e-10*max(1, norm2)) {
			return fmt.Errorf("record %d: structured norm² %v, written out %v", r, got, norm2)
		}
		scale[r] = 0.1 + float64(r)
		for j, g := range gradient {
			sum[j] += scale[r] * g
		}
	}
	got := make([]float64, p)
	m.AddGradients(scale, got)
	for j, want := range sum {
		if !(math.Abs(got[j]-want) <= 1e-10*max(1, math.Abs(want))) {
			return fmt.Errorf("parameter %d: structured sum %v, written out %v", j, got[j], want)
		}
	}
	return nil
}

// step balances the truncation error step²|f‴|/6 with the rounding error 1e-16/step.
const step = 1e-5

// Quotient is the central difference (f(x+h) - f(x-h))/2h of a function that reads *x.
// It restores *x.
func Quotient(f func() float64, x *float64, h float64) float64 {
	at := *x
	*x = at + h
	above := f()
	*x = at - h
	below := f()
	*x = at
	return (above - below) / (2 * h)
}
