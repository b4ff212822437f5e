package expr

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// scanner cuts a source text into tokens.
type scanner struct {
	src    string
	offset int
	at     Position
	indent int // column of the first character of every line
	errs   *Errors
}

// scan returns all tokens of src, the last one of kind endOfText. The text starts at start.
// Its continuation lines start in the same column, as in a YAML block scalar.
func scan(src string, start Position, errs *Errors) []token {
	if start.Line == 0 {
		start.Line, start.Column = 1, 1
	}
	s := scanner{src: src, at: start, indent: start.Column, errs: errs}
	var tokens []token
	for {
		t := s.next()
		if t.kind != invalid {
			tokens = append(tokens, t)
		}
		if t.kind == endOfText {
			return tokens
		}
	}
}

// peek is the next character, 0 at the end.
func (s *scanner) peek() rune {
	if s.offset == len(s.src) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(s.src[s.offset:])
	return r
}

// advance consumes n bytes that begin and end at character boundaries.
func (s *scanner) advance(n int) string {
	taken := s.src[s.offset : s.offset+n]
	for _, r := range taken {
		if r == '\n' {
			s.at.Line++
			s.at.Column = s.indent
		} else {
			s.at.Column++
		}
	}
	s.offset += n
	return taken
}

// span is the number of bytes at the offset whose characters satisfy accept.
func (s *scanner) span(accept func(rune) bool) int {
	rest := s.src[s.offset:]
	if end := strings.IndexFunc(rest, func(r rune) bool { return !accept(r) }); end >= 0 {
		return end
	}
	return len(rest)
}

// next is the next token; one of kind invalid has been reported already.
func (s *scanner) next() token {
	s.advance(s.span(unicode.IsSpace))
	at := s.at
	r := s.peek()
	switch {
	case s.offset == len(s.src):
		return token{endOfText, "", at}
	case isDigit(r) || r == '.' && s.offset+1 < len(s.src) && isDigit(rune(s.src[s.offset+1])):
		return s.number(at)
	case isLetter(r):
		return s.word(at)
	case r == '\'' || r == '"':
		return s.quoted(at, r)
	}
	rest := s.src[s.offset:]
	for _, two := range []string{"==", "!=", "<=", ">="} {
		if strings.HasPrefix(rest, two) {
			return token{operator, s.advance(2), at}
		}
	}
	for _, wrong := range foreign {
		if strings.HasPrefix(rest, wrong.text) {
			s.advance(len(wrong.text))
			s.errs.Add(at, wrong.hint, "unknown operator %s", wrong.text)
			return token{wrong.stand, wrong.standFor, at}
		}
	}
	switch {
	case strings.ContainsRune("+-*/^@<>", r):
		return token{operator, s.advance(1), at}
	case strings.ContainsRune("()[],=.", r):
		return token{punct, s.advance(1), at}
	}
	_, size := utf8.DecodeRuneInString(rest)
	s.errs.Add(at, "", "unexpected character %q", s.advance(size))
	return token{invalid, "", at}
}

// foreign lists operators of other languages with their replacements, and a token for each
// so that scan still checks the rest.
var foreign = []struct {
	text, hint string
	stand      kind
	standFor   string
}{
	{"**", "use ^", operator, "^"},
	{"%*%", "use @", operator, "@"},
	{"&&", "use and", operator, "and"},
	{"||", "use or", operator, "or"},
	{"&", "use and", operator, "and"},
	{"|", "use or", operator, "or"},
	{"!", "use not", operator, "not"},
	{"~", "a formula has ~, an expression has not", operator, "=="},
	{"{", "YAML split the line: write it as a block scalar, not inside { }", punct, "["},
	{"}", "YAML split the line: write it as a block scalar, not inside { }", punct, "]"},
}

// number scans digits, fraction and exponent: 1, 0.5, .5, 1e-6.
func (s *scanner) number(at Position) token {
	start := s.offset
	s.advance(s.span(isDigit))
	if s.peek() == '.' {
		s.advance(1)
		s.advance(s.span(isDigit))
	}
	if r := s.peek(); r == 'e' || r == 'E' {
		n := 1
		if rest := s.src[s.offset+1:]; rest != "" && (rest[0] == '+' || rest[0] == '-') {
			n = 2
		}
		if rest := s.src[s.offset+n:]; rest != "" && isDigit(rune(rest[0])) {
			s.advance(n)
			s.advance(s.span(isDigit))
		}
	}
	if n := s.span(isWordPart); n > 0 {
		s.advance(n)
		s.errs.Add(at, "put an operator between a number and a name", "malformed number %s", s.src[start:s.offset])
		return token{number, "0", at}
	}
	if text := s.src[start:s.offset]; len(text) > 1 && text[0] == '0' && isDigit(rune(text[1])) {
		s.errs.Add(at, "write no leading zero; a date is a number of days since the `origin:` of its column", "malformed number %s", text)
	}
	return token{number, s.src[start:s.offset], at}
}

// word scans a name, which may have inner dots (normal.loc), or a word operator.
func (s *scanner) word(at Position) token {
	start := s.offset
	for {
		s.advance(s.span(isWordPart))
		rest := s.src[s.offset:]
		if len(rest) < 2 || rest[0] != '.' {
			break
		}
		if r, _ := utf8.DecodeRuneInString(rest[1:]); !isLetter(r) {
			break
		}
		s.advance(1)
	}
	word := s.src[start:s.offset]
	switch word {
	case "and", "or", "not":
		return token{operator, word, at}
	}
	return token{name, word, at}
}

// quoted scans a string. A backslash keeps the next character unchanged.
func (s *scanner) quoted(at Position, quote rune) token {
	s.advance(1)
	var content strings.Builder
	for s.offset < len(s.src) {
		r, size := utf8.DecodeRuneInString(s.src[s.offset:])
		switch {
		case r == quote:
			s.advance(1)
			return token{text, content.String(), at}
		case r == '\\' && s.offset+1 < len(s.src):
			s.advance(1)
			_, size = utf8.DecodeRuneInString(s.src[s.offset:])
		}
		content.WriteString(s.advance(size))
	}
	s.errs.Add(at, "add the closing "+string(quote), "string does not end")
	return token{text, content.String(), at}
}

func isDigit(r rune) bool    { return '0' <= r && r <= '9' }
func isLetter(r rune) bool   { return r == '_' || unicode.IsLetter(r) }
func isWordPart(r rune) bool { return isLetter(r) || unicode.IsDigit(r) }
