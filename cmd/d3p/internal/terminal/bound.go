package terminal

import "d3p/internal/decimal"

// printedDigits is how many significant digits a bound is printed with.
const printedDigits = 6

// AtMost prints an upper bound: a number not below x.
func AtMost(x float64) string { return decimal.Up(x, printedDigits) }

// AtLeast prints a lower bound: a number not above x.
func AtLeast(x float64) string { return decimal.Down(x, printedDigits) }
