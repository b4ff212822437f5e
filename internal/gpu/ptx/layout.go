package ptx

import (
	"fmt"
	"strings"
)

// Limits in bytes of PTX 7.0 on every card: of .const, of a kernel's parameters, and
// of the shared memory that a block has without asking.
const (
	mostConst  = 64 << 10
	mostParams = 4096
	mostShared = 48 << 10
)

// gap is the distance between two variables of a space, so that an access behind one does
// not reach the next. In shared memory AddressSanitizer guards it.
const gap = 64

// place lays variables of a space out: m_name is where one is.
func (t *translator) place(space string, all []Variable) {
	var content, gaps strings.Builder
	at, used := 0, 0
	if space == "shared" {
		at = 1024 // firstShared of machine/memory.h
	}
	first := at
	for _, v := range all {
		start := leastAligned(at, v.Align)
		content.WriteString(strings.Repeat("0,", start-at) + initial(v) + "," + strings.Repeat("0,", gap))
		t.printf("static const u64 m_%s = %d;\n", name(v.Name), start)
		used = (used+v.Align-1)/v.Align*v.Align + v.Bytes()
		at = start + v.Bytes() + gap
		fmt.Fprintf(&gaps, "%d,", at-gap)
	}
	if space == "shared" {
		t.printf("static const u64 sharedBytes = %d, gapBytes = %d, gaps[] = {%s0};\n\n", at-first, gap, gaps.String())
		return
	}
	if used > mostConst {
		fail(all[0].Line, "%d bytes of constants, a card has %d", used, mostConst)
	}
	t.printf("alignas(256) static const u8 constants[] = {%s0};\n\n", content.String())
}

// leastAligned is the next place from `at` that is a multiple of align and not of
// twice as much, so that nothing is aligned by chance.
func leastAligned(at, align int) int {
	return (at+2*align-1-align)/(2*align)*2*align + align
}

// initial are the bytes of a variable's initial value, little endian.
func initial(v Variable) string {
	size := sizes[v.Type]
	list := make([]string, v.Bytes())
	for i := range list {
		var w uint64
		if k := i / size; k < len(v.Init) {
			w = v.Init[k] >> (8 * (i % size))
		}
		list[i] = fmt.Sprint(w & 255)
	}
	return strings.Join(list, ",")
}

// placeParams returns the places of a kernel's parameters, and their size in bytes.
func placeParams(f *Function) (places map[string]int, bytes int) {
	places = map[string]int{}
	for _, v := range f.Params {
		bytes = (bytes + v.Align - 1) / v.Align * v.Align
		places[v.Name] = bytes
		bytes += v.Bytes()
	}
	return places, bytes
}

// ParamBytes is the size of the parameters that a launch of the entry must pass.
func (f *Function) ParamBytes() int {
	_, bytes := placeParams(f)
	return bytes
}
