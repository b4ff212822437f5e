package jsonfile_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"d3p/internal/jsonfile"
)

type inner struct {
	X    float64            `json:"x"`
	List []float64          `json:"list"`
	Map  map[string]float64 `json:"map,omitempty"`
}

type outer struct {
	inner
	Name  string          `json:"name"`
	Share *float64        `json:"share"`
	Raw   json.RawMessage `json:"raw"`
	Any   any             `json:"any"`
	Deep  []inner         `json:"deep"`
	Bytes []byte          `json:"bytes,omitempty"`
	left  float64
}

func written(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	if err := jsonfile.Write(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Numbers that JSON lacks are null at every place; everything else is written as without
// them.
func TestWriteFinite(t *testing.T) {
	nan, x := math.NaN(), 1.5
	v := outer{inner: inner{X: 2, List: []float64{1, 2}, Map: map[string]float64{"a": 1}}, Name: "<&>", Share: &x, Raw: json.RawMessage(`{"k": 1}`), Any: map[string]any{"z": 1}, Deep: []inner{{}}, left: 1}
	finite := written(t, v)
	v.X, v.List[1], v.Map["a"], v.Share, v.Any, v.Deep[0].X = nan, math.Inf(1), math.Inf(-1), &nan, map[string]any{"z": nan}, nan
	got := written(t, v)
	want := strings.NewReplacer(`"x": 2`, `"x": null`, "    2\n", "    null\n", `"a": 1`, `"a": null`, `"share": 1.5`, `"share": null`, `"z": 1`, `"z": null`, `"x": 0`, `"x": null`).Replace(finite)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, v := range []any{nan, &nan, []any{nan}, [2]float64{nan, 1}, struct{ X float32 }{float32(nan)}} {
		if text := written(t, v); !strings.Contains(text, "null") {
			t.Errorf("%v is written as %s", v, text)
		}
	}
}

// Only the bytes that Write writes are read.
func TestReadIsExact(t *testing.T) {
	good := "{\n  \"x\": 0.01,\n  \"list\": [],\n  \"map\": {\n    \"A\": 2,\n    \"a\": 1\n  }\n}\n"
	if v, err := jsonfile.Read[inner]([]byte(good)); err != nil || v.X != 0.01 || len(v.Map) != 2 {
		t.Fatalf("%+v, %v", v, err)
	}
	for name, alter := range map[string][2]string{
		"a second spelling": {`"x": 0.01`, `"x": 0.01, "X": 0.9`}, "another case": {`"x"`, `"X"`}, "twice": {`"x": 0.01`, "\"x\": 0.9,\n  \"x\": 0.01"},
		"an unknown field": {`"x"`, "\"y\": 1,\n  \"x\""}, "another number": {"0.01", "1e-2"}, "more digits": {"0.01", "0.010"}, "a blank": {"  ", " "}, "null": {"0.01", "null"},
		"an escaped letter": {`"a"`, "\"\\u0061\""}, "another order": {"\"A\": 2,\n    \"a\": 1", "\"a\": 1,\n    \"A\": 2"},
	} {
		bad := strings.Replace(good, alter[0], alter[1], 1)
		if bad == good {
			t.Fatalf("%s alters nothing", name)
		}
		if v, err := jsonfile.Read[inner]([]byte(bad)); err == nil {
			t.Errorf("%s was read as %+v", name, v)
		}
	}
	for _, bad := range []string{good + "{}", good + " ", "\ufeff" + good, "", "{}", strings.TrimRight(good, "\n")} {
		if _, err := jsonfile.Read[inner]([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	if v, err := jsonfile.Read[map[string]any]([]byte("{\n  \"big\": 12345678901234567890\n}\n")); err != nil || v["big"] != 12345678901234567890.0 {
		t.Errorf("a whole number of 20 digits: %v, %v", v, err)
	}
}

// Another layout is read, another meaning is not.
func TestStrict(t *testing.T) {
	for text, ok := range map[string]bool{
		`{"x": 1, "list": [2]}`: true, `{"list":[ ],"x":1.0}`: true, `{"x":1,"list":[],"map":{"a":1,"A":2}}`: true,
		`{"x": 1, "X": 2}`: false, `{"X": 1}`: false, `{"x": 1, "x": 1}`: false, `{"x": 1, "y": 1}`: false, `{"x": 1} {}`: false,
		`{"map":{"a":1,"a":2}}`: false, `{"x":`: false,
	} {
		var v inner
		if err := jsonfile.Strict([]byte(text), &v); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
