package records

import "strconv"

// levelSet finds the code of a level: by its spelling, or, when both are numbers, by
// value, so that 1.0 in a file matches a level "1".
type levelSet struct {
	byName   map[string]int
	byNumber map[float64]int
}

func newLevelSet(levels []string) *levelSet {
	s := &levelSet{byName: map[string]int{}, byNumber: map[float64]int{}}
	for code, name := range levels {
		s.byName[name] = code
		if x, ok := parseNumber([]byte(name)); ok {
			s.byNumber[x] = code
		}
	}
	return s
}

// find returns the code of a level given as text.
func (s *levelSet) find(cell []byte) (code int, ok bool) {
	if code, ok = s.byName[string(cell)]; ok {
		return code, true
	}
	if len(s.byNumber) == 0 {
		return 0, false
	}
	x, ok := parseNumber(cell)
	if !ok {
		return 0, false
	}
	code, ok = s.byNumber[x]
	return code, ok
}

// findNumber returns the code of a level given as a number.
func (s *levelSet) findNumber(x float64) (code int, ok bool) {
	code, ok = s.byNumber[x]
	return code, ok
}

// findBool returns the code of a level given as a truth value: true and false,
// or 1 and 0.
func (s *levelSet) findBool(b bool) (code int, ok bool) {
	if code, ok = s.byName[strconv.FormatBool(b)]; ok {
		return code, true
	}
	if b {
		return s.findNumber(1)
	}
	return s.findNumber(0)
}
