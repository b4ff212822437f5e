package docs

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "add the new keys of the schemas to the lists of stable ones")

// A key that a schema of version 1 once had stays: schema/NAME.keys lists them. With
// -update the test adds new keys; it never removes one.
func TestSchemasKeepTheirKeys(t *testing.T) {
	for _, name := range []string{"schema/model-v1", "schema/privacy-report-v1"} {
		src, err := os.ReadFile(name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var schema map[string]any
		if err := json.Unmarshal(src, &schema); err != nil {
			t.Fatal(err)
		}
		keys := map[string]bool{}
		collectKeys(keys, schema, schema, "", 0)
		list, err := os.ReadFile(name + ".keys")
		if err != nil && !*update {
			t.Fatal(err)
		}
		stable := strings.Fields(string(list))
		for _, key := range stable {
			if !keys[key] {
				t.Errorf("%s.json has lost the key %s, which version 1 promises", name, key)
			}
			delete(keys, key)
		}
		if len(keys) == 0 {
			continue
		}
		if !*update {
			t.Errorf("%s.keys lacks %v; run go test ./docs -update", name, sorted(keys))
			continue
		}
		for key := range keys {
			stable = append(stable, key)
		}
		slices.Sort(stable)
		if err := os.WriteFile(name+".keys", []byte(strings.Join(stable, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func sorted(keys map[string]bool) (list []string) {
	for key := range keys {
		list = append(list, key)
	}
	sort.Strings(list)
	return list
}

// collectKeys adds the paths of all properties of a schema: a.b for an object, a.* for
// the values of a map, a[] for the items of a list. It follows references, and
// recursive schemas to a depth of 8.
func collectKeys(keys map[string]bool, root, schema map[string]any, path string, depth int) {
	if depth > 8 {
		return
	}
	child := func(value any, path string) {
		if object, ok := value.(map[string]any); ok {
			collectKeys(keys, root, object, path, depth+1)
		}
	}
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(strings.TrimPrefix(ref, "#/$defs/"), "#/definitions/")
		defs, _ := root["$defs"].(map[string]any)
		child(defs[name], path)
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, value := range properties {
		at := strings.TrimPrefix(path+"."+name, ".")
		keys[at] = true
		child(value, at)
	}
	child(schema["additionalProperties"], path+".*")
	child(schema["items"], path+"[]")
	for _, form := range []string{"anyOf", "oneOf", "allOf"} {
		alternatives, _ := schema[form].([]any)
		for _, a := range alternatives {
			child(a, path)
		}
	}
}
