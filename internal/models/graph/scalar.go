package graph

// The scalar forms of operations that package math does not have.

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func mulZero(x, y float64) float64 {
	if x == 0 {
		return 0
	}
	return x * y
}

func where(x, y, z float64) float64 {
	if x != 0 {
		return y
	}
	return z
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x // ±0 and NaN
}
