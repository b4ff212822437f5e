package jsonfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Read decodes the output of Write. The bytes must be exactly those that Write writes for
// the value. So no field can occur twice or in another case, and every other program reads
// the same value.
func Read[T any](raw []byte) (v T, err error) {
	if err := decode(raw, &v, false); err != nil {
		return v, err
	}
	if writes(raw, v) {
		return v, nil
	}
	var exact T // an untyped whole number may have no more digits than a float64
	if err := decode(raw, &exact, true); err != nil {
		return v, err
	}
	if !writes(raw, exact) {
		return v, errors.New("its bytes are not what d3p writes")
	}
	return v, nil
}

// writes reports whether Write writes raw for v.
func writes(raw []byte, v any) bool {
	var again bytes.Buffer
	return Write(&again, v) == nil && bytes.Equal(raw, again.Bytes())
}

// decode decodes one value and refuses anything after it. Exact keeps the digits of untyped
// numbers.
func decode(raw []byte, v any, exact bool) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if exact {
		d.UseNumber()
	}
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more bytes follow the value")
	}
	return nil
}

// Strict decodes JSON in any layout: one value with nothing after it, no name twice in an
// object, and only names of the value, in their exact case.
func Strict(raw []byte, v any) error {
	if err := decode(raw, v, false); err != nil {
		return err
	}
	had, err := unique(json.NewDecoder(bytes.NewReader(raw)))
	if err != nil {
		return err
	}
	again, err := json.Marshal(v)
	if err != nil {
		return err
	}
	has, err := unique(json.NewDecoder(bytes.NewReader(again)))
	if err != nil {
		return err
	}
	return had.within(has)
}

// names returns the names of objects in a JSON value, in nested values too.
type names struct {
	object map[string]names
	list   []names
}

// unique reads the names of the next value, and refuses a name that occurs twice.
func unique(d *json.Decoder) (n names, err error) {
	token, err := d.Token()
	if err != nil {
		return n, err
	}
	switch token {
	case json.Delim('{'):
		n.object = map[string]names{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return n, err
			}
			if _, twice := n.object[name.(string)]; twice {
				return n, fmt.Errorf("%q occurs twice", name)
			}
			if n.object[name.(string)], err = unique(d); err != nil {
				return n, err
			}
		}
	case json.Delim('['):
		for d.More() {
			element, err := unique(d)
			if err != nil {
				return n, err
			}
			n.list = append(n.list, element)
		}
	default:
		return n, nil
	}
	_, err = d.Token() // the end
	return n, err
}

// within refuses a name that other lacks.
func (n names) within(other names) error {
	for name, inner := range n.object {
		outer, ok := other.object[name]
		if !ok {
			return fmt.Errorf("unknown field %q", name)
		}
		if err := inner.within(outer); err != nil {
			return err
		}
	}
	if len(n.list) > len(other.list) {
		return errors.New("a list became shorter")
	}
	for i, inner := range n.list {
		if err := inner.within(other.list[i]); err != nil {
			return err
		}
	}
	return nil
}
