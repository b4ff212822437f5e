package sensitivity

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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

// grids are n random networks over grids, and those that start from a public file.
func grids(tb testing.TB, n int) (list []Model) {
	rng := rand.New(rand.NewPCG(8, 17))
	for i := range n {
		list = append(list, Grids(tb, i, rng))
	}
	return append(list, Adapted(tb, rng)...)
}

// attacked are all examples, all tapes that engines conform on, random models of every
// response, and random networks over texts and grids, with up to most parameters; a soak has
// more.
func attacked(t *testing.T, most int) []Model {
	each := 1
	if os.Getenv("D3P_SOAK") != "" {
		each = 10
	}
	list := slices.Concat(Configs(t, "../../../configs"), Vanilla(t, "../../../configs"),
		Rotated(t, "../../../configs", rand.New(rand.NewPCG(4, 2))), Tapes(t), generated(t, each), sequences(t, 28*each), grids(t, 12*each))
	return slices.DeleteFunc(list, func(m Model) bool { return m.Tape.P > most })
}

// No record moves the sum of the CPU engine by more than C and what rounding allows.
func TestNoRecordMovesTheSumByMore(t *testing.T) {
	stattest.SkipNumerics(t)
	Check(t, attacked(t, math.MaxInt), func(t *testing.T) privacy.Engine { return cpu.New(cpu.Options{Threads: 1}) }, 60*time.Millisecond)
}

// Nor does one where groups of parameters are clipped by themselves.
func TestNoRecordMovesGroupsByMore(t *testing.T) {
	stattest.SkipNumerics(t)
	list := Grouped(slices.Concat(generated(t, 1), sequences(t, 4)), rand.New(rand.NewPCG(9, 3)))
	for i := range list {
		if err := list[i].Groups.Check(list[i].Tape); err != nil {
			t.Errorf("%s: %v", list[i].Name, err)
		}
	}
	Check(t, list, func(t *testing.T) privacy.Engine { return cpu.New(cpu.Options{Threads: 1}) }, 10*time.Millisecond)
}

// With AVX2 and in plain Go the engine has the same sums, bit by bit, on random cases of all
// but the largest models: what the search finds of one holds for all three.
func TestOtherInstructions(t *testing.T) {
	stattest.SkipNumerics(t)
	const variable, without = "D3P_SUMS", "GODEBUG"
	sums := sumsOf(t, attacked(t, 100_000))
	if path := os.Getenv(variable); path != "" {
		if err := os.WriteFile(path, []byte(sums), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, off := range []string{"cpu.avx512f=off", "cpu.avx2=off,cpu.avx512f=off"} {
		path := filepath.Join(t.TempDir(), "sums")
		c := exec.Command(self, "-test.run", "^TestOtherInstructions$")
		c.Env = append(os.Environ(), without+"="+off, variable+"="+path)
		if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), without) { // Go's message about an unknown option
			t.Errorf("%s: %v\n%s", off, err, out)
			continue
		}
		other, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		theirs := strings.Split(string(other), "\n")
		for i, line := range strings.Split(sums, "\n") {
			if i >= len(theirs) || theirs[i] != line {
				t.Errorf("%s: other sums on %s", off, line)
			}
		}
	}
}

// sumsOf has a line for each model and precision, with a digest of the engine's sums on
// random cases, each by itself and in company.
func sumsOf(t *testing.T, list []Model) string {
	const cases = 8
	var lines []string
	for k, m := range list {
		for _, p := range []privacy.Precision{privacy.Float32, privacy.Float64} {
			target := &Target{Model: m, Engine: cpu.New(cpu.Options{Threads: 1}), Precision: p}
			s, err := target.search(rand.New(rand.NewPCG(12, uint64(k))))
			if err != nil {
				t.Fatal(err)
			}
			drawn, records, valid := make([]Case, cases), make([][]float64, cases), make([]bool, cases)
			all := make([]uint32, cases-1)
			for i := range drawn {
				drawn[i] = s.draw(i%4 == 0)
				records[i], valid[i] = drawn[i].Record, true
				all[min(i, cases-2)] = uint32(i)
			}
			b, err := s.bench(records, valid)
			if err != nil {
				t.Fatal(err)
			}
			hash := sha256.New()
			for i := range drawn {
				company := all
				if i%2 == 0 {
					company = nil
				}
				moved, _, err := b.moved(&drawn[i], company, 0, uint32(i))
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range append(b.with, moved) {
					if x != x {
						x = math.NaN() // one NaN is as good as another
					}
					binary.Write(hash, binary.LittleEndian, x)
				}
			}
			b.worker.Close()
			lines = append(lines, fmt.Sprintf("%s, precision %d: %x", m.Name, p, hash.Sum(nil)[:8]))
		}
	}
	return strings.Join(lines, "\n")
}
