package numeric

// Sum is a sum that loses no more than its last digit (Kahan and Babuška).
type Sum struct{ Sum, Rest float64 }

// Add adds x.
func (t *Sum) Add(x float64) {
	sum := t.Sum + x
	part := sum - t.Sum
	t.Rest += (t.Sum - (sum - part)) + (x - part)
	t.Sum = sum
}

// Value is the sum of all numbers added.
func (t *Sum) Value() float64 { return t.Sum + t.Rest }
