package ptx

import (
	"fmt"
	"strings"
)

// A token is a word, a number or a sign of PTX source.
type token struct {
	text string
	line int
}

// isWord reports whether c can be part of an identifier, a directive, an opcode with its
// modifiers, or a number.
func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_$%.", c) >= 0
}

// scan splits source into tokens, without comments.
func scan(source string) ([]token, error) {
	var tokens []token
	line := 1
	for i := 0; i < len(source); {
		rest := source[i:]
		n := 1
		switch c := source[i]; {
		case c == '\n':
			line++
		case c == ' ' || c == '\t' || c == '\r':
		case strings.HasPrefix(rest, "//"):
			if n = strings.IndexByte(rest, '\n'); n < 0 {
				n = len(rest)
			}
		case c == '"':
			end := strings.IndexByte(rest[1:], '"')
			if end < 0 {
				return nil, fmt.Errorf("ptx: line %d: a string without an end", line)
			}
			n = end + 2
			tokens = append(tokens, token{rest[:n], line})
		case isWord(c):
			for n < len(rest) && isWord(rest[n]) {
				n++
			}
			tokens = append(tokens, token{rest[:n], line})
		case strings.IndexByte("{}()[]<>,;:=+-@!|", c) >= 0:
			tokens = append(tokens, token{rest[:1], line})
		default:
			return nil, fmt.Errorf("ptx: line %d: %q is no part of PTX that is translated", line, c)
		}
		i += n
	}
	return tokens, nil
}
