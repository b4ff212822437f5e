package spec

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"d3p/internal/models/expr"
	"d3p/internal/models/net"
	"d3p/internal/models/source"
	"d3p/internal/spell"
)

// reader walks the syntax tree of one YAML file and collects its mistakes.
type reader struct {
	*source.Problems
	spec *Spec
	// shape collects descriptions instead of reading: see Schema.
	shape *shape
	// keys collects the described keys with path in front, see Keys; nil collects none.
	keys *[]Key
	path string
	file string
	// dir is the file's folder, relative to the model file that includes it.
	dir string
}

// document parses src and returns the entries of its top-level mapping, or
// false when src has no such mapping. It skips a byte order mark.
func (r *reader) document(src []byte) ([]entry, bool) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if !utf8.Valid(src) || bytes.IndexByte(src, 0) >= 0 {
		r.Add(expr.Position{File: r.file, Line: 1, Column: 1}, "save it as UTF-8", "the file is no text in UTF-8")
		return nil, false
	}
	file, err := parser.ParseBytes(src, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntaxError(src, err)
		return nil, false
	}
	var body ast.Node
	for _, d := range file.Docs {
		switch {
		case d.Body == nil || d.Body.Type() == ast.CommentType:
		case body == nil:
			body = d.Body
		default:
			r.Add(r.at(d.Body), "one model per file", "second YAML document")
		}
	}
	if body == nil {
		r.Add(expr.Position{File: r.file, Line: 1, Column: 1}, "`d3p init data.csv` writes a skeleton", "the model file is empty")
		return nil, false
	}
	return r.entries(body, wholeFile)
}

// tilde is a statement of Stan, x ~ normal(0, 1).
var tilde = regexp.MustCompile(`^\s*(\w+) *~`)

func colonHint(line string) string {
	return "write a colon in place of ~, `" + tilde.FindStringSubmatch(line)[1] + ": ...`"
}

// syntaxError records the message of the YAML parser, with its position.
func (r *reader) syntaxError(src []byte, err error) {
	at, message := expr.Position{File: r.file, Line: 1, Column: 1}, err.Error()
	var positioned interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &positioned) {
		message = positioned.GetMessage()
		if t := positioned.GetToken(); t != nil && t.Position != nil {
			at.Line, at.Column = t.Position.Line, t.Position.Column
		}
	}
	hint := ""
	if lines := strings.Split(string(src), "\n"); at.Line <= len(lines) {
		line := lines[at.Line-1]
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		switch {
		case strings.Contains(indent, "\t"):
			at.Column = strings.IndexByte(indent, '\t') + 1
			message, hint = "a tab in the indentation", "indent with spaces"
		case strings.Contains(line, "{{"):
			message, hint = "{{ opens a mapping within a mapping", "write {key: value}; put the value of a template's placeholder here, or quote the text"
		case tilde.MatchString(line):
			hint = colonHint(line)
		case distributionInFlowMap(line):
			hint = splitHint
		}
	}
	r.Add(at, hint, "not valid YAML: %s", message)
}

// at returns the position of a node's first character.
func (r *reader) at(n ast.Node) expr.Position {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		n = m.Values[0].Key
	}
	if n != nil && n.GetToken() != nil && n.GetToken().Position != nil {
		p := n.GetToken().Position
		return expr.Position{File: r.file, Line: p.Line, Column: p.Column}
	}
	return expr.Position{File: r.file}
}

// examples are hints for mappings that users write as one value, by key.
var examples = map[string]string{
	"unit":    "write `unit: {entity: person, rows_per_unit: 1}`",
	"rows":    "write `rows: {public: 1000}`, or `rows: {upper_bound: 1000}`",
	"column":  "write `{type: real, lower: 18, upper: 100}`",
	"scale":   "write `scale: {center: 60, by: 20}`",
	"missing": "write `missing: {default: reject}`; texts that mean a missing value: `missing_tokens: [NA, \"-9\"]`",
	"model":   "write `model: {formula: y ~ x, family: normal}`",
	"priors":  "write each on a line of its own, as in `b: normal(0, 1)`",
	"privacy": "write `privacy: {epsilon: 1}`",
}

// entry is one `key: value` of a mapping.
type entry struct {
	key  string
	at   expr.Position // of the key
	node ast.Node      // the value; nil if there is nothing to read: auto, or split by a comma
}

// entries returns the entries of a mapping in file order. Keys that repeat,
// that are no plain text, or that a comma split off are reported and left out.
func (r *reader) entries(n ast.Node, what string) ([]entry, bool) {
	if r.shape != nil {
		return r.describeEntries(), true
	}
	m, ok := n.(*ast.MappingNode)
	if !ok {
		kind, _, _ := strings.Cut(what, " ")
		hint := examples[kind]
		if s, isText := n.(*ast.StringNode); isText && hint == "" && tilde.MatchString(s.Value) {
			hint = colonHint(s.Value)
		}
		r.Add(r.at(n), hint, "%s must be a mapping of `key: value` lines, not %s", what, describe(n))
		return nil, false
	}
	list, first := make([]entry, 0, len(m.Values)), make(map[string]expr.Position)
	split := 0 // parentheses that an earlier comma left open
	for _, v := range m.Values {
		key, at := v.Key.GetToken().Value, r.at(v.Key)
		if split > 0 {
			split += balance(key)
			if s, ok := v.Value.(*ast.StringNode); ok {
				split += balance(s.Value)
			}
			continue
		}
		switch v.Key.(type) {
		case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		default:
			r.Add(at, "", "a key must be plain text")
			continue
		}
		if seen, twice := first[key]; twice {
			r.Add(at, "", "%s appears twice; it first stands on line %d", key, seen.Line)
			continue
		}
		first[key] = at
		value := v.Value
		s, ok := value.(*ast.StringNode)
		if ok && m.IsFlowStyle && plain(s) && balance(s.Value) > 0 {
			split = balance(s.Value)
			r.Add(r.at(s), splitHint, "the comma inside {} splits the value of %s after `%s`", key, s.Value)
			value = nil
		} else if ok && plain(s) && s.Value == Blank {
			r.Add(r.at(s), blankHint(key), "%s %s", key, Unfilled)
			value = nil
		}
		list = append(list, entry{key, at, value})
	}
	return list, true
}

