package expr

// kind is the kind of a token.
type kind uint8

const (
	endOfText kind = iota
	number
	name
	text     // a quoted string
	operator // + - * / ^ @ == != < <= > >= and or not
	punct    // ( ) [ ] , = .
	invalid  // already reported by the scanner
)

// token is one word of the source. For a number and a name, text is the source
// itself; for a quoted string, its content.
type token struct {
	kind kind
	text string
	at   Position
}

// is reports whether t is the operator or punctuation mark s.
func (t token) is(s string) bool {
	return (t.kind == operator || t.kind == punct) && t.text == s
}

// describe names a token in an error message.
func (t token) describe() string {
	switch t.kind {
	case endOfText:
		return "the end of the expression"
	case number:
		return "number " + t.text
	case text:
		return "string '" + t.text + "'"
	}
	return t.text
}
