package fit_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/models/modelstest"
	"d3p/internal/privacy"
	"d3p/internal/settings"
)

// withGuide is the study with a guide block in its model file.
func withGuide(t *testing.T, n int, guide string) *study {
	t.Helper()
	s := newStudy(t, n)
	src := strings.Replace(studyModel, "%d", "1000", 1) + "guide:\n" + guide
	s.model = modelstest.Compile(t, "study.yaml", src)
	return s
}

// A full-rank guide for the intercept and a mean field for the slopes: the
// coordinates are those of the parameters, and the fit is as exact as without.
func TestBlocksOfTheModelFile(t *testing.T) {
	s := withGuide(t, 1000, "  blocks:\n    b: mean_field\n")
	p := s.plan(t, plan.Config{NonPrivate: true, Guide: "full_rank"})
	if len(p.Blocks) != 1 || p.Blocks[0].Family != "mean_field" || len(p.Blocks[0].At) != 2 || p.Blocks[0].At[0] != 1 || p.Blocks[0].At[1] != 2 {
		t.Fatalf("blocks %+v", p.Blocks)
	}
	result, err := fit.Run(context.Background(), p, s.curator(t, p, 1, privacy.Ledger{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	post := result.Posterior
	if got := post.Guide.Size(); got != 6 {
		t.Errorf("%d variational parameters, want two for each of three", got)
	}
	for j := range 3 {
		if d := math.Abs(post.Mean[j]-s.mode[j]) / s.sd[j]; d > 0.2 {
			t.Errorf("mean[%d] is %.3f sd from the exact one", j, d)
		}
	}
}

func TestBlocksRefusals(t *testing.T) {
	s := withGuide(t, 100, "  blocks:\n    b: mean_field\n")
	for want, cfg := range map[string]plan.Config{
		"--guide: a delta guide":            {NonPrivate: true, Guide: "delta"},
		"--compat: d3p has no blocks":       {Epsilon: 1, Compat: "d3p"},
		"--noise-aware: curvature":          {Epsilon: 1, NoiseAware: "curvature"},
		"rank 3 is not between 1 and the 1": {Epsilon: 1, Guide: "low_rank", Rank: 3},
	} {
		if _, err := plan.New(s.model, cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", cfg, err, want)
		}
	}
	p, err := plan.New(s.model, plan.Config{Epsilon: 1, Guide: "low_rank"})
	if err != nil || p.Rank != 1 {
		t.Errorf("rank %d beside blocks, want 1: %v", p.Rank, err)
	}
	p, err = plan.New(s.model, plan.Config{Epsilon: 1})
	if err != nil || p.NoiseAware != settings.NoiseAwareVariance {
		t.Errorf("noise-aware %s by default beside blocks, want variance: %v", p.NoiseAware, err)
	}
}
