// Package settings is the table of the settings of a fit: the values of flags, D3P_
// variables, keys of the config file and of the model file. All four read their values
// here.
package settings

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/spell"
)

// Kind is the type of a setting's value.
type Kind int

// The kinds of values.
const (
	Number Kind = iota // float64
	Count              // int
	Seed               // uint64
	Word               // string, one of Choices
	Words              // []string, of Choices if there are any
	Text               // string
	Share              // string: one of Choices, or a number in Range
)

// Auto means no value: the program decides.
const Auto = "auto"

// Group is the group of commands that take a setting.
type Group int

// The groups of settings.
const (
	Algorithm Group = iota // decides the algorithm of any fit
	Price                  // decides the privacy and its price
	Running                // place and files of a fit
)

// Setting is one row of the table.
type Setting struct {
	Name    string   // of the flag and of the key of the config file; Variable is the variable's
	Old     []string // names that it had
	Key     string   // in the model file, block.key; "" when it cannot stand there
	OldKeys []string // keys that it had
	Group   Group
	Kind    Kind
	Range   Range                      // of numbers and counts
	Outside string                     // what to write instead of a number outside of Range
	Choices []string                   // of words
	Indexed string                     // the choice that :N may follow
	Form    func(text string) *Mistake // what is wrong with a text; nil if any text may be
	Refused map[string]Mistake         // values that are refused within Range and Choices
	Same    string                     // an earlier setting that means the same
	Needs   []Need                     // the conditions on other settings under which this one is used
	Default string                     // in words; "" if no condition holds without a value
	Help    string
	File    bool   // the name of a file of the custodian, which a release must not show
	Quiet   bool   // not printed as auto when the model file leaves it open
	Heading string // of the settings from this one on, in the help text
}

// Names lists the name and the old names.
func (s Setting) Names() []string { return append([]string{s.Name}, s.Old...) }

// Field is the setting's name in a mapping: in lower case, with underscores.
func (s Setting) Field() string { return strings.ReplaceAll(s.Name, "-", "_") }

// Variable is the environment variable of the setting called name.
func Variable(name string) string {
	return "D3P_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// Hint is what to write instead of the unknown name of a flag, a variable or a key: for a
// setting that the table had, else the nearest of the known names.
func Hint(name string, known []string) string {
	plain := strings.TrimPrefix(strings.TrimPrefix(name, "--"), "D3P_")
	switch strings.ToLower(strings.ReplaceAll(plain, "_", "-")) {
	case "theta":
		return " (it is gone: type --compat d3p for a draw of theta for each record, or leave it out)"
	case "prior-gradient":
		return " (it is gone: type --compat d3p for the prior inside every record's gradient, or leave it out)"
	}
	return spell.Hint(name, known)
}

// Meaning is the text of the key: the setting and its default.
func (s Setting) Meaning() string { return strings.ReplaceAll(s.explained(), "`", "") }

// explained is the help with the default.
func (s Setting) explained() string {
	if s.Default == "" {
		return s.Help
	}
	return s.Help + " (default " + s.Default + ")"
}

// Usage is the text of the flag: the setting, its default and its choices.
func (s Setting) Usage() string {
	usage := s.explained()
	if len(s.Choices) > 0 {
		usage += ": " + strings.Join(s.Choices, ", ")
	}
	return usage
}

// Mistake is the mistake in a value, and the replacement.
type Mistake struct{ Text, Hint string }

// Error is the text with the hint in parentheses.
func (m *Mistake) Error() string {
	if m.Hint == "" {
		return m.Text
	}
	return m.Text + " (" + m.Hint + ")"
}

func mistake(hint, format string, args ...any) *Mistake {
	return &Mistake{fmt.Sprintf(format, args...), hint}
}

// Read is the value of a text: a float64, int, uint64, string or []string by the kind of
// the setting. A list is separated by commas.
func (s Setting) Read(text string) (any, *Mistake) {
	if m, ok := s.Refused[text]; ok {
		return nil, &m
	}
	switch s.Kind {
	case Number:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil && !math.IsInf(x, 0) {
			return nil, mistake("", "%q is not a number", text)
		}
		return x, s.inRange(x)
	case Count:
		n, ok := Whole(text)
		if !ok {
			return nil, mistake("", "%q is not a whole number", text)
		}
		if m, ok := s.Refused[strconv.Itoa(n)]; ok {
			return nil, &m
		}
		return n, s.inRange(float64(n))
	case Seed:
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return n, nil
		}
		n, ok := Whole(text)
		if !ok || n < 0 {
			return nil, mistake("", "%q is not a whole number that is not negative", text)
		}
		return uint64(n), nil
	case Word:
		return s.word(text)
	case Words:
		return s.words(strings.Split(text, ","))
	case Text:
		if s.File && text == "" { // an unset variable of a job script: a fit with D3P_LEDGER= would be in no ledger
			return nil, mistake("name it, or leave the setting out", `"" names no file`)
		}
		if s.Form != nil {
			return text, s.Form(text)
		}
	case Share:
		if slices.Contains(s.Choices, text) {
			return text, nil
		}
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, mistake("", "%q is neither a number nor one of %s", text, strings.Join(s.Choices, ", "))
		}
		return text, s.Range.check(x)
	}
	return text, nil
}

// Whole is the whole number of a text, which may have a fraction of zero or an exponent,
// such as 1e6: readers of config files write numbers so.
func Whole(text string) (n int, ok bool) {
	if n, err := strconv.Atoi(text); err == nil {
		return n, true
	}
	x, err := strconv.ParseFloat(text, 64)
	const exact = 1 << 53
	return int(x), err == nil && x == math.Trunc(x) && math.Abs(x) < exact
}

func (s Setting) inRange(x float64) *Mistake {
	m := s.Range.check(x)
	if m != nil {
		m.Hint = s.Outside
	}
	return m
}

// word is the choice that a text names. A hyphen may stand for an underscore.
func (s Setting) word(text string) (any, *Mistake) {
	word := strings.ReplaceAll(text, "-", "_")
	if slices.Contains(s.Choices, word) {
		return word, nil
	}
	known := s.Choices
	if s.Indexed != "" {
		index, ok := strings.CutPrefix(word, s.Indexed+":")
		if _, err := strconv.ParseUint(index, 10, 16); ok && err == nil {
			return word, nil
		}
		known = append(slices.Clone(known), s.Indexed+":N")
	}
	return nil, unknown(text, known)
}

func (s Setting) words(list []string) (any, *Mistake) {
	for i, word := range list {
		if len(s.Choices) > 0 && !slices.Contains(s.Choices, word) {
			return nil, unknown(word, s.Choices)
		}
		if slices.Contains(list[:i], word) {
			return nil, mistake("", "%s appears twice", word)
		}
	}
	return list, nil
}

func unknown(word string, known []string) *Mistake {
	hint := "one of: " + strings.Join(known, ", ")
	if n := spell.Name(word, known); n != "" {
		hint = "did you mean " + n + "?"
	}
	return mistake(hint, "unknown value %s", word)
}

// Print is the text from which Read reads the value.
func (s Setting) Print(value any) string {
	switch v := value.(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []string:
		return strings.Join(v, ",")
	}
	return fmt.Sprint(value)
}
