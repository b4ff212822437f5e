package jsonfile

import (
	"math"
	"reflect"
	"strconv"
	"strings"
)

// NonFinite returns the places of numbers in v that JSON lacks, NaN and the infinities, such
// as plan.clip_norm or law.columns[2].shares[0].
func NonFinite(v any) []string { return nonFinite(reflect.ValueOf(v), "", nil) }

func nonFinite(v reflect.Value, at string, list []string) []string {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			list = append(list, at)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			list = nonFinite(v.Elem(), at, list)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			list = nonFinite(v.Index(i), at+"["+strconv.Itoa(i)+"]", list)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			list = nonFinite(v.MapIndex(key), at+"."+key.String(), list)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case !f.IsExported() && !f.Anonymous || name == "-":
			case f.Anonymous && name == "":
				list = nonFinite(v.Field(i), at, list)
			default:
				if name == "" {
					name = f.Name
				}
				list = nonFinite(v.Field(i), strings.TrimPrefix(at+"."+name, "."), list)
			}
		}
	}
	return list
}
