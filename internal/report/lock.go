package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"d3p/internal/release"
)

// Applied is a setting of a run: its value and where that came from.
type Applied struct {
	Name   string
	Value  any
	Source string // default, --flag, D3P_VARIABLE, file: key, or file:line:column
}

// LockName is the model as it was fitted.
const LockName = "spec.lock.yaml"

// lockSeparator separates the two documents of spec.lock.yaml, and begins the second one.
const lockSeparator = "\n---\nsettings:\n"

// LockFile is spec.lock.yaml: the model file with every default filled in, and,
// as a second document, every setting with its source.
func LockFile(rendered []byte, settings []Applied, banner string) release.File {
	return release.File{Name: LockName, Covered: false, Write: func(w io.Writer) error {
		var b strings.Builder
		if banner != "" {
			fmt.Fprintf(&b, "# %s\n", banner)
		}
		b.WriteString("# The model as it was fitted; below the line, the settings and where each came from.\n")
		b.WriteString(strings.TrimRight(string(rendered), "\n"))
		b.WriteString(lockSeparator)
		for _, s := range settings {
			value, err := json.Marshal(s.Value)
			if err != nil {
				return fmt.Errorf("setting %s: %w", s.Name, err)
			}
			source, err := json.Marshal(s.Source)
			if err != nil {
				return fmt.Errorf("setting %s: %w", s.Name, err)
			}
			fmt.Fprintf(&b, "  %s: {value: %s, source: %s}\n", s.Name, value, source)
		}
		_, err := io.WriteString(w, b.String())
		return err
	}}
}

// LockedModel returns the model file in the text of a spec.lock.yaml, and whether
// it is one.
func LockedModel(lock []byte) (model []byte, ok bool) {
	text, _, ok := strings.Cut(string(lock), lockSeparator)
	return []byte(text + "\n"), ok
}

// lockedSettings are the settings of a release that other files do not have.
type lockedSettings struct {
	Draws struct{ Value int }
	Seed  struct{ Value string }
	Guide struct{ Value string }
}

func readSettings(f *release.Folder) (settings lockedSettings, err error) {
	lock, err := f.ReadFile(LockName)
	if err != nil {
		return settings, err
	}
	_, text, _ := strings.Cut(string(lock), lockSeparator)
	if err := yaml.Unmarshal([]byte(text), &settings); err != nil {
		return settings, fmt.Errorf("%s: the settings are not readable (restore a copy)", LockName)
	}
	return settings, nil
}

// ReadGuide returns the guide that the fit of a release moved.
func ReadGuide(f *release.Folder) (string, error) {
	settings, err := readSettings(f)
	return settings.Guide.Value, err
}

// ReadDrawn returns how many draws of the posterior the fit of a release took, and
// their seed.
func ReadDrawn(f *release.Folder) (draws int, seed uint64, err error) {
	settings, err := readSettings(f)
	if err != nil {
		return 0, 0, err
	}
	if settings.Seed.Value != "" {
		seed, err = strconv.ParseUint(settings.Seed.Value, 10, 64)
	}
	return settings.Draws.Value, seed, err
}
