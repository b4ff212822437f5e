package spec

import (
	"encoding/json"
	"slices"
	"testing"
)

// Every key of the schema has a meaning, but for the settings of layers, which package net
// describes.
func TestKeysHaveMeanings(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	keys := 0
	var visit func(path string, value any)
	visit = func(path string, value any) {
		switch v := value.(type) {
		case []any:
			for _, e := range v {
				visit(path, e)
			}
		case map[string]any:
			properties, _ := v["properties"].(map[string]any)
			for key, of := range properties {
				keys++
				if text, _ := of.(map[string]any)["description"].(string); text == "" {
					t.Errorf("%s.%s has no meaning", path, key)
				}
				if key != "nets" {
					visit(path+"."+key, of)
				}
			}
			for key, of := range v {
				if key != "properties" {
					visit(path, of)
				}
			}
		}
	}
	visit("", schema)
	if keys < 150 {
		t.Errorf("found %d keys", keys)
	}
}

func TestKeys(t *testing.T) {
	keys := Keys()
	find := func(path string) Key {
		at := slices.IndexFunc(keys, func(k Key) bool { return k.Path == path })
		if at < 0 {
			t.Fatalf("no key %s", path)
		}
		return keys[at]
	}
	if k := find("data.unit.entity"); !k.Needed {
		t.Error("data.unit.entity may be left out")
	}
	if k := find("data.columns.NAME.scale.by"); k.Needed {
		t.Error("scale needs by")
	}
	if k := find("data.quotes"); !slices.Equal(k.Choices, []string{"one_line", "none"}) {
		t.Error("choices of data.quotes:", k.Choices)
	}
	for _, k := range keys {
		for _, path := range []string{"fit.iterations", "fit.sampling.rate", "data.tables.NAME.columns.NAME.missing.impute"} {
			if k.Path == path {
				t.Errorf("%s is listed", path)
			}
		}
	}
}
