package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/guide"
	"d3p/internal/posterior"
)

// schemaVersion is that of params.json, privacy.json and MANIFEST.json, as they are
// written and read here.
const schemaVersion = 1

// checkVersion refuses a file of another version, which may mean something else.
func checkVersion(path string, version int) error {
	if version != schemaVersion {
		return fmt.Errorf("%s: schema_version %d, want %d (use the d3p that wrote it)", path, version, schemaVersion)
	}
	return nil
}

// ReadRelease reads the model file and the parameters of a release. dir is the
// release folder or the run folder that holds it.
func ReadRelease(dir string) (model []byte, p Parameters, err error) {
	dir = ReleaseFolder(dir)
	lock, err := os.ReadFile(filepath.Join(dir, lockName))
	if err != nil {
		return nil, p, noRelease(dir, err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "params.json"))
	if err != nil {
		return nil, p, noRelease(dir, err)
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, p, fmt.Errorf("%s: %w", filepath.Join(dir, "params.json"), err)
	}
	if err := checkVersion(filepath.Join(dir, "params.json"), p.SchemaVersion); err != nil {
		return nil, p, err
	}
	if err := p.readWeights(dir); err != nil {
		return nil, p, err
	}
	model, ok := LockedModel(lock)
	if !ok {
		return nil, p, fmt.Errorf("%s: no settings follow the model: it was altered (restore a copy)", filepath.Join(dir, lockName))
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
		Rank: p.Guide.Rank, Blocks: p.Guide.Blocks, Draws: len(p.Guide.Lambda)/m.P - 1,
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

// noRelease says why nothing could be read from dir, given the error of the file
// that was wanted.
func noRelease(dir string, err error) error {
	if info, wrong := os.Stat(dir); wrong == nil && !info.IsDir() {
		return fmt.Errorf("%s is no release, which is a folder (unpack it first, if it is an archive)", dir)
	}
	var file *fs.PathError
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &file) {
		return fmt.Errorf("%s is no release: %w", dir, err)
	}
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("%s is no release: there is no such folder", dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "private")); err == nil {
		return fmt.Errorf("%s holds no release: its fit has not ended (d3p resume %[1]s goes on with one that was stopped)", dir)
	}
	return fmt.Errorf("%s is no release: it has no file %s", dir, filepath.Base(file.Path))
}

// ReadPrivacy reads privacy.json of a release or of the run folder that holds it.
func ReadPrivacy(dir string) (*Privacy, error) {
	path := filepath.Join(ReleaseFolder(dir), "privacy.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, noRelease(dir, err)
	}
	p := new(Privacy)
	if err := json.Unmarshal(raw, p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, checkVersion(path, p.SchemaVersion)
}
