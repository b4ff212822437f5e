package flags

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/viper"

	"d3p/internal/cluster"
	"d3p/internal/fit/plan"
	"d3p/internal/models"
	"d3p/internal/models/expr"
	"d3p/internal/models/spec"
	"d3p/internal/settings"
	"d3p/internal/status"
)

// Environment holds the sources of settings besides the command line, and the stream for
// notes about them.
type Environment struct {
	Variables []string // NAME=value, as in os.Environ
	Notef     func(format string, args ...any)
}

// Lookup returns the value of a variable and whether it is set.
func (e Environment) Lookup(name string) (string, bool) {
	for i := len(e.Variables) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(e.Variables[i], name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// source is where values come from: the flags, say. It returns the value of a setting under
// one of its names, and the place of the value.
type source func(name string) (value any, place string, ok bool)

// Resolve fills s from the flags, the D3P_* variables and the config file, in
// this order. All mistakes are reported at once.
func (s *Settings) Resolve(c *cobra.Command, e Environment) error {
	s.environ = e
	config, err := e.readConfig(c)
	if err != nil {
		return err
	}
	flags := func(name string) (any, string, bool) {
		return c.Flags().Lookup(name).Value, "--" + name, c.Flags().Changed(name)
	}
	variables := func(name string) (any, string, bool) {
		value, ok := e.Lookup(settings.Variable(name))
		return value, settings.Variable(name), ok
	}
	errs := slices.Concat(e.unknownVariables(), s.apply(c, flags, variables, config), untaken(c, variables, config))
	s.Beside = map[string]bool{}
	for name := range s.Values {
		s.Beside[name] = true
	}
	return status.With(status.Usage, errors.Join(errs...))
}

// ResolveModel fills unset values from the model file, and checks that the settings agree.
func (s *Settings) ResolveModel(c *cobra.Command, m *spec.Spec) error {
	model := func(name string) (any, string, bool) {
		v, ok := m.Settings[name]
		return v.V, v.At.String(), ok
	}
	if errs := s.apply(c, model); len(errs) > 0 {
		return status.With(status.Spec, errors.Join(errs...))
	}
	return s.conflicts(m)
}

// CheckAlone reports settings of a model file that the file itself makes useless or that the
// plan of a fit refuses, if no other source gives one.
func CheckAlone(m *models.Model) error {
	s := &Settings{Values: map[string]any{}, Sources: map[string]string{}}
	for name, v := range m.Spec.Settings {
		s.store(name, v.V)
	}
	if err := s.conflicts(m.Spec); err != nil {
		return err
	}
	if s.Fit.Epsilon == 0 && s.Fit.NoiseMultiplier == 0 {
		s.Fit.Epsilon = 1
	}
	if err := s.Locate(m.Spec, plan.Check(m, s.Fit)); status.Of(err) == status.Spec {
		return err
	}
	return nil // of what the file leaves open
}

// located is an error about a setting that names the place of the value.
type located struct {
	error
	text string
}

func (l located) Error() string { return l.text }
func (l located) Unwrap() error { return l.error }

// Locate names the place of a setting's value in an error of the plan that begins with the
// setting's flag, if the value does not come from the flag.
func (s *Settings) Locate(m *spec.Spec, err error) error {
	if err == nil {
		return nil
	}
	flag, text, _ := strings.Cut(err.Error(), ": ")
	name := strings.TrimPrefix(flag, "--")
	if name == flag || !s.Given(name) || s.Sources[name] == flag {
		return err
	}
	v, stated := m.Settings[name]
	if !stated || s.Beside[name] {
		return located{err, s.Sources[name] + ": " + text}
	}
	text = settings.Named(name).Field() + ": " + text
	if status.Of(err) == status.Usage {
		var inFile expr.Errors
		inFile.Add(v.At, "", "%s", text)
		return status.With(status.Spec, inFile.Err())
	}
	return located{err, fmt.Sprintf("%v: %s", v.At, text)}
}

// conflicts reports settings that the others make useless, with their places.
func (s *Settings) conflicts(m *spec.Spec) error {
	values := s.Fit.Values()
	maps.Copy(values, s.Values)
	var inFile expr.Errors
	var beside []error
	for _, c := range settings.Conflicts(s.Values, values) {
		if v, ok := m.Settings[c.Name]; ok && !s.Beside[c.Name] {
			inFile.Add(v.At, spec.Remedy(c), "%s: %s", settings.Named(c.Name).Field(), c.Text)
		} else {
			beside = append(beside, fmt.Errorf("%s: %w", s.Sources[c.Name], c))
		}
	}
	if len(beside) > 0 {
		return status.With(status.Usage, errors.Join(append(beside, inFile.Err())...))
	}
	return status.With(status.Spec, inFile.Err())
}

// apply gives every unset setting the value of the first source that has one, and records
// the place. If an earlier source gives a value to a setting of the same meaning, that
// value wins.
func (s *Settings) apply(c *cobra.Command, sources ...source) (errs []error) {
	before := maps.Clone(s.Values)
	// first is the first source with a value of the row, and the name that it uses.
	first := func(row settings.Setting) (at int, name string) {
		for at, from := range sources {
			for _, name := range row.Names() {
				if _, _, ok := from(name); ok {
					return at, name
				}
			}
		}
		return len(sources), row.Name
	}
	for _, row := range settings.Table() {
		if c.Flags().Lookup(row.Name) == nil || s.Given(row.Name) || s.open[row.Name] {
			continue
		}
		s.Sources[row.Name] = "default"
		chosen, name := first(row)
		if chosen == len(sources) || stronger(row, before, func(other settings.Setting) bool { at, _ := first(other); return at < chosen }) {
			continue
		}
		value, place, _ := sources[chosen](name)
		s.Sources[row.Name] = withoutFolder(place)
		if name != row.Name {
			s.environ.Notef("note: %s is an old name of %s", place, row.Name)
		}
		text := asText(row.Kind, value)
		if text == settings.Auto && !slices.Contains(row.Choices, text) {
			s.Sources[row.Name], s.open[row.Name] = "default", true
			continue
		}
		read, mistake := row.Read(text)
		if mistake != nil {
			errs = append(errs, fmt.Errorf("%s: %w", place, mistake))
			continue
		}
		if row.Kind == settings.Word && text != row.Print(read) {
			s.environ.Notef("note: %s: %s is an old spelling of %s", place, text, row.Print(read))
		}
		s.store(row.Name, read)
	}
	return errs
}

// untaken refuses wrong values of settings that c does not take, because another command
// would refuse them later. Variables and a config file serve several commands.
func untaken(c *cobra.Command, sources ...source) (errs []error) {
	for _, row := range settings.Table() {
		if c.Flags().Lookup(row.Name) != nil {
			continue
		}
		for _, from := range sources {
			for _, name := range row.Names() {
				value, place, ok := from(name)
				text := asText(row.Kind, value)
				if !ok || text == settings.Auto || text == "" { // an empty variable was there for the other command
					continue
				}
				if _, mistake := row.Read(text); mistake != nil {
					errs = append(errs, fmt.Errorf("%s: %w", place, mistake))
				}
			}
		}
	}
	return errs
}

// stronger reports whether a setting of the same meaning as row has a value already, or
// gets one from an earlier source.
func stronger(row settings.Setting, before map[string]any, earlier func(settings.Setting) bool) bool {
	return slices.ContainsFunc(settings.Table(), func(other settings.Setting) bool {
		return (other.Name == row.Same || other.Same == row.Name) && (before[other.Name] != nil || earlier(other))
	})
}

// asText writes a value of a source as the setting's flag would have it.
func asText(kind settings.Kind, value any) string {
	if kind == settings.Words {
		switch v := value.(type) {
		case []any:
			words := make([]string, len(v))
			for i, word := range v {
				words[i] = fmt.Sprint(word)
			}
			return strings.Join(words, ",")
		case []string:
			return strings.Join(v, ",")
		}
	}
	return fmt.Sprint(value)
}

// withoutFolder keeps the last element of a file's path: sources are published.
func withoutFolder(source string) string {
	return source[strings.LastIndexByte(source, filepath.Separator)+1:]
}

// readConfig reads the file of --config or D3P_CONFIG. It refuses unknown keys and names
// the nearest known one.
func (e Environment) readConfig(c *cobra.Command) (source, error) {
	path, _ := c.Flags().GetString("config")
	if path == "" {
		set := false
		if path, set = e.Lookup(settings.Variable("config")); set && path == "" {
			return nil, status.Usagef("%s: %q names no file (name it, or unset the variable)", settings.Variable("config"), path)
		}
	}
	if path == "" {
		return func(string) (any, string, bool) { return nil, "", false }, nil
	}
	v := viper.New()
	v.SetConfigFile(path)
	if err := v.ReadInConfig(); err != nil {
		var kind viper.UnsupportedConfigError
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil, status.Usagef("--config: no file %s", path)
		case errors.As(err, &kind):
			return nil, status.Usagef("--config: %s: the name must end in .toml, .yaml or .json", path)
		}
		return nil, status.Usagef("%s: %w", path, err)
	}
	var errs []error
	names := settingNames()
	for _, key := range v.AllKeys() {
		if !slices.Contains(names, key) {
			errs = append(errs, fmt.Errorf("%s: unknown setting %s%s", path, key, settings.Hint(key, names)))
		}
	}
	return func(name string) (any, string, bool) {
		return v.Get(name), path + ": " + name, v.InConfig(name)
	}, status.With(status.Usage, errors.Join(errs...))
}

// unknownVariables refuses D3P_ variables that no setting reads, because a mistyped one
// would have no effect. D3P_DATA belongs to the project's own tests.
func (e Environment) unknownVariables() (errs []error) {
	known := []string{settings.Variable("config"), cluster.LibraryVariable, "D3P_DATA"}
	for _, name := range settingNames() {
		known = append(known, settings.Variable(name))
	}
	for _, pair := range e.Variables {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "D3P_") && !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("unknown environment variable %s%s", name, settings.Hint(name, known)))
		}
	}
	return errs
}

// settingNames lists the names and old names of all settings.
func settingNames() (names []string) {
	for _, row := range settings.Table() {
		names = append(names, row.Names()...)
	}
	return names
}