// present holds the keys of the mapping that was read, or nil.
type present map[string]bool

// object reads a mapping with exactly these keys; others are reported with the
// nearest one, and so is the absence of a key that is needed. It returns the keys that
// are there, with or without mistakes in their values, and nil when e is no mapping.
func (r *reader) object(e entry, what string, known []field) present {
	if r.shape != nil {
		r.describeObject(known)
		return nil
	}
	if e.node == nil {
		return nil // still to be filled in, which is reported
	}
	list, ok := r.entries(e.node, what)
	if !ok {
		return nil
	}
	keys := r.each(list, what, known)
	for _, f := range known {
		if f.need != nil && !keys[f.key] {
			r.Add(e.at, f.need.hint, "%s", f.need.text)
		}
	}
	return keys
}

// each reads entries with exactly these keys, or keys that they had.
func (r *reader) each(list []entry, what string, known []field, old ...field) present {
	keys := make(present, len(list))
	for _, e := range list {
		keys[e.key] = true
		called := func(f field) bool { return f.key == e.key }
		at, had := slices.IndexFunc(known, called), slices.IndexFunc(old, called)
		switch {
		case at < 0 && had < 0:
			names := slices.Sorted(slices.Values(keysOf(known)))
			hint := spell.Suggest(e.key, "keys", names)
			if _, layer := net.KindNamed(what); layer && net.Called(e.key, names) != "" {
				hint = "write " + net.Called(e.key, names)
			} else if blocks := blocksWith(e.key, what); blocks != "" {
				hint = "write it under " + blocks
			} else if e.key == "spend" {
				hint = "write the share of the budget as `table1: 0.05` under privacy:, and as `dp: 0.05` at bounds, scale, levels or rows that are bought"
			}
			r.Add(e.at, hint, "unknown key %s in %s", e.key, what)
		case at < 0:
			r.spec.OldNames = true
			if e.node != nil {
				old[had].read(r, e)
			}
		case e.node != nil:
			known[at].read(r, e)
		}
	}
	return keys
}

// blocksWith names the blocks of a model file that have the key, such as `fit:`, for one that
// stands in another block or in none; "" if what is no block, or no block has the key.
func blocksWith(key, what string) string {
	manual.once.Do(func() { manual.keys = Keys() })
	keys := manual.keys
	if what != wholeFile && !slices.ContainsFunc(keys, func(k Key) bool { return k.Path == what }) {
		return ""
	}
	var blocks []string
	for _, k := range keys {
		if block, of, _ := strings.Cut(k.Path, "."); of == key {
			blocks = append(blocks, block+":")
		}
	}
	return strings.Join(blocks, " or ")
}

// manual has Keys, computed once.
var manual struct {
	once sync.Once
	keys []Key
}

// wholeFile is what the top level of a model file is called.
const wholeFile = "the model file"

// describe names the kind of a node for messages.
func describe(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.AliasNode, *ast.AnchorNode, *ast.MergeKeyNode, *ast.TagNode:
		return "a YAML anchor, alias or tag"
	}
	return "something else"
}

// plain reports whether a string is written without quotes.
func plain(s *ast.StringNode) bool { return s.Token.Type == token.StringType }

// splitHint explains the commonest trap of YAML for distributions.
const splitHint = "write `name: dist(a, b)` on a line of its own, or put the distribution in quotes"

// balance counts the opening minus the closing parentheses of s.
func balance(s string) int { return strings.Count(s, "(") - strings.Count(s, ")") }

// distributionInFlowMap reports whether a line holds `{ ... name(` , which a
// comma or a bracket inside the parentheses turns into a YAML syntax error.
func distributionInFlowMap(line string) bool {
	brace := strings.IndexAny(line, "{[")
	return brace >= 0 && strings.Contains(line[brace:], "(")
}

// Blank marks a place of a skeleton that a person must fill in.
const Blank = "FILL_IN"

// Unfilled ends the message about such a place.
const Unfilled = "is still to be filled in"

// blankHint describes the value of a place in a skeleton.
func blankHint(key string) string {
	switch key {
	case "entity":
		return "patient, person, household: whom a guarantee is to protect"
	case "public":
		return "the number of rows, if it is public; else {upper_bound: N}"
	case "type":
		return "real, integer, date, binary, category or ordinal"
	case "lower", "upper":
		return "the possible range, from a codebook or an expert, not from the data"
	case "levels":
		return "as in [never, former, current]"
	case "decimal":
		return `"," as in 3,14 or "." as in 3.14`
	case "formula":
		return "outcome ~ a + b"
	case "family":
		return "bernoulli for a binary outcome, normal for a real one, poisson for a count"
	}
	return "as in {type: real, lower: 18, upper: 100}, or take the column out"
}
