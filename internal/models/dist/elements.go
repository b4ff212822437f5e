package dist

import "d3p/internal/models/support"

// ElementSupports are the supports of the n elements of a vector that d describes, or of
// the one number. It is nil if d describes another number of elements.
func ElementSupports(d Density, n int) []support.Support {
	return elements(d, n, func(d Density) support.Support { return d.Support() })
}

// ElementsMissing reports for each of the n elements of d whether d models that it may be
// missing.
func ElementsMissing(d Density, n int) []bool {
	return elements(d, n, modelsMissing)
}

// modelsMissing reports whether a density of one number has a probability of a missing
// value.
func modelsMissing(d Density) bool {
	switch d := d.(type) {
	case Missing:
		return true
	case Mixture:
		return modelsMissing(d.Component)
	}
	return false
}

// elements asks of each element of the vector that d describes.
func elements[T any](d Density, n int, of func(Density) T) []T {
	out := make([]T, n)
	switch d := d.(type) {
	case Joint:
		if len(d.Parts) != n {
			return nil
		}
		for i, p := range d.Parts {
			out[i] = of(p)
		}
	case Mixture:
		return elements(d.Component, n, of)
	default:
		for i := range out {
			out[i] = of(d)
		}
	}
	return out
}
