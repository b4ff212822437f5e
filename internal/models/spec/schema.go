package spec

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/expr"
	"d3p/internal/models/source"
	"d3p/internal/settings"
)

// Schema returns the JSON Schema (draft 2020-12) of model files, for editors. The code that
// reads the files describes them: every reader runs once with a shape, which notes what the
// reader would read.
func Schema() []byte {
	schema := language(nil).schema()
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["$id"] = "urn:d3p:schema:model-v1"
	schema["title"] = "d3p model file, version 1"
	out, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		panic("spec: the schema is no JSON: " + err.Error())
	}
	return append(out, '\n')
}

// language runs every reader with a shape; keys, unless nil, collects the keys.
func language(keys *[]Key) *shape {
	b := &blocks{Problems: &source.Problems{}, spec: &Spec{Settings: Settings{}}, load: noFiles, seen: map[string]expr.Position{}}
	r := &reader{Problems: b.Problems, spec: b.spec, shape: &shape{}, keys: keys}
	top := r.shape
	r.describeObject(b.topLevel(0))
	return top
}

// shape collects the forms that a value may have.
type shape struct {
	forms []any
	texts []string // encoded forms, to keep each once
	other *shape   // of the values of a mapping with free keys
}

// add notes a form, once. Inside a mapping with free keys it is a form of the
// mapping's values.
func (s *shape) add(form any) {
	for s.other != nil {
		s = s.other
	}
	text, err := json.Marshal(form)
	if err != nil {
		panic("spec: a form is no JSON: " + err.Error())
	}
	if !slices.Contains(s.texts, string(text)) {
		s.texts = append(s.texts, string(text))
		s.forms = append(s.forms, form)
	}
}

// deprecated marks the forms of a key that an editor should advise against.
func (s *shape) deprecated() {
	for _, form := range s.forms {
		form.(map[string]any)["deprecated"] = true
	}
}

// schema is the collected schema; nil for a value that cannot be given.
func (s *shape) schema() map[string]any {
	forms := s.forms
	if s.other != nil {
		forms = append(forms, map[string]any{"type": "object", "additionalProperties": s.other.schema()})
	}
	switch len(forms) {
	case 0:
		return nil
	case 1:
		return forms[0].(map[string]any)
	}
	return map[string]any{"anyOf": forms}
}

// probes are nodes of the three kinds: a reader that decides by the kind of its
// node runs once with each.
func probes() []ast.Node {
	return []ast.Node{&ast.StringNode{}, &ast.MappingNode{}, &ast.SequenceNode{}}
}

// describeObject notes a mapping with known keys; words are texts that may replace any of
// its values.
func (r *reader) describeObject(known []field, words ...string) {
	outer, path := r.shape, r.path
	properties := make(map[string]any)
	for _, f := range known {
		r.shape = &shape{}
		r.path = path + f.key
		key := r.addKey(f)
		for _, n := range probes() {
			inner := r.shape
			r.path = path + f.key + "."
			f.read(r, entry{key: f.key, node: n})
			r.shape = inner
		}
		r.addChoices(key)
		if r.shape.schema() == nil {
			continue // reserved: not available yet
		}
		for _, w := range words {
			r.shape.forms = append(r.shape.forms, map[string]any{"const": w})
		}
		schema := r.shape.schema()
		if f.meaning != "" {
			schema["description"] = f.meaning
		}
		properties[f.key] = schema
	}
	r.shape, r.path = outer, path
	r.shape.add(map[string]any{"type": "object", "properties": properties, "additionalProperties": false})
}

// describeEntries notes a mapping with free keys; its values follow from the next reads.
func (r *reader) describeEntries() []entry {
	if r.shape.other == nil {
		r.shape.other = &shape{}
	}
	r.path += "NAME."
	var list []entry
	for _, n := range probes() {
		list = append(list, entry{key: "name", node: n})
	}
	return list
}

// describesForm notes a form of a value, and reports whether the reader only describes.
func (r *reader) describesForm(form map[string]any) bool {
	if r.shape != nil {
		r.shape.add(form)
	}
	return r.shape != nil
}

// describes is describesForm of a scalar of one of these types.
func (r *reader) describes(types ...string) bool { return r.describesForm(formOf(types)) }

// describesList is describesForm of a list of scalars of these types.
func (r *reader) describesList(types ...string) bool {
	return r.describesForm(map[string]any{"type": "array", "items": formOf(types)})
}

// describesChoice is describesForm of one of a few words.
func (r *reader) describesChoice(options []string) bool {
	return r.describesForm(map[string]any{"enum": options})
}

// formOf is the form of a scalar of one of these types.
func formOf(types []string) map[string]any {
	if len(types) == 1 {
		return map[string]any{"type": types[0]}
	}
	return map[string]any{"type": types}
}

// describesSetting notes the values of a row of the table of settings.
func (r *reader) describesSetting(row settings.Setting) bool {
	if r.shape == nil {
		return false
	}
	form := map[string]any{}
	limit := func(key string, x float64, open bool) {
		if open {
			key = "exclusive" + strings.ToUpper(key[:1]) + key[1:]
		}
		if !math.IsInf(x, 0) {
			form[key] = x
		}
	}
	switch row.Kind {
	case settings.Number, settings.Count:
		form["type"] = map[settings.Kind]string{settings.Number: "number", settings.Count: "integer"}[row.Kind]
		limit("minimum", row.Range.Low, row.Range.Above)
		limit("maximum", row.Range.High, row.Range.Below)
	case settings.Word:
		form["enum"] = row.Choices
	case settings.Words:
		form["type"], form["items"] = "array", map[string]any{"enum": row.Choices}
	default:
		form["type"] = scalarTypes
	}
	r.shape.add(form)
	return true
}

// Key is a key of the model file, for the manual.
type Key struct {
	Path    string // data.columns.NAME.type; NAME is a name that the file chooses
	Meaning string
	Choices []string // its values, if they are a few words
	Needed  bool     // in its block
}

// Keys lists the keys of model files in the order of the file, without reserved, renamed
// and useless keys, and without the settings of layers.
func Keys() []Key {
	var keys []Key
	language(&keys)
	unused := ""
	return slices.DeleteFunc(keys, func(k Key) bool {
		if unused != "" && strings.HasPrefix(k.Path, unused) {
			return true
		}
		if k.Meaning == "" || k.Meaning == noUse || strings.HasPrefix(k.Meaning, oldNameOf) {
			unused = k.Path + "."
			return true
		}
		return false
	})
}

// addKey notes a key once and returns its place; -1 if it is left out.
func (r *reader) addKey(f field) int {
	if r.keys == nil || slices.ContainsFunc(*r.keys, func(k Key) bool { return k.Path == r.path }) {
		return -1
	}
	*r.keys = append(*r.keys, Key{Path: r.path, Meaning: f.meaning, Needed: f.need != nil})
	return len(*r.keys) - 1
}

// addChoices notes the words that the key at a place may have, which are the forms of the shape.
func (r *reader) addChoices(at int) {
	if at < 0 {
		return
	}
	for _, form := range r.shape.forms {
		if words, ok := form.(map[string]any)["enum"]; ok {
			(*r.keys)[at].Choices = append((*r.keys)[at].Choices, words.([]string)...)
		}
	}
}
