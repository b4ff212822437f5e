package synthesis_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"d3p/internal/models/modelstest"
	"d3p/internal/privacy/event"
	"d3p/internal/privacy/noise"
)

// Small whole numbers under wide bounds keep their distribution: 6,000 patients have 3 visits
// on average, declared as 0 to 365.
func TestSmallNumbersUnderWideBounds(t *testing.T) {
	const n, most = 6000, 16
	m := modelstest.Compile(t, "m.yaml", model[:strings.Index(model, "    age:")]+"    visits: {type: integer, lower: 0, upper: 365}\n"+levels("ill", 2)+"twin: {engine: marginals}\n")
	random := public(31)
	var b bytes.Buffer
	b.WriteString("visits,ill\n")
	truth := make([]float64, most+1)
	for range n {
		x := visits(random)
		truth[min(x, most)]++
		fmt.Fprintf(&b, "%d,l%d\n", x, x%2)
	}
	table, _ := learn(t, m, b.Bytes(), event.AddRemove, 20, 32)
	twin := draw(t, m, table, n, false, public(33))
	distance := 0.0
	for _, x := range twin[0] {
		truth[min(int(x), most)]--
	}
	for _, d := range truth {
		distance += math.Abs(d) / (2 * n)
	}
	t.Logf("total variation %.4f", distance)
	if distance > 0.05 {
		t.Errorf("total variation %.3f", distance)
	}
}

// visits is a Poisson number of mean 3.3.
func visits(random *noise.Random) int {
	x, p := 0, random.Uniform()
	for ; p > math.Exp(-3.3); x++ {
		p *= random.Uniform()
	}
	return x
}
