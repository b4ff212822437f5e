package spec

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every day from 1895 to 2105, and every 61st from year 1 to 9999, has the number
// and the text that package time gives it.
func TestDays(t *testing.T) {
	step := 1
	for day := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() <= 9999; day = day.AddDate(0, 0, step) {
		if step = 61; day.Year() >= 1895 && day.Year() <= 2105 {
			step = 1
		}
		n := int(day.Unix() / 86400)
		text := day.Format("2006-01-02")
		if got, ok := ParseDay([]byte(text)); !ok || got != n {
			t.Fatalf("%s is day %d, want %d", text, got, n)
		}
		if got := FormatDay(n); got != text {
			t.Fatalf("day %d is %s, want %s", n, got, text)
		}
	}
}

// What is no date of the calendar is refused, whatever follows a date.
func TestNoDays(t *testing.T) {
	for _, text := range []string{"", "2020", "2020-1-01", "2020-02-30", "2021-02-29", "2020-13-01", "2020-00-10", "2020-01-00", "20200101", "2020/01/01", "2020-01-011", "a020-01-01", "0000-00-00", "01.02.2020"} {
		if day, ok := ParseDay([]byte(text)); ok {
			t.Errorf("%q is day %d", text, day)
		}
	}
}

// Dates count from their origin, which is the lower bound unless the file states
// another.
func TestOrigin(t *testing.T) {
	const column = "d3p: 1\ndata:\n  unit: {entity: patient, rows_per_unit: 1}\n  rows: {public: 9}\n  columns:\n" +
		"    y: {type: binary}\n    seen: {type: date, lower: 2020-01-31, upper: 2020-03-01, scale: {center: 2020-02-10, by: 10}%s}\n" +
		"model: {formula: y ~ seen, family: bernoulli}\n"
	for stated, want := range map[string]struct {
		origin, lower, upper, center float64
	}{
		"":                       {18292, 0, 30, 10},
		", origin: 2020-01-01":   {18262, 30, 60, 40},
		", origin: '2020-03-02'": {18323, -31, -1, -21},
	} {
		s, errs := Parse("m.yaml", []byte(strings.Replace(column, "%s", stated, 1)), nil)
		if len(errs) > 0 {
			t.Fatalf("%q: %v", stated, errs)
		}
		c := s.Data.Column("seen")
		if got := []float64{float64(c.Origin.V), c.Lower.V, c.Upper.V, c.Center.V}; !slices.Equal(got, []float64{want.origin, want.lower, want.upper, want.center}) {
			t.Errorf("%q: origin, bounds and center are %v, want %v", stated, got, want)
		}
	}
}

// Dates in other orders are those of ISO 8601 with their parts exchanged; what is
// ambiguous or no date is none.
func TestParseDayIn(t *testing.T) {
	for iso := -40000; iso < 40000; iso += 37 {
		y, m, d := dateOf(iso)
		for order, text := range map[string]string{
			DayFirst:   fmt.Sprintf("%d.%d.%04d", d, m, y),
			MonthFirst: fmt.Sprintf("%02d/%02d/%04d 23:59", m, d, y),
			"":         FormatDay(iso),
		} {
			if got, ok := ParseDayIn(order, []byte(text)); !ok || got != iso {
				t.Fatalf("%s of order %q is day %d, %v, want %d", text, order, got, ok, iso)
			}
		}
		if got, ok := ParseDayIn(DayFirst, []byte(FormatDay(iso)+"T12:00")); !ok || got != iso {
			t.Fatalf("ISO 8601 is no longer read: %d, %v", got, ok)
		}
	}
	for _, text := range []string{"", "1", "1.", "1.2", "1.2.", "1.2.24", "1.2.20245", "31.2.2024", "13/13/2024", "1.2/2024", "1..2024", "001.2.2024", "1.2.2024x", "1 2 2024", "2024.2.1", "0.1.2024", "1.0.2024", "-1.1.2024"} {
		for _, order := range []string{DayFirst, MonthFirst} {
			if day, ok := ParseDayIn(order, []byte(text)); ok {
				t.Errorf("%q of order %s is day %d", text, order, day)
			}
		}
	}
	if _, ok := ParseDayIn("", []byte("1.2.2024")); ok {
		t.Error("a date in an order that nobody declared")
	}
}
