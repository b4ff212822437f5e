package signature

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// Signers are the trusted signers: the allowed signers file of ssh-keygen -Y verify, one
// key a line: PRINCIPALS [OPTIONS] KEYTYPE KEY.
type Signers []signer

type signer struct {
	principals    string
	namespaces    string // "": any
	after, before time.Time
	key           []byte
}

// ParseSigners reads an allowed signers file.
func ParseSigners(text []byte) (list Signers, err error) {
	for i, line := range bytes.Split(text, []byte("\n")) {
		words := strings.TrimSpace(string(line))
		if words == "" || words[0] == '#' {
			continue
		}
		s, err := parseSigner(words)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		list = append(list, s)
	}
	if len(list) == 0 {
		return nil, errors.New("it names no signer")
	}
	return list, nil
}

func parseSigner(line string) (s signer, err error) {
	var rest string
	if quoted, ok := strings.CutPrefix(line, `"`); ok {
		s.principals, rest, ok = strings.Cut(quoted, `"`)
		if !ok {
			return s, errors.New("a quotation mark is missing")
		}
	} else if at := strings.IndexAny(line, " \t"); at < 0 {
		return s, errors.New("want PRINCIPALS KEYTYPE KEY")
	} else {
		s.principals, rest = line[:at], line[at:]
	}
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(strings.TrimSpace(rest)))
	if err != nil {
		return s, errors.New("want PRINCIPALS KEYTYPE KEY")
	}
	s.key = key.Marshal()
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		value = strings.Trim(value, `"`)
		switch strings.ToLower(name) {
		case "namespaces":
			s.namespaces = value
		case "valid-after":
			s.after, err = parseTime(value)
		case "valid-before":
			s.before, err = parseTime(value)
		default:
			err = fmt.Errorf("option %s is not supported", name)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// parseTime reads YYYYMMDD or YYYYMMDDHHMM[SS], in local time or, with a Z, in UTC.
func parseTime(text string) (time.Time, error) {
	zone, digits := time.Local, text
	if utc, ok := strings.CutSuffix(text, "Z"); ok {
		zone, digits = time.UTC, utc
	}
	for _, layout := range []string{"20060102", "200601021504", "20060102150405"} {
		if len(layout) == len(digits) {
			return time.ParseInLocation(layout, digits, zone)
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time, such as 20270131", text)
}

// Who are the principals of a key at a time; an error when none may sign releases.
func (list Signers) Who(key ssh.PublicKey, now time.Time) (string, error) {
	why := fmt.Errorf("the list lacks the key %s that signed", ssh.FingerprintSHA256(key))
	for _, s := range list {
		switch {
		case !bytes.Equal(s.key, key.Marshal()):
		case s.namespaces != "" && !matches(s.namespaces, Namespace):
			why = fmt.Errorf("%s may not sign for %s", s.principals, Namespace)
		case !s.after.IsZero() && now.Before(s.after):
			why = fmt.Errorf("the key of %s is valid only after %s", s.principals, s.after.Format(time.RFC3339))
		case !s.before.IsZero() && now.After(s.before):
			why = fmt.Errorf("the key of %s was valid before %s", s.principals, s.before.Format(time.RFC3339))
		default:
			return s.principals, nil
		}
	}
	return "", why
}

// matches reports whether a list of patterns has name; a pattern with ! excludes.
func matches(patterns, name string) (found bool) {
	for _, pattern := range strings.Split(patterns, ",") {
		positive, negated := strings.CutPrefix(pattern, "!")
		if ok, err := path.Match(positive, name); err == nil && ok {
			if negated {
				return false
			}
			found = true
		}
	}
	return found
}
