package records

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"sync"

	"d3p/internal/models/encoding"
)

// levelSet finds the code of a level: by its spelling, or, when both are numbers, by
// value, so that 1.0 in a file matches a level "1". Spellings are hashed by their first and
// last bytes, which takes a fraction of a map's time.
type levelSet struct {
	names    []string
	slots    []int32 // code + 1, at the hash of its spelling or behind it; 0: free
	shift    int
	byNumber map[float64]int
	open     *textCodes // all texts are levels; nil: only names are
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

func newLevelSet(levels []string) *levelSet {
	width := bits.Len(uint(2 * len(levels))) // more than half of the slots are free
	s := &levelSet{names: levels, slots: make([]int32, 1<<width), shift: 64 - width, byNumber: map[float64]int{}}
	for code, name := range levels {
		*s.slot([]byte(name)) = int32(code + 1)
		if x, ok := parseNumber([]byte(name)); ok {
			s.byNumber[x] = code
		}
	}
	return s
}

// numberLevels makes the place of a level, from 0, its number, unless levels are numbers: an
// array has nothing else, as CIFAR-10 has of its classes.
func (e *encoder) numberLevels() {
	for i := range e.columns {
		s := e.columns[i].levels
		if s == nil || len(s.byNumber) > 0 {
			continue
		}
		for code := range s.names {
			s.byNumber[float64(code)] = code
		}
	}
}

// slot is the slot of a spelling, or a free slot for it.
func (s *levelSet) slot(cell []byte) *int32 {
	for at := ends(cell) * 0x9e3779b97f4a7c15 >> s.shift; ; at = (at + 1) % uint64(len(s.slots)) {
		if code := s.slots[at]; code == 0 || s.names[code-1] == string(cell) {
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
	if code := *s.slot(cell); code > 0 {
		return int(code) - 1, true
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
	if s.open != nil {
		return s.open.code(strconv.AppendFloat(nil, x+0, 'f', -1, 64)) // +0: not -0
	}
	code, ok = s.byNumber[x]
	return code, ok
}

// findBool returns the code of a level given as a truth value: true and false,
// or 1 and 0.
func (s *levelSet) findBool(b bool) (code int, ok bool) {
	if s.open != nil {
		return s.open.code(strconv.AppendBool(nil, b))
	}
	if code := *s.slot(strconv.AppendBool(nil, b)); code > 0 {
		return int(code) - 1, true
	}
	if b {
		return s.findNumber(1)
	}
	return s.findNumber(0)
}
