package spec

import (
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"d3p/internal/models/core"
	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// field is one key of a mapping of the model file. A block is a list of fields in their
// printed order. The list reads the block, describes it for the schema and prints it.
type field struct {
	key    string
	read   func(r *reader, e entry)
	stated func() bool      // whether there is a value to print
	print  func(p *printer) // nil: the key is read, but never printed
	absent string           // printed if no value is stated; "": nothing
	hidden bool             // not printed in this file
	need   *need            // nil: the key may be left out
	// meaning is one sentence for the schema and the manual, without choices and default.
	meaning string
}

// need is the mistake of a mapping without a key.
type need struct{ hint, text string }

// means states the key's purpose.
func (f field) means(text string) field { f.meaning = text; return f }

// or prints text if the file states no value.
func (f field) or(text string) field { f.absent = text; return f }

// when prints the field only if shown holds.
func (f field) when(shown bool) field { f.hidden = !shown; return f }

// shown prints the result of text for a stated value.
func (f field) shown(text func() string) field {
	f.print = func(p *printer) { p.line(f.key, text()) }
	return f
}

// as prints the result of text, whether a value is stated or not.
func (f field) as(text func() string) field {
	return f.printed(func(p *printer) { p.line(f.key, text()) })
}

// printed prints by print, stated or not.
func (f field) printed(print func(p *printer)) field {
	f.stated, f.print = func() bool { return true }, print
	return f
}

// quoted prints a text in quotes always, such as a separator.
func (f field) quoted(at *source.Value[string]) field {
	return f.shown(func() string { return strconv.Quote(at.V) })
}

// notedAt notes the field's place, and prints the field only if it has one.
func (f field) notedAt(at *expr.Position) field {
	read := f.read
	f.read = func(r *reader, e entry) { *at = e.at; read(r, e) }
	f.stated = func() bool { return at.Line > 0 }
	return f
}

// unprinted leaves the field out of the output: another one has its value.
func (f field) unprinted() field { f.print = nil; return f }

// needed makes the absence of the key a mistake.
func (f field) needed(hint, text string) field { f.need = &need{hint, text}; return f }

// value is a scalar that read reads.
func value[T any](key string, at *source.Value[T], read func(r *reader, e entry) source.Value[T]) field {
	return field{key: key,
		read:   func(r *reader, e entry) { *at = read(r, e) },
		stated: func() bool { return at.IsSet() },
		print:  func(p *printer) { p.value(key, at.V) }}
}

func text(key string, at *source.Value[string]) field      { return value(key, at, (*reader).text) }
func number(key string, at *source.Value[float64]) field   { return value(key, at, (*reader).number) }
func positive(key string, at *source.Value[float64]) field { return value(key, at, (*reader).positive) }
func boolean(key string, at *source.Value[bool]) field     { return value(key, at, (*reader).boolean) }

// count is a whole number of at least least.
func count(key string, at *source.Value[int], least int) field {
	return value(key, at, func(r *reader, e entry) source.Value[int] { return r.count(e, least) })
}

// choice is one of a few words.
func choice(key string, at *source.Value[string], options ...string) field {
	return value(key, at, func(r *reader, e entry) source.Value[string] { return r.choice(e, options...) })
}

// list is a list of scalars that read reads; no element is printed as no list.
func list[T any](key string, at *[]source.Value[T], read func(r *reader, e entry) []source.Value[T]) field {
	return field{key: key,
		read:   func(r *reader, e entry) { *at = read(r, e) },
		stated: func() bool { return len(*at) > 0 },
		print:  func(p *printer) { p.value(key, valuesOf(*at)) }}
}

// valuesOf are the values of a list.
func valuesOf[T any](list []source.Value[T]) []T {
	values := make([]T, len(list))
	for i, v := range list {
		values[i] = v.V
	}
	return values
}

func texts(key string, at *[]source.Value[string]) field { return list(key, at, (*reader).texts) }

// distinct is a list of different texts, each a `what`.
func distinct(key, what string, at *[]source.Value[string]) field {
	return list(key, at, func(r *reader, e entry) []source.Value[string] {
		list := r.texts(e)
		r.unique(what, list)
		return list
	})
}

// definitions is a mapping of names to expressions.
func definitions(key string, at *[]*core.Definition) field {
	return named(key, at, readDefinition, func(p *printer, d *core.Definition) { p.text(d.Name.V, d.Text.V) })
}

// named is a mapping of free names to values of one kind: read reads one, print prints
// it under its name. A value that is still to be filled in is left out.
func named[T any](key string, at *[]T, read func(r *reader, e entry) (T, bool), print func(p *printer, v T)) field {
	return declared(key, at, func(r *reader, e entry) (v T, ok bool) {
		if e.node == nil {
			return v, false
		}
		return read(r, e)
	}, print)
}

// declared is named, but a value that is still to be filled in has its name.
func declared[T any](key string, at *[]T, read func(r *reader, e entry) (T, bool), print func(p *printer, v T)) field {
	return field{key: key,
		read: func(r *reader, e entry) {
			list, _ := r.entries(e.node, e.key)
			for _, e := range list {
				if v, ok := read(r, e); ok {
					*at = append(*at, v)
				}
			}
		},
		stated: func() bool { return len(*at) > 0 },
		print: func(p *printer) {
			p.block(key, func() {
				for _, v := range *at {
					print(p, v)
				}
			})
		}}
}

// mapping is a mapping with known keys, printed as a block.
func mapping(key string, fields []field) field {
	return field{key: key,
		read:   func(r *reader, e entry) { r.object(e, key, fields) },
		stated: func() bool { return true },
		print:  func(p *printer) { p.block(key, func() { p.fields(fields) }) }}
}

// lazy is a mapping whose fields depend on values read before. It has its own reader, and
// makes its fields when it is printed.
func lazy(key string, read func(r *reader, e entry), stated bool, fields func() []field) field {
	return field{key: key, read: read,
		stated: func() bool { return stated },
		print:  func(p *printer) { p.block(key, func() { p.fields(fields()) }) }}
}

// inline is a mapping with known keys, printed on one line.
func inline(key string, fields []field) field {
	f := mapping(key, fields)
	f.print = func(p *printer) { p.line(key, flow(fields)) }
	return f
}

// name is the value of an entry's key.
func (e entry) name() source.Value[string] { return source.Value[string]{V: e.key, At: e.at} }

// isMapping reports whether a value with several forms is a mapping.
func (e entry) isMapping() bool { _, ok := e.node.(*ast.MappingNode); return ok }

// keysOf lists the keys of fields, in order.
func keysOf(fields []field) (keys []string) {
	for _, f := range fields {
		keys = append(keys, f.key)
	}
	return keys
}

// keyed are fields by their keys.
func keyed(fields []field) map[string]field {
	by := map[string]field{}
	for _, f := range fields {
		by[f.key] = f
	}
	return by
}

// flow prints fields on one line: {a: 1, b: 2}.
func flow(fields []field) string {
	p := &printer{flow: true}
	p.fields(fields)
	return flowMap(p.parts)
}

// flowMap prints {a: 1, b: 2}.
func flowMap(parts []string) string { return "{" + strings.Join(parts, ", ") + "}" }
