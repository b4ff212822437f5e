package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/source"
	"d3p/internal/settings"
)

// Settings are the settings of package settings that a file states, by name. The fit's
// plan decides the others.
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

// block is a block of settings: those of the table, and its own keys, which may replace
// one. A value may be `auto`: the plan decides, as without the key.
func (s Settings) block(key string, own ...field) field {
	fields := s.fields(key, own)
	return field{key: key,
		read:   func(r *reader, e entry) { r.settings(e, fields) },
		stated: func() bool { return true },
		print:  func(p *printer) { p.block(key, func() { p.fields(fields) }) }}
}

// fields are the keys of a block. They print `auto` if the plan decides, and nothing for a
// setting whose meaning another setting has stated.
func (s Settings) fields(block string, own []field) (fields []field) {
	same := map[string]bool{}
	for _, row := range settings.Table() {
		same[row.Same] = same[row.Same] || s[row.Name].IsSet()
	}
	for _, row := range settings.Table() {
		key, ok := strings.CutPrefix(row.Key, block+".")
		if !ok {
			continue
		}
		if at := slices.Index(keysOf(own), key); at >= 0 {
			fields, own = append(fields, own[at]), slices.Delete(slices.Clone(own), at, at+1)
			continue
		}
		f := field{key: key,
			read:    func(r *reader, e entry) { r.setting(e, row) },
			stated:  func() bool { return s[row.Name].IsSet() },
			print:   func(p *printer) { p.value(key, s[row.Name].V) },
			meaning: row.Meaning()}
		if !row.Quiet && row.Same == "" && !same[row.Name] {
			f = f.or("auto")
		}
		fields = append(fields, f)
	}
	return append(fields, own...)
}

// settings reads a block of settings.
func (r *reader) settings(e entry, fields []field) {
	known, old := withOldKeys(e.key, fields)
	if r.shape != nil {
		r.describeObject(append(known, old...), "auto")
		return
	}
	list, ok := r.entries(e.node, e.key)
	if !ok {
		return
	}
	for i, e := range list {
		if e.isAuto() {
			list[i].node = nil
		}
	}
	r.each(list, e.key, known, old...)
}

// oldNameOf begins the meaning of a key that has another name.
const oldNameOf = "old name of "

// withOldKeys returns the keys of a block and the old names of its keys. An old name may be
// a block: {clip: {norm: 1}}.
func withOldKeys(block string, fields []field) (known, old []field) {
	known = slices.Clone(fields)
	blocks := map[string][]field{} // of a block that held settings: {clip: {norm: 1}}
	for _, row := range settings.Table() {
		for _, path := range row.OldKeys {
			key, ok := strings.CutPrefix(path, block+".")
			if !ok {
				continue
			}
			read := func(r *reader, e entry) { r.renamed(e, path, row) }
			if outer, inner, ok := strings.Cut(key, "."); !ok {
				old = append(old, field{key: key, read: read, meaning: oldNameOf + row.Key})
			} else {
				blocks[outer] = append(blocks[outer], field{key: inner, read: read, meaning: oldNameOf + row.Key})
			}
		}
	}
	if clip := blocks["clip"]; clip != nil { // a unit of several rows is one record
		blocks["clip"] = append(clip, field{key: "unit", read: func(r *reader, e entry) { r.choice(e, "record") }, meaning: oldNameOf + "nothing: a unit of several rows is one record"})
	}
	for outer, keys := range blocks {
		at := slices.IndexFunc(known, func(f field) bool { return f.key == outer })
		was := field{key: outer, read: func(r *reader, e entry) {
			if at >= 0 && !e.isMapping() {
				fields[at].read(r, e)
				return
			}
			r.spec.OldNames = true
			r.settings(e, keys)
		}}
		if at >= 0 {
			was.meaning = known[at].meaning
			known[at] = was
		} else {
			was.meaning = oldNameOf + block + "." + outer + "_..."
			old = append(old, was)
		}
	}
	return known, old
}

// renamed reads a setting under its old key, and notes the new one.
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

// isAuto reports whether the value of e is auto, without quotes.
func (e entry) isAuto() bool {
	s, ok := e.node.(*ast.StringNode)
	return ok && plain(s) && s.Value == settings.Auto
}

// setting reads the value of a row of the table. auto is as no value.
func (r *reader) setting(e entry, row settings.Setting) (v source.Value[any]) {
	if r.describesSetting(row) || e.isAuto() {
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
		r.Add(e.at, "", "%s repeats line %d", e.key, first.At.Line)
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

// checkSettings reports settings that the file itself makes useless. The fit checks those
// that depend on a setting which the file leaves open.
func (b *blocks) checkSettings() {
	stated := b.spec.Settings.Values()
	for _, c := range settings.Conflicts(stated, stated) {
		if !c.Open {
			b.Add(b.spec.Settings[c.Name].At, Remedy(c), "%s: %s", settings.Named(c.Name).Field(), c.Text)
		}
	}
}

// Remedy is the correction of a conflict of settings in a model file.
func Remedy(c settings.Conflict) string {
	leave := "remove " + settings.Named(c.Name).Field()
	if c.Value == "" {
		return leave
	}
	return "write " + written(settings.Named(c.Setting).Key, c.Value) + ", or " + leave
}

// fitFields are the keys of `fit:` besides its settings, and those of settings with a
// special form.
func (s Settings) fitFields() []field {
	return []field{
		{key: settings.Trace, read: (*reader).trace, stated: s[settings.Trace].IsSet, print: func(p *printer) { p.trace(s.Word(settings.Trace)) },
			meaning: settings.Named(settings.Trace).Meaning()},
		{key: "microbatch", read: func(r *reader, e entry) { r.choice(e, "auto") }, meaning: "auto: the engine decides how many records it takes at a time"}, // the engine decides
	}
}

// trace reads `trace: {loss: dp, accuracy: dp, share: 0.05}`, or the text of the setting,
// loss,accuracy@0.05.
func (r *reader) trace(e entry) {
	r.describes("string") // besides the mapping
	if _, text := e.node.(*ast.StringNode); text {
		r.setting(e, settings.Named(settings.Trace))
		return
	}
	var names []string
	var share source.Value[float64]
	var fields []field
	for _, name := range settings.TraceQuantities() {
		fields = append(fields, field{key: name, meaning: "dp: it is bought", read: func(r *reader, e entry) {
			if r.choice(e, "dp").IsSet() {
				names = append(names, name)
			}
		}})
	}
	fields = append(fields, positive("share", &share).means("part of μ² that pays for all of them"))
	if r.object(e, settings.Trace, fields) == nil {
		return
	}
	if len(names) == 0 {
		r.Add(e.at, "write trace: {loss: dp}", "trace: it names nothing to buy")
		return
	}
	text := strings.Join(names, ",")
	if share.IsSet() {
		text += "@" + strconv.FormatFloat(share.V, 'g', -1, 64)
	}
	if _, mistake := settings.ReadTrace(text); mistake != nil {
		r.Add(share.At, "", "share: %s", mistake.Text)
	}
	r.spec.Settings[settings.Trace] = source.Value[any]{V: text, At: e.at}
}

// trace prints a value that trace reads.
func (p *printer) trace(text string) {
	names, share, shared := strings.Cut(text, "@")
	if names == settings.TraceNone {
		p.value(settings.Trace, settings.Auto)
		return
	}
	p.block(settings.Trace, func() {
		for name := range strings.SplitSeq(names, ",") {
			p.value(strings.TrimSpace(name), "dp")
		}
		if x, err := strconv.ParseFloat(share, 64); shared && err == nil {
			p.value("share", x)
		}
	})
}
