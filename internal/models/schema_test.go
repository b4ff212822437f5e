package models_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"d3p/internal/models/spec"
)

var update = flag.Bool("update", false, "write docs/schema/model-v1.json")

const schemaFile = "../../docs/schema/model-v1.json"

// TestSchemaFile checks that the published schema is the one of the code.
// `go test ./internal/models -run TestSchemaFile -update` writes it.
func TestSchemaFile(t *testing.T) {
	want := spec.Schema()
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s does not follow from the code; run this test with -update", schemaFile)
	}
}

// TestSchema validates every example against the schema, and checks that it
// refuses what the parser refuses.
func TestSchema(t *testing.T) {
	var document any
	if err := json.Unmarshal(spec.Schema(), &document); err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("model.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("model.json")
	if err != nil {
		t.Fatal(err)
	}
	validate := func(src []byte) error {
		var value any
		if err := yaml.Unmarshal(src, &value); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(instance)
	}
	for i, example := range manualExamples(t) {
		if err := validate([]byte(example)); err != nil {
			t.Errorf("docs/reference/models.md, example %d: %v", i+1, err)
		}
	}
	for _, file := range configs(t) {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(src); err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
		if err := validate(parseFile(t, file).Render()); err != nil {
			t.Errorf("%s, rendered: %v", filepath.Base(file), err)
		}
		for old, wrong := range map[string]string{"data:": "dta:", "epsilon: ": "epsilon: a", "neighbours: ": "neighbours: x", "lower: ": "lowest: "} {
			changed := strings.Replace(string(src), old, wrong, 1)
			if changed == string(src) {
				continue // a model of text alone has no bounds
			}
			if err := validate([]byte(changed)); err == nil {
				t.Errorf("%s with %q in place of %q is valid", filepath.Base(file), wrong, old)
			}
		}
	}
}
