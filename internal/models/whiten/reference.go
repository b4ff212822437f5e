package whiten

import (
	"strings"

	"gonum.org/v1/gonum/mat"
)

// toCommonReference is T (K×K), which turns coefficients that compare each level of a
// category with its most common level into the declared ones, b = T b'. A comparison with a
// rare reference level has a small direction of that level's records beside the variance of
// each column, which a ridge in units of these would hide. The columns of a category have
// the labels category=level; share (K) are their means. Products keep their columns.
func toCommonReference(labels []string, share []float64) *mat.Dense {
	k := len(labels)
	t := mat.NewDense(k, k, nil)
	columns := map[string][]int{}
	for j, label := range labels {
		t.Set(j, j, 1)
		if category, _, ok := strings.Cut(label, "="); ok && !strings.Contains(label, ":") {
			columns[category] = append(columns[category], j)
		}
	}
	for _, list := range columns {
		reference, common := 1.0, list[0]
		for _, j := range list {
			reference -= share[j]
			if share[j] > share[common] {
				common = j
			}
		}
		if share[common] <= reference {
			continue
		}
		// 1 − Σ of the columns, the declared reference, replaces the common level's column;
		// the constant is a matter of the centre
		for _, j := range list {
			t.Set(j, common, -1)
		}
	}
	return t
}

// congruent replaces a by Tᵀ a T.
func congruent(a *mat.SymDense, t *mat.Dense) {
	var half, both mat.Dense
	half.Mul(a, t)
	both.Mul(t.T(), &half)
	for i := range a.SymmetricDim() {
		for j := range i + 1 {
			a.SetSym(i, j, both.At(i, j))
		}
	}
}
