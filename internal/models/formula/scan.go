package formula

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// parser is a recursive-descent parser over the text of a formula.
type parser struct {
	*source.Problems
	text   string
	offset int
	start  expr.Position // of text
	whole  *Formula      // the formula that owns functions of columns; nil if none are allowed
	failed bool
}

// fail records a mistake at the next character, once.
func (f *parser) fail(hint, format string, args ...any) {
	if !f.failed {
		f.Add(f.at(), hint, format, args...)
	}
	f.failed = true
}

// space skips white space.
func (f *parser) space() {
	rest := strings.TrimLeftFunc(f.text[f.offset:], unicode.IsSpace)
	f.offset = len(f.text) - len(rest)
}

// at is the position of the next word.
func (f *parser) at() expr.Position {
	f.space()
	return source.Right(f.start, utf8.RuneCountInString(f.text[:f.offset]))
}

// found names the next word for messages.
func (f *parser) found() string {
	f.space()
	if f.offset == len(f.text) {
		return "the end of the formula"
	}
	if n := f.peekName(); n != "" {
		return n
	}
	r, _ := utf8.DecodeRuneInString(f.text[f.offset:])
	return string(r)
}

// take consumes mark if it comes next.
func (f *parser) take(mark string) bool {
	f.space()
	if !strings.HasPrefix(f.text[f.offset:], mark) {
		return false
	}
	f.offset += len(mark)
	return true
}

// peekName returns the name that comes next, or "".
func (f *parser) peekName() string {
	f.space()
	rest := f.text[f.offset:]
	end := strings.IndexFunc(rest, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.'
	})
	if end < 0 {
		end = len(rest)
	}
	if !source.IsName(rest[:end]) {
		return ""
	}
	return rest[:end]
}

// name consumes the name that comes next and returns it, or "".
func (f *parser) name() string {
	n := f.peekName()
	f.offset += len(n)
	return n
}

// column consumes the name of a column where form asks for one.
func (f *parser) column(form string) source.Value[string] {
	v := source.Value[string]{At: f.at()}
	if v.V = f.name(); v.V == "" {
		f.fail("write "+form, "the name of a column must come here, not %s", f.found())
	}
	return v
}

// expect consumes a mark where form asks for it.
func (f *parser) expect(mark, form string) {
	if !f.failed && !f.take(mark) {
		f.fail("write "+form, "%s must come here, not %s", mark, f.found())
	}
}

// isGroup reports whether a bracket comes next that holds a bar.
func (f *parser) isGroup() bool {
	f.space()
	depth := 0
	for _, r := range f.text[f.offset:] {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case '|':
			if depth == 1 {
				return true
			}
		}
		if depth == 0 {
			return false
		}
	}
	return false
}

// isCall reports whether the name that comes next is followed by a bracket.
func (f *parser) isCall() bool {
	rest := f.text[f.offset+len(f.peekName()):]
	return strings.HasPrefix(strings.TrimLeftFunc(rest, unicode.IsSpace), "(")
}
