package records

import (
	"encoding/binary"
	"maps"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"sync"

	"d3p/internal/models/encoding"
)

// levelSet finds the code of a level: by a spelling, or, when both are numbers, by
// value, so that 1.0 in a file matches a level "1", or by a spelling in other case. Spellings are
// hashed by their first and last bytes, which takes a fraction of a map's time.
type levelSet struct {
	spellings []string // of the levels by code, then others
	codes     []int    // of the spellings
	levels    int
	slots     []int32 // index of a spelling + 1, at its hash or behind it; 0: free
	shift     int
	byNumber  map[float64]int
	folded    map[string]int // by spelling in lower case; none that two levels share
	open      *textCodes     // all texts are levels; nil: only names are
}

// textCodes are the different texts of a column. Threads that read parts of the file share them.
type textCodes struct {
	mu    sync.RWMutex
	codes map[string]int
	names []string // by code
}

// code returns the code of a text, the next one for a new text; ok is false if the text cannot be
// a level.
func (t *textCodes) code(cell []byte) (code int, ok bool) {
	t.mu.RLock()
	code, ok = t.codes[string(cell)]
	t.mu.RUnlock()
	if ok || !encoding.BuyableLevel(cell) {
		return code, ok
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if code, ok = t.codes[string(cell)]; !ok {
		if code = len(t.names); code == math.MaxInt32 {
			return 0, false
		}
		t.names = append(t.names, string(cell))
		t.codes[t.names[code]] = code
	}
	return code, true
}

func newLevelSet(levels []string, others map[string]int) *levelSet {
	n := len(levels) + len(others)
	width := bits.Len(uint(2 * n)) // more than half of the slots are free
	s := &levelSet{levels: len(levels), slots: make([]int32, 1<<width), shift: 64 - width, byNumber: map[float64]int{}, folded: make(map[string]int, n)}
	for code, name := range levels {
		s.add(name, code)
	}
	for spelling, code := range others {
		s.add(spelling, code)
	}
	maps.DeleteFunc(s.folded, func(_ string, code int) bool { return code < 0 })
	return s
}

// add adds a spelling of a level.
func (s *levelSet) add(spelling string, code int) {
	s.spellings, s.codes = append(s.spellings, spelling), append(s.codes, code)
	*s.slot([]byte(spelling)) = int32(len(s.spellings))
	if x, ok := parseNumber([]byte(spelling)); ok {
		s.byNumber[x] = code
	}
	lower := strings.ToLower(spelling)
	if other, ok := s.folded[lower]; ok && other != code {
		code = -1 // case tells levels apart
	}
	s.folded[lower] = code
}

// numberLevels makes the place of a level, from 0, its number, unless levels are numbers: an
// array has nothing else, as CIFAR-10 has of its classes.
func (e *encoder) numberLevels() {
	for i := range e.columns {
		s := e.columns[i].levels
		if s == nil || len(s.byNumber) > 0 {
			continue
		}
		for code := range s.levels {
			s.byNumber[float64(code)] = code
		}
	}
}

// slot is the slot of a spelling, or a free slot for it.
func (s *levelSet) slot(cell []byte) *int32 {
	for at := ends(cell) * 0x9e3779b97f4a7c15 >> s.shift; ; at = (at + 1) % uint64(len(s.slots)) {
		if code := s.slots[at]; code == 0 || s.spellings[code-1] == string(cell) {
			return &s.slots[at]
		}
	}
}

// ends is made of the first eight and the last eight bytes.
func ends(cell []byte) uint64 {
	switch n := len(cell); {
	case n >= 8:
		return binary.LittleEndian.Uint64(cell) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(cell[n-8:]), 29)
	case n >= 4:
		return uint64(binary.LittleEndian.Uint32(cell)) | uint64(binary.LittleEndian.Uint32(cell[n-4:]))<<32
	case n > 0:
		return uint64(cell[0]) | uint64(cell[n/2])<<8 | uint64(cell[n-1])<<16
	}
	return 0
}

// find returns the code of a level given as text.
func (s *levelSet) find(cell []byte) (code int, ok bool) {
	if s.open != nil {
		return s.open.code(cell)
	}
	if i := *s.slot(cell); i > 0 {
		return s.codes[i-1], true
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

// findFolded returns the code of a level given as text in other case, or as a truth value for 1 and 0.
func (s *levelSet) findFolded(cell []byte) (code int, ok bool) {
	if s.open != nil {
		return 0, false
	}
	lower := strings.ToLower(string(cell))
	if code, ok = s.folded[lower]; !ok && (lower == "true" || lower == "false") {
		code, ok = s.byNumber[indicator(lower == "true")]
	}
	return code, ok
}

// findNumber returns the code of a level given as a number.
func (s *levelSet) findNumber(x float64) (code int, ok bool) {
	if s.open != nil {
		return s.open.code(strconv.AppendFloat(nil, x+0, 'f', -1, 64)) // +0: not -0
	}
	code, ok = s.byNumber[x]
	return code, ok
}

// findBool returns the code of a level given as a truth value: true and false in any case, or 1
// and 0.
func (s *levelSet) findBool(b bool) (code int, ok bool) {
	if s.open != nil {
		return s.open.code(strconv.AppendBool(nil, b))
	}
	return s.findFolded(strconv.AppendBool(nil, b))
}
