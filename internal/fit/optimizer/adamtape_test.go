package optimizer

import (
	"math"
	"testing"

	"d3p/internal/models/graph"
)

// Twenty steps of the tape are those of Adam.Update but for the rounding of square
// roots and divisions.
func TestAdamTape(t *testing.T) {
	b, p := graph.NewBuilder(), graph.Shape{{Name: "p", Size: 3}}
	tape := AdamTape{Value: b.Param("x", p), First: b.Param("first", p), Second: b.Param("second", p)}
	tape.Rate, tape.Correct1, tape.Correct2 = b.Aux("rate", nil, false), b.Aux("correct1", nil, false), b.Aux("correct2", nil, false)
	value, first, second, gain := tape.Next(b, b.Aux("grad", p, false))
	compiled, err := graph.Compile(b, nil, []*graph.Node{value, first, second, gain}, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	machine := graph.NewMachine(compiled, 1)

	host, x, wantGain := newAdam(3), []float64{1, -2, 0}, make([]float64, 3)
	state := append(append([]float64(nil), x...), make([]float64, 6)...)
	for step := 1; step <= 20; step++ {
		u := Update{X: x, G: []float64{3 - x[0], 1e-3 * float64(step), -50 * x[1]}, Gain: wantGain, T: step, Rate: 0.1 / float64(step)}
		c1, c2 := AdamCorrections(step)
		machine.Globals(state, append([]float64{u.Rate, c1, c2}, u.G...))
		state = state[:0]
		for i := range 3 {
			state = append(state, machine.Output(i)...)
		}
		host.Update(u, 0, 3)
		for what, pair := range map[string][2][]float64{
			"x": {state[:3], x}, "first": {state[3:6], host.first}, "second": {state[6:], host.second}, "gain": {machine.Output(3), wantGain},
		} {
			for j, want := range pair[1] {
				if got := pair[0][j]; math.Abs(got-want) > 1e-13*(1+math.Abs(want)) {
					t.Fatalf("step %d: %s[%d] = %.17g, want %.17g", step, what, j, got, want)
				}
			}
		}
	}
}
