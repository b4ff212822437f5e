package sensitivity

import (
	"fmt"
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

// generated is some random models.
func generated(tb testing.TB, n int) (list []Model) {
	rng := rand.New(rand.NewPCG(8, 15))
	for range n {
		list = append(list, Generated(tb, rng))
	}
	return list
}

// No record moves the sum of the CPU engine by more than C and what rounding allows, on
// any example, any tape that engines conform on, and random models.
func TestNoRecordMovesTheSumByMore(t *testing.T) {
	list := slices.Concat(Configs(t, "../../../configs"), Vanilla(t, "../../../configs"),
		Rotated(t, "../../../configs", rand.New(rand.NewPCG(4, 2))), Tapes(t), generated(t, 20))
	if stattest.Race {
		list = slices.DeleteFunc(list, func(m Model) bool { return m.Tape.P > 1000 })
	}
	Check(t, list, func(t *testing.T) privacy.Engine { return cpu.New(cpu.Options{Threads: 1}) }, 80*time.Millisecond)
}

// The same with AVX2 and in plain Go.
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
