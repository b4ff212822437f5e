package stats

// Shuffle puts a list in random order: Durstenfeld 1964, doi:10.1145/364520.364540.
func Shuffle[T any](list []T, random interface{ Uniform() float64 }) {
	for i := len(list) - 1; i > 0; i-- {
		j := int(random.Uniform() * float64(i+1))
		list[i], list[j] = list[j], list[i]
	}
}
