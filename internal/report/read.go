package report

import (
	"fmt"
	"math"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/posterior"
	"d3p/internal/privacy/event"
	"d3p/internal/release"
)

// schemaVersion is that of params.json and privacy.json, as they are written and
// read here.
const schemaVersion = release.SchemaVersion

// checkVersion refuses a file of another version, which may mean something else.
func checkVersion(name string, version int) error {
	if version != schemaVersion {
		return fmt.Errorf("%s: schema_version %d, want %d (use the d3p that wrote it)", name, version, schemaVersion)
	}
	return nil
}

// ReadRelease reads the model file and the parameters of a release.
func ReadRelease(f *release.Folder) (model []byte, p Parameters, err error) {
	lock, err := f.ReadFile(LockName)
	if err != nil {
		return nil, p, err
	}
	if p, err = release.ReadJSON[Parameters](f, paramsName); err != nil {
		return nil, p, err
	}
	if err := checkVersion(paramsName, p.SchemaVersion); err != nil {
		return nil, p, err
	}
	if err := p.readWeights(f); err != nil {
		return nil, p, err
	}
	model, ok := LockedModel(lock)
	if !ok {
		return nil, p, fmt.Errorf("%s: no settings follow the model: it was altered (restore a copy)", LockName)
	}
	return model, p, nil
}

// Posterior is the posterior of the model m that the parameters describe.
func (p Parameters) Posterior(m *models.Model) (*posterior.Posterior, error) {
	latent := len(p.Guide.VarDP)
	if latent != m.P {
		return nil, fmt.Errorf("params.json: %d parameters, the model has %d", latent, m.P)
	}
	g, err := plan.NewGuide(m, p.Guide.Family, guide.Options{
		Rank: p.Guide.Rank, Blocks: p.Guide.Blocks, Draws: len(p.Guide.Lambda)/m.P - 1, Chains: p.Guide.Chains,
	})
	if err != nil {
		return nil, fmt.Errorf("params.json: %w", err)
	}
	if len(p.Guide.Lambda) != g.Size() {
		return nil, fmt.Errorf("params.json: %d guide parameters, want %d", len(p.Guide.Lambda), g.Size())
	}
	if n := len(p.Guide.NoiseFactor); n != 0 && n != latent*(latent+1)/2 {
		return nil, fmt.Errorf("params.json: noise_factor has %d numbers, want %d", n, latent*(latent+1)/2)
	}
	mean, logSD := guide.Location(g, p.Guide.Lambda), make([]float64, latent)
	g.SD(logSD, p.Guide.Lambda)
	for j, sd := range logSD {
		logSD[j] = math.Log(sd)
	}
	return &posterior.Posterior{
		Guide: g, Lambda: p.Guide.Lambda, Mean: mean, LogSD: logSD, VarDP: p.Guide.VarDP, NoiseFactor: p.Guide.NoiseFactor, Steps: p.Steps,
	}, nil
}

// ReadPrivacy reads privacy.json of a release.
func ReadPrivacy(f *release.Folder) (*Privacy, error) {
	p, err := release.ReadJSON[Privacy](f, privacyName)
	if err != nil {
		return nil, err
	}
	return &p, checkVersion(privacyName, p.SchemaVersion)
}

// ReadEvent reads dp_event.json of a release.
func ReadEvent(f *release.Folder) (event.Event, error) {
	raw, err := f.ReadFile(eventName)
	if err != nil {
		return nil, err
	}
	return event.UnmarshalDpEvent(raw)
}
