package spell

import (
	"regexp"
	"strings"
)

// plainWord is text that a shell takes as one word as it is.
var plainWord = regexp.MustCompile(`^[\pL\pN_./@%+=:,~\\-]+$`)

// Word is the name of a file as a user types it in a command: in quotes if a shell would take it apart.
func Word(path string) string {
	if plainWord.MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
