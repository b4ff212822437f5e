package sensitivity

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"d3p/internal/cpu"
	"d3p/internal/privacy"
	"d3p/internal/stattest"
)

// generated is a random model of every response, n times.
func generated(tb testing.TB, n int) (list []Model) {
	rng := rand.New(rand.NewPCG(8, 15))
	for i := range n * len(responses) {
		list = append(list, Generated(tb, i, rng))
	}
	return list
}

// sequences are n random networks over texts.
func sequences(tb testing.TB, n int) (list []Model) {
	rng := rand.New(rand.NewPCG(8, 16))
	for i := range n {
		list = append(list, Sequences(tb, i, rng))
	}
	return list
}

// No record moves the sum of the CPU engine by more than C and what rounding allows, on
// any example, any tape that engines conform on, random models, and random networks over
// texts.
func TestNoRecordMovesTheSumByMore(t *testing.T) {
	each := 1
	if os.Getenv("D3P_SOAK") != "" {
		each = 10
	}
	list := slices.Concat(Configs(t, "../../../configs"), Vanilla(t, "../../../configs"),
		Rotated(t, "../../../configs", rand.New(rand.NewPCG(4, 2))), Tapes(t), generated(t, each), sequences(t, 28*each))
	most, long := math.MaxInt, 80*time.Millisecond // parameters, time a model
	switch {
	case stattest.Race:
		most = 1000
	case os.Getenv("GODEBUG") != "":
		most, long = 100_000, 30*time.Millisecond
	}
	list = slices.DeleteFunc(list, func(m Model) bool { return m.Tape.P > most })
	Check(t, list, func(t *testing.T) privacy.Engine { return cpu.New(cpu.Options{Threads: 1}) }, long)
}

// The same with AVX2 and in plain Go, a shorter search each and without the largest
// networks: the kernels of all three have the same bits, which the tests of simd hold.
func TestOtherInstructions(t *testing.T) {
	if stattest.Race || os.Getenv("GODEBUG") != "" {
		t.Skip("under the race detector, or in such a run already")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, off := range []string{"cpu.avx512f=off", "cpu.avx2=off,cpu.avx512f=off"} {
		c := exec.Command(self, "-test.run", "TestNoRecordMovesTheSumByMore")
		c.Env = append(os.Environ(), fmt.Sprintf("GODEBUG=%s", off))
		if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), "GODEBUG") { // Go's message about an unknown option
			t.Errorf("%s: %v\n%s", off, err, out)
		}
	}
}
