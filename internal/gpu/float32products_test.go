//go:build linux && !nogpu

package gpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"d3p/internal/cpu"
	"d3p/internal/models/graph"
	"d3p/internal/privacy"
)

// singleNetwork is a network whose products are float32 if the table is, with tables of
// the same numbers in both precisions.
func singleNetwork(t testing.TB, N int) (tape *graph.Tape, wide, single *privacy.Rows, in privacy.StepInput) {
	t.Helper()
	tape, wide = network(t, N)
	n := *wide
	single = &n
	single.F64, single.F32 = nil, make([]float32, len(wide.F64))
	for i := range single.F32 {
		single.F32[i] = float32(wide.F64[i])
		wide.F64[i] = float64(single.F32[i])
	}
	for _, rows := range []*privacy.Rows{wide, single} {
		if err := privacy.DeriveColumns(tape, rows, tape.K0); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(7, 8))
	in.Params = make([]float64, tape.P)
	for i := range in.Params {
		in.Params[i] = 0.2 * rng.NormFloat64()
	}
	return tape, wide, single, in
}

func clipped(t *testing.T, w privacy.Worker, in privacy.StepInput, batch []uint32, clip privacy.Clip) []float64 {
	t.Helper()
	dst := make([]float64, len(in.Params))
	if _, err := w.ClippedSum(dst, in, batch, false, clip); err != nil {
		t.Fatal(err)
	}
	return dst
}

// With a float32 table large products are float32 on both engines: the sums differ from
// those of float64, but not by much.
func TestSingleProducts(t *testing.T) {
	const N = 300
	tape, wide, single, in := singleNetwork(t, N)
	clip := privacy.Clip{Kind: privacy.Flat, Norm: 3}
	batch := make([]uint32, N)
	for i := range batch {
		batch[i] = uint32(i)
	}
	sums := map[string][]float64{}
	for name, rows := range map[string]*privacy.Rows{"wide": wide, "single": single} {
		w, err := open(t, 0, tape, rows)
		if err != nil {
			t.Fatal(err)
		}
		sums[name] = clipped(t, w, in, batch, clip)
		reference, err := cpu.New(cpu.Options{Threads: 1}).Open(tape, rows)
		if err != nil {
			t.Fatal(err)
		}
		defer reference.Close()
		sums["cpu "+name] = clipped(t, reference, in, batch, clip)
	}
	size := 0.0
	for _, x := range sums["cpu wide"] {
		size = max(size, math.Abs(x))
	}
	for name, tolerance := range map[string]float64{"wide": 1e-13, "single": 1e-5, "cpu single": 1e-5} {
		worst := 0.0
		for i, x := range sums["cpu wide"] {
			worst = max(worst, math.Abs(x-sums[name][i]))
		}
		if !(worst <= tolerance*size) || (tolerance > 1e-13) != (worst > 1e-12*size) {
			t.Errorf("%s: sums of size %g differ by %g", name, size, worst)
		}
	}
}

// One record adds at most norm C to a sum, to the precision of float64, beside any other
// records: its tiles and chunks do not change its gradient.
func TestSingleProductsKeepTheBound(t *testing.T) {
	const N, c = 40, 0.3
	tape, _, single, in := singleNetwork(t, N)
	clip := privacy.Clip{Kind: privacy.Flat, Norm: c}
	for name, wideFrom := range map[string]int64{"all blocks together": wideProducts, "each block its chunk": 1 << 40} {
		t.Run(name, func(t *testing.T) {
			e := newEngine("cuda:7", newOneThread(t, 1<<30), Options{})
			e.wideFrom = wideFrom
			w := openOn(t, e, tape, single)
			others := []uint32{}
			for k := range uint32(N) {
				alone := clipped(t, w, in, []uint32{k}, clip)
				l := 0.0
				for _, x := range alone {
					l = math.Hypot(l, x)
				}
				if zero := !single.Valid[k] || k == 3; !(l <= c*(1+1e-13)) || (l == 0) != zero {
					t.Errorf("record %d alone has norm %g, want at most %g", k, l, c)
				}
				without := clipped(t, w, in, others, clip)
				with := clipped(t, w, in, slices.Insert(slices.Clone(others), int(k)/2, k), clip)
				for i := range with {
					if d := math.Abs(with[i] - without[i] - alone[i]); !(d <= 1e-14*c*float64(1+k)) {
						t.Fatalf("record %d adds %g to parameter %d beside %d others, %g alone", k, with[i]-without[i], i, k, alone[i])
					}
				}
				others = append(others, k)
			}
		})
	}
}
