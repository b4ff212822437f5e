package fit_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"d3p/internal/fit"
	"d3p/internal/fit/plan"
	"d3p/internal/privacy"
	"d3p/internal/settings"
	"d3p/internal/stattest"
)

// customNormals guides the intercept and the slopes of the study by normals of
// its own, which is the mean field.
const customNormals = "  type: custom\n  params:\n    b: normal(loc, exp(width))\n  free:\n    loc: zeros [coef]\n    width: -2.3 [coef]\n"

// A guide that the model file writes itself finds the posterior, with privacy
// and without.
func TestCustomGuideOfTheModelFile(t *testing.T) {
	stattest.SkipNumerics(t)
	s := withGuide(t, 1000, customNormals)
	p := s.plan(t, plan.Config{NonPrivate: true, Guide: "custom", Steps: 1500})
	result, err := fit.Run(context.Background(), p, s.curator(t, p, 1, privacy.Ledger{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	post := result.Posterior
	if got := post.Guide.Size(); got != 6 {
		t.Errorf("%d free parameters, want two for each of three", got)
	}
	for j := range 3 {
		if d := math.Abs(post.Mean[j]-s.mode[j]) / s.sd[j]; d > 0.2 {
			t.Errorf("mean[%d] is %.3f sd from the exact one", j, d)
		}
		if ratio := math.Exp(post.LogSD[j]) / s.sd[j]; ratio < 0.7 || ratio > 1.3 {
			t.Errorf("sd[%d] is %.3f times the exact one", j, ratio)
		}
	}
	private := s.plan(t, plan.Config{Epsilon: 8, Guide: "custom", Steps: 300})
	if private.NoiseAware != settings.NoiseAwareNone || private.Warnings[len(private.Warnings)-1].ID != "custom-guide-noise" {
		t.Errorf("noise-aware %s, warnings %+v", private.NoiseAware, private.Warnings)
	}
	if result, err = fit.Run(context.Background(), private, s.curator(t, private, 1, privacy.Ledger{}), nil); err != nil {
		t.Fatal(err)
	}
	post = result.Posterior
	for j, v := range post.VarDP {
		if v != 0 || math.Abs(post.Mean[j]-s.mode[j]) > 0.5 {
			t.Errorf("mean[%d] = %.3f, exact %.3f; variance of the noise %g", j, post.Mean[j], s.mode[j], v)
		}
	}
}

func TestCustomGuideRefusals(t *testing.T) {
	s := withGuide(t, 100, customNormals)
	for _, c := range []struct {
		cfg  plan.Config
		want string
	}{
		{plan.Config{Epsilon: 1, Guide: "custom", NoiseAware: "variance"}, "does not follow the privacy noise"},
		{plan.Config{Epsilon: 1, Guide: "custom", Compat: "d3p"}, "only mean_field has vanilla gradients"},
	} {
		if _, err := plan.New(s.model, c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
	plain := newStudy(t, 100)
	if _, err := plan.New(plain.model, plan.Config{Epsilon: 1, Guide: "custom"}); err == nil || !strings.Contains(err.Error(), "needs distributions") {
		t.Errorf("a model without laws: %v", err)
	}
}
