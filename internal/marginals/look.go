package marginals

import "math"

// countsPerNoise is the mean count of a group of a look in units of its noise.
const countsPerNoise = 2

// look measures all questions in one release, by as many groups of cells as can have counts
// above the noise.
func (l *learner) look(measure Measure) error {
	l.n = Records(l.Columns)
	if len(l.Workload) > 0 {
		total := 0.0
		for _, q := range l.Workload {
			total += q.Weight
		}
		groups := make(map[[2]int][]int32)
		var tables []Table
		var sigma []float64
		for _, q := range l.Workload {
			noise := l.Sigma * math.Sqrt(total/q.Weight/lookSteps)
			most := int(math.Max(leastGroups, math.Pow(l.n/(countsPerNoise*noise), 1/float64(len(q.Set)))))
			t := Table{Set: q.Set}
			for i, k := range q.Set {
				g, ok := groups[[2]int{k, most}]
				if !ok {
					g = group(l.Columns[k].Counts, l.ordered(k), most)
					groups[[2]int{k, most}] = g
				}
				if g != nil {
					if t.Groups == nil {
						t.Groups = make([][]int32, len(q.Set))
					}
					t.Groups[i] = g
				}
			}
			tables, sigma = append(tables, t), append(sigma, noise)
		}
		counts, err := measure(tables, sigma)
		if err != nil {
			return err
		}
		for i, t := range tables {
			l.looks = append(l.looks, &Measurement{Table: t, Counts: counts[i], Variance: sigma[i] * sigma[i], Trust: 1})
			if t.Groups == nil {
				l.full[i] = l.looks[i]
			}
		}
	}
	l.reconcile()
	for i := range l.Columns {
		l.Columns[i].Trust = l.n / 30
	}
	return nil
}

// leastGroups are the fewest groups of a column in a look.
const leastGroups = 2

func (l *learner) ordered(k int) int {
	if l.Ordered == nil {
		return 0
	}
	return l.Ordered[k]
}
