package nuts

// windows are the stretches of the warm-up that estimate the metric: a buffer in which only
// the step adapts, windows of 25, 50, 100, ... transitions, and a last buffer for the step.
type windows struct {
	first, last int // transitions first <= i < last belong to windows
	at          map[int]bool
}

func windowEnds(warmup int) windows {
	initial, final, length := 75, 50, 25
	if warmup < initial+final+length {
		initial, final = 15*warmup/100, warmup/10
		length = warmup - initial - final
	}
	w := windows{first: initial, last: warmup - final, at: map[int]bool{}}
	for start := initial; start < w.last; {
		end := start + length
		if end+2*length > w.last {
			end = w.last
		}
		w.at[end-1] = true
		start, length = end, 2*length
	}
	return w
}

// within reports whether transition i belongs to a window.
func (w windows) within(i int) bool { return i >= w.first && i < w.last }

// ends reports whether transition i is the last of a window.
func (w windows) ends(i int) bool { return w.at[i] }
