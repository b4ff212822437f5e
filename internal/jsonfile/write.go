// Package jsonfile writes JSON in one form only, and reads only that form.
package jsonfile

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Write writes v as indented JSON with a final newline. Numbers that JSON lacks, NaN
// and the infinities, are null.
func Write(w io.Writer, v any) error {
	err := encode(w, v)
	if unsupported := new(json.UnsupportedValueError); errors.As(err, &unsupported) {
		return encode(w, finite(reflect.ValueOf(v)))
	}
	return err
}

// encode writes all of v or nothing.
func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// finite is v with nil in place of numbers that JSON lacks. Structs become lists of their
// fields, in order.
func finite(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	if v.CanInterface() {
		switch v.Interface().(type) {
		case json.Marshaler, encoding.TextMarshaler:
			return v.Interface()
		}
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return finite(v.Elem())
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && (v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8) {
			break
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = finite(v.Index(i))
		}
		return list
	case reflect.Map:
		if v.IsNil() || v.Type().Key().Kind() != reflect.String {
			break
		}
		m := make(map[string]any, v.Len())
		for _, key := range v.MapKeys() {
			m[key.String()] = finite(v.MapIndex(key))
		}
		return m
	case reflect.Struct:
		return fieldsOf(v, nil)
	}
	return v.Interface()
}

// fields are the fields of a struct in their order.
type fields []field

type field struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (f fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, x := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		for j, part := range []any{x.name, x.value} {
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(part); err != nil {
				return nil, err
			}
			if j == 0 {
				b.WriteByte(':')
			}
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// fieldsOf appends the fields of a struct as encoding/json names them.
func fieldsOf(v reflect.Value, list fields) fields {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			inner := v.Field(i)
			if inner.Kind() == reflect.Pointer && !inner.IsNil() {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				list = fieldsOf(inner, list)
				continue
			}
		}
		omit := slices.Contains(strings.Split(options, ","), "omitempty") && empty(v.Field(i))
		if !f.IsExported() || name == "-" && options == "" || omit {
			continue
		}
		name = cmp.Or(name, f.Name)
		list = append(list, field{name, finite(v.Field(i))})
	}
	return list
}

// empty reports whether encoding/json omits a value with omitempty.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
