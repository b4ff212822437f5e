//go:build !linux

package records

// adviseHuge does nothing here.
func adviseHuge[T float32 | float64]([]T) {}
