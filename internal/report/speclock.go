package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"d3p/internal/release"
)

// Applied is a setting of a run: its value and the value's source.
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

// lockedSetting is a line of the second document.
var lockedSetting = regexp.MustCompile(`^  ([a-z0-9-]+): \{value: (.*), source: ("(?:[^"\\]|\\.)*")\}$`)

// LockedSettings are the settings in the text of a spec.lock.yaml, by name, which must be
// as LockFile writes them.
func LockedSettings(lock []byte) (map[string]any, error) {
	model, text, _ := strings.Cut(string(lock), lockSeparator)
	var list []Applied
	values := map[string]any{}
	for line := range strings.Lines(text) {
		parts := lockedSetting.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if parts == nil {
			return nil, errors.New("a line is no setting")
		}
		var value any
		var source string
		if err := errors.Join(json.Unmarshal([]byte(parts[2]), &value), json.Unmarshal([]byte(parts[3]), &source)); err != nil {
			return nil, err
		}
		if _, twice := values[parts[1]]; twice {
			return nil, fmt.Errorf("setting %s is there twice", parts[1])
		}
		values[parts[1]], list = value, append(list, Applied{parts[1], json.RawMessage(parts[2]), source})
	}
	var again strings.Builder
	if err := LockFile(nil, list, "").Write(&again); err != nil {
		return nil, err
	}
	if _, written, _ := strings.Cut(again.String(), lockSeparator); written != text || model == "" {
		return nil, errors.New("its bytes are not what d3p writes")
	}
	return values, nil
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

// ReadDrawn returns the number of posterior draws in the fit of a release, and their seed.
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
