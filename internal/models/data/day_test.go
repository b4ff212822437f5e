package data

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"d3p/internal/models/expr"
	"d3p/internal/models/source"
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
		if got, ok := ParseDay([]byte(day.Format("2006/01/02"))); !ok || got != n {
			t.Fatalf("%s with slashes is day %d, want %d", text, got, n)
		}
		if got := FormatDay(n); got != text {
			t.Fatalf("day %d is %s, want %s", n, got, text)
		}
	}
}

// A day that the calendar lacks is refused, and so is text behind a date.
func TestNoDays(t *testing.T) {
	for _, text := range []string{"", "2020", "2020-1-01", "2020-02-30", "2021-02-29", "2020-13-01", "2020-00-10", "2020-01-00", "20200101", "2020/01-01", "2020-01-011", "a020-01-01", "0000-00-00", "01.02.2020"} {
		if day, ok := ParseDay([]byte(text)); ok {
			t.Errorf("%q is day %d", text, day)
		}
	}
}

// Dates in other orders are those of ISO 8601 with their parts exchanged; other text is
// no date.
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
		for _, form := range []string{"%dJAN%04d", "%02d-jan-%04d", "%d Jan %04d", "%02dJan%04d:23:59:59"} {
			text := strings.NewReplacer("JAN", strings.ToUpper(time.Month(m).String()[:3]), "jan", strings.ToLower(time.Month(m).String()[:3]), "Jan", time.Month(m).String()[:3]).Replace(fmt.Sprintf(form, d, y))
			if got, ok := ParseDayIn(DayFirst, []byte(text)); !ok || got != iso {
				t.Fatalf("%s is day %d, %v, want %d", text, got, ok, iso)
			}
			if _, ok := ParseDayIn(MonthFirst, []byte(text)); ok {
				t.Fatalf("%s is a date with the month first", text)
			}
		}
		if got, ok := ParseDayIn(DayFirst, []byte(FormatDay(iso)+"T12:00")); !ok || got != iso {
			t.Fatalf("ISO 8601 is no longer read: %d, %v", got, ok)
		}
	}
	for _, text := range []string{"", "1", "1.", "1.2", "1.2.", "1.2.24", "1.2.20245", "31.2.2024", "13/13/2024", "1.2/2024", "1..2024", "001.2.2024", "1.2.2024x", "1 2 2024", "2024.2.1", "0.1.2024", "1.0.2024", "-1.1.2024", "JAN2024", "1JAN24", "31FEB2024", "1ANF2024", "1-JAN2024", "1JAN-2024", "1JANU2024", "1JAN20245", "0JAN2024", "001JAN2024", "1JAN202a"} {
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

// Dates that an expression compares need one origin; those that stand in conditions of
// their own do not.
func TestOneOrigin(t *testing.T) {
	d := &Data{}
	for name, origin := range map[string]int{"born": 0, "admitted": 9, "discharged": 9} {
		c := &Column{}
		c.Name.V, c.Type.V, c.Origin.V = name, Date, origin
		d.Columns = append(d.Columns, c)
	}
	for text, want := range map[string]bool{
		"discharged >= admitted": true, "born < admitted": false, "admitted - born > 3": false, "max(born, admitted) > 2": false,
		"born > 3 or admitted > 4": true, "not (born > 3 or admitted > 4) and discharged - admitted < 8": true,
	} {
		var problems source.Problems
		e := source.ParseExpr(source.Value[string]{V: text, At: expr.Position{Line: 1, Column: 1}}, &problems)
		if e == nil {
			t.Fatalf("%s: %v", text, problems)
		}
		if err := d.OneOrigin(e); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
