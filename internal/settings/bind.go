package settings

import (
	"reflect"
	"slices"
	"strings"
)

// field is the field of the structure at target that is called like the setting:
// ClipNorm of clip-norm.
func field(target any, name string) (reflect.Value, bool) {
	plain := strings.ReplaceAll(name, "-", "")
	f := reflect.ValueOf(target).Elem().FieldByNameFunc(func(s string) bool { return strings.EqualFold(s, plain) })
	return f, f.IsValid()
}

// Has reports whether the structure at target has a field for the setting.
func Has(target any, name string) bool {
	_, ok := field(target, name)
	return ok
}

// Set stores a value of the setting in its field, through a pointer if that is one.
func Set(target any, name string, value any) {
	f, ok := field(target, name)
	if !ok {
		panic("settings: no field for " + name)
	}
	if f.Kind() == reflect.Pointer {
		f.Set(reflect.New(f.Type().Elem()))
		f = f.Elem()
	}
	f.Set(reflect.ValueOf(value))
}

// Given maps the settings of the groups that the structure at target gives to their
// values. A zero value is not given; a pointer to one is.
func Given(target any, groups ...Group) map[string]any {
	given := map[string]any{}
	for _, row := range Table() {
		if f, ok := field(target, row.Name); ok && slices.Contains(groups, row.Group) && !f.IsZero() {
			given[row.Name] = reflect.Indirect(f).Interface()
		}
	}
	return given
}
