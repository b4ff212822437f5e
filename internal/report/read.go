package report

import (
	"fmt"

	"d3p/internal/outputs"
	"d3p/internal/privacy/event"
	"d3p/internal/release"
)

// checkVersion refuses a file of another version, whose fields may have other meanings.
func checkVersion(name string, version int) error {
	if version != release.SchemaVersion {
		return fmt.Errorf("%s: schema_version %d, want %d (use the d3p that wrote it)", name, version, release.SchemaVersion)
	}
	return nil
}

// ReadRelease reads the model file and the parameters of a release.
func ReadRelease(f *release.Folder) (model []byte, p outputs.Parameters, err error) {
	lock, err := f.ReadFile(LockName)
	if err != nil {
		return nil, p, err
	}
	if p, err = release.ReadJSON[outputs.Parameters](f, paramsName); err != nil {
		return nil, p, err
	}
	if err := checkVersion(paramsName, p.SchemaVersion); err != nil {
		return nil, p, err
	}
	if err := p.ReadWeights(f); err != nil {
		return nil, p, err
	}
	model, ok := LockedModel(lock)
	if !ok {
		return nil, p, fmt.Errorf("%s: no settings follow the model: it was altered (restore a copy)", LockName)
	}
	return model, p, nil
}

// mostSideQueries bounds the tables of a trace: a forged release with many would fill the memory.
const mostSideQueries = 1000

// ReadPrivacy reads privacy.json of a release.
func ReadPrivacy(f *release.Folder) (*Privacy, error) {
	p, err := release.ReadJSON[Privacy](f, privacyName)
	if err != nil {
		return nil, err
	}
	if g := p.Guarantee; g != nil && !(g.Delta > 0 && g.Delta < 1) { // a figure has a tick for each decade
		return nil, fmt.Errorf("%s: guarantee: a delta of %g is not between 0 and 1", privacyName, g.Delta)
	}
	if q := p.Mechanism.SideQueries; q != nil && len(q.Quantities)*len(q.Steps) > mostSideQueries {
		return nil, fmt.Errorf("%s: trace: %d quantities after %d steps are no trace of d3p", privacyName, len(q.Quantities), len(q.Steps))
	}
	return &p, checkVersion(privacyName, p.SchemaVersion)
}

// ReadEvent reads dp_event.json of a release.
func ReadEvent(f *release.Folder) (event.Event, error) {
	raw, err := f.ReadFile(EventName)
	if err != nil {
		return nil, err
	}
	return event.UnmarshalDpEvent(raw)
}
