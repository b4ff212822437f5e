package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Every interpreter gives the bits of the plain form: each opcode alone, on
// elements of any number of lanes, the arrays ending where memory ends.
func TestProgram(t *testing.T) {
	if reference().codes != nil {
		t.Fatal("the last interpreter is not the plain one")
	}
	for _, by := range interpreters() {
		if by.of == plain {
			continue
		}
		for op := opStop + 1; op < opcodes; op++ {
			t.Run(fmt.Sprintf("%s/%d", by.of.name, op), func(t *testing.T) {
				for _, c := range []struct{ pitch, count int }{{1, 1}, {1, 7}, {1, 16}, {3, 5}, {8, 1}, {16, 3}, {32, 2}, {40, 8}, {104, 2}, {104, 5}} {
					if aligned := op == OpSquares || op == OpScale || grouped(op); aligned && c.pitch%8 != 0 {
						continue
					}
					in := Instruction{Op: op, Count: c.count, To: Place{0, 1}, A: Place{1, 2}, B: Place{2, 1}, C: Place{3, 1}, Groups: 3}
					if op == OpGather { // few rows are permuted
						in.Groups = 4 + 9*(c.count%2)
					}
					if kindsOf(op)[1] == number {
						in.A = Place{4, 1}
					}
					if kindsOf(op)[2] == number {
						in.B = Place{4, 1}
					}
					var want, got [Spaces][]float64
					for s := range want {
						want[s] = values(uint64(s), (max(c.count, 3)+2)*c.pitch+3*c.count+3)
						if s == 3 {
							for i := range want[s] {
								want[s][i] = float64(i%5 - 1) // a group, or none
							}
						}
						if s == 4 {
							want[s][1] = 1.25
							if op == OpGather {
								want[s][1] = float64(c.count)
								want[2] = values(2, 1+in.Groups*c.count)
							}
						}
						got[s] = atEnd(t, want[s])
					}
					got[2] = atEnd(t, want[2])
					newProgram(reference(), []Instruction{in}).Run(&want, c.pitch)
					newProgram(by, []Instruction{in}).Run(&got, c.pitch)
					for s := range want {
						equal(t, fmt.Sprintf("%+v, space %d", c, s), got[s], want[s])
					}
				}
			})
		}
	}
}

// values are normals with every special value among them.
func values(seed uint64, n int) []float64 {
	rng := rand.New(rand.NewPCG(seed, 3))
	special := []float64{0, math.Copysign(0, -1), 1, math.Inf(1), math.Inf(-1), math.NaN(), 1e300, -1e-300}
	x := make([]float64, n)
	for i := range x {
		if x[i] = 3 * rng.NormFloat64(); rng.IntN(5) == 0 {
			x[i] = special[rng.IntN(len(special))]
		}
	}
	return x
}

// An instruction may put its result over an operand of as many elements.
func TestProgramOverOperands(t *testing.T) {
	const pitch, count = 8, 5
	for _, by := range interpreters() {
		for op := opStop + 1; op < opcodes; op++ {
			kinds := kindsOf(op)
			if kinds[0] != vectors || op == OpAddProduct || op == OpAxpy || op == OpSpoil || op == OpGather {
				continue // reads what it writes, or numbers of other elements
			}
			in := Instruction{Op: op, Count: count, To: Place{Space: 0}, A: Place{Space: 1}, B: Place{Space: 2}, C: Place{Space: 3}}
			spaces := func() (x [Spaces][]float64) {
				for s := range 4 {
					x[s] = values(uint64(s), pitch*count)
				}
				return x
			}
			want := spaces()
			newProgram(reference(), []Instruction{in}).Run(&want, pitch)
			for k := 1; k < len(kinds); k++ {
				if kinds[k] != vectors {
					continue
				}
				over, got := in, spaces()
				over.To = Place{Space: uint8(k)}
				newProgram(by, []Instruction{over}).Run(&got, pitch)
				equal(t, fmt.Sprintf("%s, opcode %d over operand %d", by.of.name, op, k), got[k], want[0])
			}
		}
	}
}
