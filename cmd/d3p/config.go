package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"d3p/internal/models/spec"
	"d3p/internal/spell"
)

// layer is one place that values come from. It returns the value of a setting,
// nil when the flag holds it already, and where it stands.
type layer func(row setting) (value any, source string, ok bool)

// resolve fills s from the flags, the D3P_* variables and the config file, in
// this order. All mistakes are reported at once.
func (a *app) resolve(c *cobra.Command, s *runSettings) error {
	config, err := a.readConfig(c)
	if err != nil {
		return err
	}
	flags := func(row setting) (any, string, bool) {
		return nil, "--" + row.name, c.Flags().Changed(row.name)
	}
	variables := func(row setting) (any, string, bool) {
		value, ok := a.env(variable(row.name))
		return value, variable(row.name), ok
	}
	errs := append(a.unknownVariables(), s.apply(c, flags, variables, config)...)
	s.beside = maps.Clone(s.set)
	return failWith(statusUsage, errors.Join(errs...))
}

// resolveModel fills what is still unset from the model file.
func (s *runSettings) resolveModel(c *cobra.Command, m *spec.Spec) error {
	values := modelValues()
	model := func(row setting) (any, string, bool) {
		find, ok := values[row.name]
		if !ok {
			return nil, "", false
		}
		value, at := find(m)
		return value, at.String(), at.Line > 0
	}
	return failWith(statusSpec, errors.Join(s.apply(c, model)...))
}

// apply gives every setting that has no value yet the one of the first layer
// that has one, and records where it came from. A value that an earlier layer
// gives another setting of the same meaning (sameMeaning) goes before it.
func (s *runSettings) apply(c *cobra.Command, layers ...layer) (errs []error) {
	before := maps.Clone(s.set)
	first := func(name string) int {
		return slices.IndexFunc(layers, func(l layer) bool { _, _, ok := l(setting{name: name}); return ok })
	}
	for _, row := range settings() {
		flag := c.Flags().Lookup(row.name)
		if flag == nil || s.set[row.name] {
			continue
		}
		s.sources[row.name] = "default"
		chosen := first(row.name)
		if other := sameMeaning[row.name]; other != "" && chosen >= 0 {
			if at := first(other); before[other] || at >= 0 && at < chosen {
				continue
			}
		}
		if chosen < 0 {
			continue
		}
		value, source, _ := layers[chosen](row)
		s.set[row.name], s.sources[row.name] = true, withoutFolder(source)
		if err := assign(flag, value, row); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", source, err))
		}
	}
	return errs
}

// withoutFolder keeps of a file's path in a source the last element: sources
// are published.
func withoutFolder(source string) string {
	return source[strings.LastIndexByte(source, filepath.Separator)+1:]
}

// assign sets the flag to value, unless that is nil, and checks what it holds.
func assign(flag *pflag.Flag, value any, row setting) error {
	if value != nil {
		text := fmt.Sprint(value)
		if list, ok := value.([]any); ok {
			text = strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
		}
		if err := flag.Value.Set(text); err != nil {
			return fmt.Errorf("%q is not %s", text, valueKind(flag.Value.Type()))
		}
	}
	return checkValue(row, flag.Value)
}

// readConfig reads the file of --config or D3P_CONFIG. Unknown keys are
// refused, each with the nearest known one.
func (a *app) readConfig(c *cobra.Command) (layer, error) {
	path, _ := c.Flags().GetString("config")
	if path == "" {
		path, _ = a.env(variable("config"))
	}
	if path == "" {
		return func(setting) (any, string, bool) { return nil, "", false }, nil
	}
	v := viper.New()
	v.SetConfigFile(path)
	if err := v.ReadInConfig(); err != nil {
		var kind viper.UnsupportedConfigError
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil, usagef("--config: no file %s", path)
		case errors.As(err, &kind):
			return nil, usagef("--config: %s: the name must end in .toml, .yaml or .json", path)
		}
		return nil, usagef("%s: %w", path, err)
	}
	var errs []error
	names := settingNames()
	for _, key := range v.AllKeys() {
		if !slices.Contains(names, key) {
			errs = append(errs, fmt.Errorf("%s: unknown setting %s%s", path, key, spell.Hint(key, names)))
		}
	}
	return func(row setting) (any, string, bool) {
		return v.Get(row.name), path + ": " + row.name, v.InConfig(row.name)
	}, failWith(statusUsage, errors.Join(errs...))
}

// unknownVariables refuses D3P_ variables that no setting reads: a mistyped one
// would be ignored in silence. D3P_DATA belongs to the project's own tests.
func (a *app) unknownVariables() (errs []error) {
	known := []string{variable("config"), "D3P_DATA"}
	for _, name := range settingNames() {
		known = append(known, variable(name))
	}
	for _, pair := range a.environ {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "D3P_") && !slices.Contains(known, name) {
			errs = append(errs, fmt.Errorf("unknown environment variable %s%s", name, spell.Hint(name, known)))
		}
	}
	return errs
}
