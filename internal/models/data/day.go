package data

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"d3p/internal/models/expr"
	"d3p/internal/models/source"
)

// ParseDay reads an ISO 8601 date, 2024-02-29, or 2024/02/29, with or without a time of day
// after a T or a space, which it ignores.
func ParseDay(text []byte) (day int, ok bool) {
	if len(text) < 10 || len(text) > 10 && text[10] != 'T' && text[10] != ' ' || text[4] != '-' && text[4] != '/' || text[7] != text[4] {
		return 0, false
	}
	var parts [3]int
	for i, digits := range [][]byte{text[:4], text[5:7], text[8:10]} {
		for _, c := range digits {
			if c < '0' || c > '9' {
				return 0, false
			}
			parts[i] = 10*parts[i] + int(c-'0')
		}
	}
	day = dayOf(parts[0], parts[1], parts[2])
	y, m, d := dateOf(day)
	return day, [3]int{y, m, d} == parts
}

// The orders of dates in files of text, besides ISO 8601.
const (
	DayFirst   = "dmy"
	MonthFirst = "mdy"
)

// ParseDayIn reads a date as ParseDay does, or in the named order: 29.2.2024, 29/02/2024 or
// 29-02-2024, with the day first also 29FEB2024. Day and month have one digit or two, the year four.
func ParseDayIn(order string, text []byte) (day int, ok bool) {
	if day, ok = ParseDay(text); ok || order == "" {
		return day, ok
	}
	if order == DayFirst {
		if day, ok = parseNamedMonth(text); ok {
			return day, ok
		}
	}
	var parts [3]int
	separator, at := byte(0), 0
	for i, most := range []int{2, 2, 4} {
		start := at
		for at < len(text) && at-start < most && text[at] >= '0' && text[at] <= '9' {
			parts[i] = 10*parts[i] + int(text[at]-'0')
			at++
		}
		switch {
		case at == start || i == 2 && at-start < 4:
			return 0, false
		case i == 2:
			if at < len(text) && text[at] != ' ' && text[at] != 'T' {
				return 0, false
			}
		default:
			if at == len(text) || i == 1 && text[at] != separator || text[at] != '.' && text[at] != '/' && text[at] != '-' {
				return 0, false
			}
			separator = text[at]
			at++
		}
	}
	if order == MonthFirst {
		parts[0], parts[1] = parts[1], parts[0]
	}
	day = dayOf(parts[2], parts[1], parts[0])
	y, m, d := dateOf(day)
	return day, [3]int{d, m, y} == parts
}

// months are the names that SAS and Stata write, in lower case.
const months = "janfebmaraprmayjunjulaugsepoctnovdec"

// parseNamedMonth reads 29FEB2024, 29-Feb-2024 or 29 feb 2024, and SAS's time of day behind it, which it ignores.
func parseNamedMonth(text []byte) (day int, ok bool) {
	digits := 0
	for digits < min(len(text), 2) && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	rest := text[digits:]
	var separator []byte
	if len(rest) == 0 || digits == 0 {
		return 0, false
	}
	if bytes.IndexByte([]byte(" -./"), rest[0]) >= 0 {
		separator, rest = rest[:1], rest[1:]
	}
	if len(rest) < 3+len(separator)+4 {
		return 0, false
	}
	month := strings.Index(months, strings.ToLower(string(rest[:3])))
	year, found := bytes.CutPrefix(rest[3:], separator)
	if month < 0 || month%3 != 0 || !found || len(year) > 4 && bytes.IndexByte([]byte(": T"), year[4]) < 0 {
		return 0, false
	}
	d, _ := strconv.Atoi(string(text[:digits]))
	return ParseDay(fmt.Appendf(nil, "%s-%02d-%02d", year[:4], month/3+1, d))
}

// FormatDay writes a day as an ISO 8601 date.
func FormatDay(day int) string {
	y, m, d := dateOf(day)
	return fmt.Sprintf("%04d-%02d-%02d", y, m, d)
}

// dayOf counts the days of a date, whose year starts in March, so that the
// leap day is its last. Richards 2013, Explanatory Supplement to the
// Astronomical Almanac, ch. 15.
func dayOf(year, month, day int) int {
	if month <= 2 {
		year, month = year-1, month+12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468
}

// dateOf is the date of a day from year 0 to 9999.
func dateOf(n int) (year, month, day int) {
	n += 719468
	era := n / 146097
	n %= 146097
	year = (n - n/1460 + n/36524 - n/146096) / 365
	n -= 365*year + year/4 - year/100
	month = (5*n + 2) / 153
	day = n - (153*month+2)/5 + 1
	month += 3
	year += 400 * era
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}

// Day is the day, counted from 1970-01-01, of x days since the column's origin.
func (c *Column) Day(x float64) int { return int(math.Round(x)) + c.Origin.V }

// Number reads a cell of a numeric column in the unit of the model, without its
// transform; NaN if the cell is no number.
func (c *Column) Number(cell string) float64 {
	if c.Type.V == Date {
		if day, ok := ParseDay([]byte(cell)); ok {
			return float64(day - c.Origin.V)
		}
		return math.NaN()
	}
	x, err := strconv.ParseFloat(cell, 64)
	if err != nil || math.IsInf(x, 0) {
		return math.NaN()
	}
	return x
}

// Cell writes a number in the unit of the file: a date as one.
func (c *Column) Cell(x float64) string {
	if c.Type.V == Date {
		return FormatDay(c.Day(x))
	}
	return source.FormatNumber(x)
}

// OneOrigin reports dates that an expression compares, or computes with, although they count
// from different days: its value would be off by the days between these.
func (d *Data) OneOrigin(e expr.Expr) (err error) {
	expr.Walk(e, func(x expr.Expr) bool {
		switch x := x.(type) {
		case *expr.Binary:
			if slices.Contains([]string{"and", "or"}, x.Op) {
				return true
			}
		case *expr.Call:
		default:
			return true
		}
		var first *Column
		for _, name := range expr.Names(x) {
			c := d.Column(name)
			if c == nil || c.Type.V != Date {
				continue
			}
			if first == nil {
				first = c
			} else if first.Origin.V != c.Origin.V {
				err = fmt.Errorf("%s counts days from %s, and %s from %s (declare the same `origin:` for both)",
					first.Name.V, FormatDay(first.Origin.V), c.Name.V, FormatDay(c.Origin.V))
			}
		}
		return err == nil
	})
	return err
}
