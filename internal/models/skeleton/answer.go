package skeleton

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/models/data"
	"d3p/internal/models/spec"
)

// Answers describes the ways to declare a column in a line.
const Answers = "18..100, 0..12 whole, 2015-01-01..2024-12-31, no, yes, low < middle < high"

// Asks reports whether the file would have a blank for the column.
func (k Known) Asks(c Described) bool {
	return strings.Contains(strings.Join(c.entries(c.Name, k.groups(c.Name)), ""), spec.Blank)
}

// Answer declares the column by a line that a person types, see Answers.
func (c *Described) Answer(line string) error {
	line = strings.TrimSpace(line)
	if m := bounds.FindStringSubmatch(line); m != nil {
		c.Type, c.Lower, c.Upper = data.Real, m[1], m[2]
		switch {
		case day.MatchString(m[1]) && day.MatchString(m[2]) && m[3] == "":
			c.Type = data.Date
			return nil
		case m[3] != "":
			c.Type = data.Integer
		}
		low, err := strconv.ParseFloat(m[1], 64)
		high, err2 := strconv.ParseFloat(m[2], 64)
		if err != nil || err2 != nil || !(low < high) {
			return errors.New("two bounds, the lower one first, such as 18..100")
		}
		return nil
	}
	levels, kind := strings.Split(line, ","), ""
	if strings.Contains(line, "<") {
		levels, kind = strings.Split(line, "<"), data.Ordinal
	}
	for i, l := range levels {
		levels[i] = strings.Trim(strings.TrimSpace(l), `"'`)
		if levels[i] == "" || strings.ContainsAny(levels[i], "|;") || slices.Contains(levels[:i], levels[i]) {
			return errors.New("bounds, or two levels or more, such as " + Answers)
		}
	}
	if len(levels) < 2 {
		return errors.New("bounds, or two levels or more, such as " + Answers)
	}
	c.Type, c.Levels = kind, strings.Join(levels, "|")
	return nil
}

// Spread is the scale of the column by a line: a typical value and a typical deviation.
func (c *Described) Spread(line string) error {
	parts := strings.Fields(line)
	if len(parts) != 2 {
		return errors.New("two numbers, such as 60 20")
	}
	_, err := strconv.ParseFloat(parts[0], 64)
	by, err2 := strconv.ParseFloat(parts[1], 64)
	if err != nil || err2 != nil || !(by > 0) {
		return errors.New("two numbers, the second one positive, such as 60 20")
	}
	c.Center, c.By = parts[0], parts[1]
	return nil
}

var (
	bounds = regexp.MustCompile(`^([^\s.]\S*?)\s*\.\.\s*(\S+)(\s+whole)?$`)
	day    = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
)
