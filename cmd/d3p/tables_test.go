package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"d3p/internal/fit/optimizer"
	"d3p/internal/privacy/sampler"
)

// TestModelFilesNameEveryTable compares the names that a model file may use with
// the tables of what d3p can do: a sampler, an optimizer or a schedule that is in
// one place and not in the other fails it.
func TestModelFilesNameEveryTable(t *testing.T) {
	src, err := os.ReadFile("../../docs/schema/model-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema any
	if err := json.Unmarshal(src, &schema); err != nil {
		t.Fatal(err)
	}
	for _, table := range []struct {
		block, key string
		names      []string
	}{
		{"sampling", "scheme", append(sampler.Schemes(), "feistel")},
		{"optimizer", "name", optimizer.Names()},
		{"optimizer", "schedule", optimizer.ScheduleNames()},
	} {
		got := choices(property(property(property(schema, "fit"), table.block), table.key))
		slices.Sort(got)
		slices.Sort(table.names)
		if !slices.Equal(got, table.names) {
			t.Errorf("fit: %s: %s: a model file may say %v, the table has %v", table.block, table.key, got, table.names)
		}
	}
}

// property finds the schema of a key of an object, in whichever alternative has it.
func property(schema any, key string) any {
	object, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	if properties, ok := object["properties"].(map[string]any); ok && properties[key] != nil {
		return properties[key]
	}
	alternatives, _ := object["anyOf"].([]any)
	for _, a := range alternatives {
		if found := property(a, key); found != nil {
			return found
		}
	}
	return nil
}

// choices are the names that a schema allows, without auto.
func choices(schema any) (names []string) {
	object, _ := schema.(map[string]any)
	enum, _ := object["enum"].([]any)
	for _, e := range enum {
		if s, ok := e.(string); ok && !strings.EqualFold(s, "auto") {
			names = append(names, s)
		}
	}
	alternatives, _ := object["anyOf"].([]any)
	for _, a := range alternatives {
		names = append(names, choices(a)...)
	}
	return names
}
