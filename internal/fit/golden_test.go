package fit

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"d3p/internal/fit/plan"
	"d3p/internal/settings"
)

// trajectory is one entry of testdata/golden; see its README.
type trajectory struct {
	Hyper struct {
		T              int
		LR             float64 `json:"lr"`
		InitScale      float64 `json:"init_scale"`
		AvgFraction    float64 `json:"avg_fraction"`
		Clipping       string
		C0             float64
		TargetQuantile float64 `json:"target_quantile"`
		Q              float64
	}
	Sigma float64
	M0    []float64
	Eta   [][]float64
	Z     [][]float64
	Zb    []float64
	Batch [][]int
	Steps []struct {
		Theta, Release, M, Ls []float64
		GradM                 []float64 `json:"grad_m"`
		GradLs                []float64 `json:"grad_ls"`
		C                     float64
		CNext                 float64 `json:"C_next"`
	}
	MAvg  []float64 `json:"m_avg"`
	LsAvg []float64 `json:"ls_avg"`
	VarDP []float64 `json:"var_dp"`
}

func TestGoldenTrajectories(t *testing.T) {
	for name, want := range map[string]int{
		"lr_trajectory": 3, "hlr": 1, "gmm_sd_1_1": 1, "gmm_sd_2_10": 1, "gmm_var_10_1": 1,
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile("testdata/golden/" + name + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var file struct {
				fixture
				Trajectories []trajectory
			}
			if err := json.Unmarshal(raw, &file); err != nil {
				t.Fatal(err)
			}
			if len(file.Trajectories) != want {
				t.Fatalf("%d trajectories, want %d", len(file.Trajectories), want)
			}
			for _, tr := range file.Trajectories {
				replay(t, file.density(t), tr)
			}
		})
	}
}

// replay drives the loop with the injected randomness of tr, computing the
// releases from d, and compares every quantity of every step.
func replay(t *testing.T, d density, tr trajectory) {
	t.Helper()
	p := len(tr.M0)
	plan := &plan.Plan{
		Private: true, Records: d.records(), Latent: p, Release: p,
		SamplingRate: tr.Hyper.Q, Steps: tr.Hyper.T, NoiseMultiplier: tr.Sigma,
		Gradient: settings.GradientAligned,
		Guide:    "mean_field", InitScale: tr.Hyper.InitScale,
		Optimizer: "adam", LearningRate: tr.Hyper.LR, Schedule: "constant",
		Averaging: tr.Hyper.AvgFraction, NoiseAware: settings.NoiseAwareVariance,
		Clipping: tr.Hyper.Clipping, ClipNorm: tr.Hyper.C0, ClipQuantile: tr.Hyper.TargetQuantile,
	}
	plan.SplitNoise()
	// The vectors count against ½ and read the count as a share of qN records.
	plan.CountNoise = 2 * tr.Sigma
	plan.ClipRate = 0.2 * math.Min(1, tr.Hyper.Q*float64(d.records())/(5*plan.CountNoise))
	toTarget := (0.5 - plan.ClipQuantile) * tr.Hyper.Q * float64(d.records())
	loop, err := NewLoop(plan, tr.M0)
	if err != nil {
		t.Fatal(err)
	}
	release, prior := make([]float64, p), make([]float64, p)
	for step, want := range tr.Steps {
		theta := loop.Propose(tr.Eta[step])
		sameVector(t, "theta", theta, want.Theta)
		sameVector(t, "C", []float64{loop.state.ClipNorm}, []float64{want.C})

		var batch []int
		if tr.Batch != nil {
			batch = tr.Batch[step]
		}
		count := clippedSum(d, release, theta, batch, tr.Batch == nil, loop.state.ClipNorm, 0.5)
		for j := range release {
			release[j] += plan.GradientNoise * loop.state.ClipNorm * tr.Z[step][j]
		}
		count += plan.CountNoise*tr.Zb[step] + toTarget
		sameVector(t, "release", release, want.Release)

		d.priorGradient(prior, theta)
		loop.Absorb(release, prior)
		sameVector(t, "grad_m", loop.grad[:p], want.GradM)
		sameVector(t, "grad_ls", loop.grad[p:], want.GradLs)
		if err := loop.Advance(count); err != nil {
			t.Fatal(err)
		}
		sameVector(t, "m", loop.state.Lambda[:p], want.M)
		sameVector(t, "ls", loop.state.Lambda[p:], want.Ls)
		sameVector(t, "C_next", []float64{loop.state.ClipNorm}, []float64{want.CNext})
	}
	if !loop.Done() {
		t.Error("not done after the last step")
	}
	varDP := make([]float64, p)
	loop.state.Noise.ofMean(varDP)
	sameVector(t, "m_avg", loop.state.Average.Mean[:p], tr.MAvg)
	sameVector(t, "ls_avg", loop.state.Average.Mean[p:], tr.LsAvg)
	sameVector(t, "var_dp", varDP, tr.VarDP)
}

// clippedSum sets dst to the sum of the batch's gradients clipped to norm c and
// returns Σ (1[|g| ≤ c] − target).
func clippedSum(d density, dst, theta []float64, batch []int, all bool, c, target float64) (count float64) {
	g := make([]float64, len(dst))
	clear(dst)
	one := func(i int) {
		clear(g)
		d.gradient(g, i, theta)
		norm := 0.0
		for _, x := range g {
			norm += x * x
		}
		norm = math.Sqrt(norm)
		for j, x := range g {
			dst[j] += x * math.Min(1, c/norm)
		}
		if norm <= c {
			count += 1 - target
		} else {
			count -= target
		}
	}
	if all {
		for i := range d.records() {
			one(i)
		}
		return count
	}
	for _, i := range batch {
		one(i)
	}
	return count
}

// sameVector demands |got − want| ≤ 1e-9·max(1, max|want|).
func sameVector(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: length %d, want %d", what, len(got), len(want))
	}
	scale := 1.0
	for _, w := range want {
		scale = math.Max(scale, math.Abs(w))
	}
	for j := range want {
		if !(math.Abs(got[j]-want[j]) <= 1e-9*scale) {
			t.Fatalf("%s[%d]: got %.15g, want %.15g", what, j, got[j], want[j])
		}
	}
}
