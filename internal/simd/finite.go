package simd

// Finite reports whether no entry of x is NaN or infinite. A sum of finite numbers
// may overflow: then every entry is looked at.
func Finite(x []float64) bool {
	if s := Sum(x); s-s == 0 {
		return true
	}
	for _, v := range x {
		if v-v != 0 { // x − x is exactly 0 for a finite x
			return false
		}
	}
	return true
}
