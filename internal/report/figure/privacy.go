package figure

import (
	"fmt"
	"math"
)

// Tradeoff shows an attacker's success, true against false positive rate: the diagonal of
// pure guessing, the limits of the claim alone, of mu-Gaussian differential privacy and of
// the run, with marks at 0.1, 1 and 10 % false positives.
func Tradeoff(guess, claim, gaussian, run, marks []Point) Figure {
	c := newCanvas(360, 340, "What a test of membership can do: true positive rate against false positive rate",
		fractions("people wrongly accused"), fractions("people found"))
	c.axes()
	c.curve("guess", guess)
	c.curve("claim", claim)
	c.curve("run", run)
	c.curve("gauss", gaussian)
	for _, m := range marks {
		c.dot("mark", c.px(m.X), c.py(m.Y), 3.5)
	}
	c.key(c.left+(c.right-c.left)*0.42, c.bottom-58,
		[2]string{"run", "this run, at most"}, [2]string{"gauss", "Gaussian DP"},
		[2]string{"claim", "the claim alone"}, [2]string{"guess", "guessing"})
	return c.Figure
}

// EpsilonOfDelta shows the certified epsilon at each delta, the claimed point
// and delta = 1/n, unless n is 0.
func EpsilonOfDelta(curve []Point, claim Point, n int) Figure {
	most := claim.Y
	for _, p := range curve {
		most = math.Max(most, p.Y)
	}
	c := newCanvas(360, 340, "Epsilon against delta", decades("delta", min(1e-9, math.Pow(10, math.Floor(math.Log10(claim.X)))), 1e-1), linear("epsilon", 0, most*1.05, 5))
	c.axes()
	if n > 0 {
		one := c.px(1 / float64(n))
		c.segment("guess", one, c.top, one, c.bottom)
		c.text("tick", "start", one+4, c.top+12, "1/N")
	}
	c.curve("run", curve)
	c.dot("mark", c.px(claim.X), c.py(claim.Y), 4.5)
	c.text("word", "start", c.px(claim.X)+8, c.py(claim.Y)-6, fmt.Sprintf("claim: %.3g at %.2g", claim.Y, claim.X))
	return c.Figure
}

// Spending shows epsilon over the steps at the claim's delta, and the target.
func Spending(spent []Point, target float64) Figure {
	steps, most := 1.0, target
	for _, p := range spent {
		steps, most = math.Max(steps, p.X), math.Max(most, p.Y)
	}
	c := newCanvas(360, 300, "Epsilon spent over the steps", linear("steps", 0, steps, 4), linear("epsilon", 0, most*1.1, 5))
	c.axes()
	if target > 0 {
		c.segment("claim", c.left, c.py(target), c.right, c.py(target))
		c.text("tick", "start", c.left+6, c.py(target)-5, "target")
	}
	c.curve("run", spent)
	if n := len(spent); n > 0 {
		c.dot("mark", c.px(spent[n-1].X), c.py(spent[n-1].Y), 4)
	}
	return c.Figure
}

// Part is a share of a bar.
type Part struct {
	Name  string
	Value float64
}

// Budget shows the shares of the target, or of another whole, that the parts took.
func Budget(parts []Part, target float64, whole string) Figure {
	total := 0.0
	for _, p := range parts {
		total += p.Value
	}
	c := newCanvas(360, 74, "Parts of the budget", axis{hi: math.Max(total, target)}, axis{hi: 1})
	c.left, c.right = 8, 352
	c.box("room", c.left, 8, c.right-c.left, 22)
	at := 0.0
	for i, p := range parts {
		class := fmt.Sprintf("part%d", i%4)
		from, to := c.px(at), c.px(at+p.Value)
		c.box(class, from, 8, to-from, 22)
		c.box(class, c.left+170*float64(i%2), 40+16*float64(i/2), 10, 10)
		c.text("tick", "start", c.left+15+170*float64(i%2), 49+16*float64(i/2), fmt.Sprintf("%s: %.4g", p.Name, p.Value))
		at += p.Value
	}
	if left := target - total; left > 1e-3*target {
		c.text("tick", "end", c.right, 68, fmt.Sprintf("left of the %s: %.3g", whole, left))
	}
	return c.Figure
}

// Pipeline shows the way of a record: the steps, each in a box with a note, and the end of
// the secret side, which is before the box of the given number.
func Pipeline(boxes [][2]string, public int) Figure {
	const row, width = 52, 340
	c := newCanvas(360, row*float64(len(boxes))+14, "From the records to the release", axis{hi: 1}, axis{hi: 1})
	for i, b := range boxes {
		y := 8 + row*float64(i)
		class := "secret"
		if i >= public {
			class = "public"
		}
		c.box(class, 10, y, width, 38)
		c.text("plain", "start", 20, y+16, b[0])
		c.text("tick", "start", 20, y+31, b[1])
		if i > 0 {
			c.segment("axis", 180, y-14, 180, y)
			c.polygon("tip", Point{176, y - 6}, Point{184, y - 6}, Point{180, y})
		}
		if i == public {
			c.segment("claim", 0, y-7, 360, y-7)
		}
	}
	return c.Figure
}
