package spec

import (
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/source"
	"d3p/internal/settings"
)

// Settings are the settings of package settings that a file states, by name. What it
// leaves open is decided by the fit's plan.
type Settings map[string]source.Value[any]

// Word is the value of a setting that is text; "" when the file does not state it.
func (s Settings) Word(name string) string {
	word, _ := s[name].V.(string)
	return word
}

// Values are the stated values, by name.
func (s Settings) Values() map[string]any {
	values := map[string]any{}
	for name, v := range s {
		values[name] = v.V
	}
	return values
}

// block reads a block of settings: those of the table that stand in it, and own
// keys. A value may be `auto`: decided by the plan, as if the key were absent.
func (r *reader) block(e entry, own fields) {
	known, old := r.keysOf(e.key, own)
	if r.shape != nil {
		maps.Copy(known, old)
		r.describeObject(known, "auto")
		return
	}
	list, ok := r.entries(e.node, e.key)
	if !ok {
		return
	}
	for i, e := range list {
		if s, ok := e.node.(*ast.StringNode); ok && plain(s) && s.Value == "auto" {
			list[i].node = nil
		}
	}
	r.each(list, e.key, known, old)
}

// keysOf are the keys of a block and the keys that it had.
func (r *reader) keysOf(block string, own fields) (known, old fields) {
	known, old = fields{}, fields{}
	blocks := map[string]fields{} // of a block that held settings: {clip: {norm: 1}}
	for _, row := range settings.Table() {
		if key, ok := strings.CutPrefix(row.Key, block+"."); ok {
			known[key] = func(e entry) { r.setting(e, row) }
		}
		for _, path := range row.OldKeys {
			key, ok := strings.CutPrefix(path, block+".")
			if !ok {
				continue
			}
			read := func(e entry) { r.renamed(e, path, row) }
			if outer, inner, ok := strings.Cut(key, "."); !ok {
				old[key] = read
			} else if blocks[outer] == nil {
				blocks[outer] = fields{inner: read}
			} else {
				blocks[outer][inner] = read
			}
		}
	}
	if clip := blocks["clip"]; clip != nil {
		clip["unit"] = func(e entry) { r.choice(e, "record") } // a unit of several rows is one record
	}
	for outer, keys := range blocks {
		setting, both := known[outer]
		known[outer] = func(e entry) {
			if _, mapping := e.node.(*ast.MappingNode); both && !mapping {
				setting(e)
				return
			}
			r.spec.OldNames = true
			r.block(e, keys)
		}
		if !both {
			old[outer] = known[outer]
			delete(known, outer)
		}
	}
	maps.Copy(known, own)
	return known, old
}

// renamed reads a setting under a key that it had, and notes the one that it has.
func (r *reader) renamed(e entry, path string, row settings.Setting) {
	if r.describesSetting(row) {
		r.shape.deprecated()
		return
	}
	r.spec.Warnings.Add(e.at, "write "+written(row.Key, "..."), "%s is an old name", written(path, ""))
	r.setting(e, row)
}

// written is a key as a file has it: `fit: {steps: VALUE}`.
func written(path, value string) string {
	keys := strings.Split(path, ".")
	if value == "" {
		return strings.Join(keys, ": ")
	}
	return strings.Join(keys, ": {") + ": " + value + strings.Repeat("}", len(keys)-1)
}

// setting reads the value of a row of the table.
func (r *reader) setting(e entry, row settings.Setting) (v source.Value[any]) {
	if r.describesSetting(row) {
		return v
	}
	if row.Kind == settings.Words {
		v = r.settingList(e, row)
	} else if text := r.text(e); text.IsSet() {
		value, mistake := row.Read(text.V)
		if mistake != nil {
			r.Add(text.At, mistake.Hint, "%s: %s", e.key, mistake.Text)
			return v
		}
		if spelled := row.Print(value); row.Kind == settings.Word && spelled != text.V {
			r.spec.OldNames = true
			r.spec.Warnings.Add(text.At, "write "+spelled, "%s is an old spelling", text.V)
		}
		v = source.Value[any]{V: value, At: text.At}
	}
	if first := r.spec.Settings[row.Name]; first.IsSet() && v.IsSet() {
		r.Add(e.at, "", "%s says the same as line %d", e.key, first.At.Line)
		return source.Value[any]{}
	}
	if v.IsSet() {
		r.spec.Settings[row.Name] = v
	}
	return v
}

// settingList reads a list of words.
func (r *reader) settingList(e entry, row settings.Setting) (v source.Value[any]) {
	var words []string
	for _, text := range r.texts(e) {
		if _, mistake := row.Read(strings.Join(append(slices.Clone(words), text.V), ",")); mistake != nil {
			r.Add(text.At, mistake.Hint, "%s: %s", e.key, mistake.Text)
			continue
		}
		words = append(words, text.V)
		if !v.IsSet() {
			v.At = text.At
		}
	}
	v.V = words
	return v
}

// checkSettings reports settings that the file itself makes useless. One whose use
// depends on a setting that the file leaves open is the fit's to check.
func (b *blocks) checkSettings() {
	stated := b.spec.Settings.Values()
	for _, c := range settings.Conflicts(stated, stated) {
		if !c.Open {
			b.Add(b.spec.Settings[c.Name].At, Remedy(c), "%s: %s", settings.Named(c.Name).Field(), c.Text)
		}
	}
}

// Remedy is what to write in a model file about a conflict of settings.
func Remedy(c settings.Conflict) string {
	leave := "remove " + settings.Named(c.Name).Field()
	if c.Value == "" {
		return leave
	}
	return "write " + written(settings.Named(c.Setting).Key, c.Value) + ", or " + leave
}

// settings prints the settings of a block: `auto` where the plan decides, and
// nothing for one whose meaning another one has stated, or that is among other.
func (p *printer) settings(block string, stated Settings, other ...string) {
	same := map[string]bool{}
	for _, row := range settings.Table() {
		if row.Same != "" && stated[row.Name].IsSet() {
			same[row.Same] = true
		}
	}
	for _, row := range settings.Table() {
		key, ok := strings.CutPrefix(row.Key, block+".")
		v := stated[row.Name]
		switch {
		case !ok, slices.Contains(other, row.Name), !v.IsSet() && (row.Quiet || row.Same != "" || same[row.Name]):
		case !v.IsSet():
			p.line(key, "auto")
		default:
			p.setting(key, v.V)
		}
	}
}

// setting prints a value of the table as YAML.
func (p *printer) setting(key string, value any) {
	switch v := value.(type) {
	case float64:
		p.line(key, source.FormatNumber(v))
	case int:
		p.line(key, source.FormatNumber(float64(v)))
	case []string:
		p.line(key, flowList(v, func(s string) string { return s }))
	case string:
		p.text(key, v)
	}
}

// fit reads `fit:`.
func (r *reader) fit(e entry) {
	r.block(e, fields{
		"trace":      func(e entry) { r.trace(e) },
		"microbatch": func(e entry) { r.choice(e, "auto") }, // the engine decides
	})
}

// trace reads `trace: {loss: {spend: epsilon, every: steps}}`, a clipped and
// noised loss, and says that it cannot be bought yet.
func (r *reader) trace(e entry) {
	if r.describesNothing() {
		return
	}
	what := func(e entry) {
		r.object(e.node, e.key, fields{
			"spend": func(e entry) { r.positive(e) },
			"every": func(e entry) { r.count(e, 1) },
		})
		r.Add(e.at, "remove it: the released iterates cost nothing more", "buying the %s of a fit is not available yet", e.key)
	}
	r.object(e.node, "trace", fields{"loss": what, "norms": what})
}
