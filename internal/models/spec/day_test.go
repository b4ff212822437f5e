package spec

import (
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
