package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"d3p/internal/report"

	"github.com/google/jsonschema-go/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write the generated files instead of comparing them")

const schemaFile = "../../docs/schema/privacy-report-v1.json"

// privacySchema is the JSON Schema of privacy.json, from the Go types.
func privacySchema(t *testing.T) []byte {
	t.Helper()
	schema, err := jsonschema.For[report.Privacy](nil)
	if err != nil {
		t.Fatal(err)
	}
	schema.ID = report.PrivacySchema
	schema.Schema = "https://json-schema.org/draft/2020-12/schema"
	schema.Title = "d3p privacy report"
	// An event has the form of dp_accounting's named tuples, or is absent.
	schema.Properties["accounting"].Properties["event"] = &jsonschema.Schema{Types: []string{"null", "object"}}
	schema.Properties["budget"].Properties["before"].Properties["event"] = &jsonschema.Schema{Types: []string{"null", "object"}}
	out, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

func TestPrivacySchemaIsFresh(t *testing.T) {
	want := privacySchema(t)
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/schema/privacy-report-v1.json is not what the types say; run make docs (%v)", err)
	}
}

// validate checks a privacy.json against the published schema.
func validate(t *testing.T, raw []byte) error {
	t.Helper()
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	document, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := validator.NewCompiler()
	if err := compiler.AddResource(report.PrivacySchema, document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(report.PrivacySchema)
	if err != nil {
		t.Fatal(err)
	}
	instance, err := validator.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(instance)
}
