//go:build linux

package ptx

import (
	"strings"
	"testing"
)

// Threads exchange numbers, wait for each other within a block and, by fences,
// between blocks.
const exchanges = `
	mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
	mad.lo.s32 %r4, %r2, %r3, %r1;
	shfl.sync.bfly.b32 %r5, %r4, 3, 31, -1;
	shfl.sync.up.b32 %r6|%p1, %r4, 1, 0, -1;
	shfl.sync.idx.b32 %r7, %r4, 5, 6175, -1;
	mul.wide.u32 %rd1, %r4, 8; add.s64 %rd1, %m, %rd1;
	@!%p1 mov.u32 %r6, 99;
	shl.b32 %r6, %r6, 8; shl.b32 %r7, %r7, 16;
	or.b32 %r5, %r5, %r6; or.b32 %r5, %r5, %r7;
	st.global.u32 [%rd1], %r5;
`

func TestExchanges(t *testing.T) {
	const blocks = 3
	memory := make([]uint64, 64*blocks)
	if text := compile(t, header+kernel("exchanges", exchanges))("exchanges", blocks, memory); text != "" {
		t.Fatal(text)
	}
	for i, got := range memory {
		above := i - 1
		if i%32 == 0 {
			above = 99
		}
		if want := uint64(i ^ 3 | above<<8 | (i&^7|5)<<16); got != want { // 6175: segments of 8 lanes
			t.Errorf("thread %d has %#x, want %#x", i, got, want)
		}
	}
}

// first is a guard for the first thread of block n.
func first(n string) string {
	return "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; setp.ne.s32 %p1, %r1, 0; setp.ne.s32 %p2, %r2, " + n + "; or.pred %p1, %p1, %p2; @%p1 bra done" + n + ";"
}

// message is the passing of a number from one block to another.
func message(before, after string) string {
	return first("0") + "st.global.u32 [%m+8], 5;" + before + "st.volatile.global.u32 [%m], 1; done0:" +
		first("1") + "again: ld.volatile.global.u32 %r3, [%m]; setp.eq.s32 %p1, %r3, 0; @%p1 bra again;" + after + "ld.global.u32 %r4, [%m+8]; st.global.u32 [%m+16], %r4; done1:"
}

// An access that a card forbids, or leaves open, ends the program with its name.
func TestForbidden(t *testing.T) {
	cases := []struct{ build, name, want, body string }{
		{"", "alignment", "kernels.ptx:.*not aligned", "ld.global.u64 %rd1, [%m+4];"},
		{"", "alignment_of_a_vector", "not aligned", "ld.global.v2.f64 {%fd1, %fd2}, [%m+8];"},
		{"", "shared_of_a_global_address", "outside shared memory", "st.shared.u32 [%m], 1;"},
		{"", "shared_behind_its_end", "outside shared memory", "mov.u64 %rd1, box; st.shared.u32 [%rd1+2048], 1;"},
		{"", "anywhere_by_a_shared_address", "outside the memory", "mov.u64 %rd1, box; ld.u32 %r1, [%rd1];"},
		{"", "global_of_shared_memory", "outside global memory", "mov.u64 %rd1, box; cvta.shared.u64 %rd1, %rd1; ld.global.u32 %r1, [%rd1];"},
		{"", "local_of_a_generic_address", "outside local memory", ".local .align 8 .b8 d[16]; mov.u64 %rd1, d; cvta.local.u64 %rd1, %rd1; ld.local.u32 %r1, [%rd1];"},
		{"", "local_of_another_thread", "outside the memory", ".local .align 8 .b8 e[16]; mov.u64 %rd1, e; cvta.local.u64 %rd1, %rd1; mov.u32 %r1, %tid.x; " +
			"setp.eq.s32 %p1, %r1, 1; @%p1 st.global.u64 [%m], %rd1; bar.sync 0; ld.global.u64 %rd2, [%m]; ld.u32 %r1, [%rd2];"},
		{"", "parameters", "outside the kernel's parameters", "ld.param.u64 %rd1, [parameters_p+8];"},
		{"", "a_null_address", "outside", "mov.u64 %rd1, 0; ld.global.u32 %r1, [%rd1+8];"},
		{"", "division", "division by zero", "mov.u32 %r1, 0; div.s32 %r2, 1, %r1;"},
		{"", "lanes_at_two_barriers", "another lane", "mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 7; @%p1 bra other1; bar.sync 0; bra done1; other1: bar.sync 0; done1:"},
		{"", "lanes_at_a_shuffle", "another lane", "mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 7; @%p1 bra other2; shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; other2: bar.sync 0;"},
		{"", "a_thread_that_ended", "all threads wait", "mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 7; @%p1 ret; bar.sync 0;"},
		{"", "waiting_in_vain", "all threads wait", "again3: ld.volatile.global.u32 %r3, [%m]; setp.eq.s32 %p1, %r3, 0; @%p1 bra again3;"},
		{"memory", "behind_a_shared_variable", "poison", "mov.u64 %rd1, small; st.shared.u32 [%rd1+64], 1;"},
		{"memory", "behind_local_memory", "stack-buffer-overflow", ".local .align 8 .b8 g[16]; mov.u64 %rd1, g; st.local.u32 [%rd1+16], 1;"},
		{"memory", "behind_global_memory", "heap-buffer-overflow", "st.global.u32 [%m+64], 1;"},
		{"races", "no_barrier", "data race.*kernels.ptx", "mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 1; mov.u64 %rd1, box; @%p1 st.shared.u32 [%rd1], %r1; @%p1 bra done4; ld.shared.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 77; @%p1 st.global.u32 [%m], %r2; done4:"},
		{"races", "no_fence_before", "data race", message("", "fence.acq_rel.gpu;")},
		{"races", "no_fence_after", "data race", message("fence.acq_rel.gpu;", "")},
		{"races", "a_fence_too_late", "data race", message("", "fence.acq_rel.gpu;") + "fence.acq_rel.gpu;"},
		{"races", "fences", "", message("fence.acq_rel.gpu;", "fence.acq_rel.gpu;")},
		{"races", "release_and_acquire", "", strings.Replace(message("", "ld.acquire.gpu.u32 %r3, [%m];"), "st.volatile.global.u32 [%m], 1;", "red.release.gpu.add.u32 [%m], 1;", 1)},
		{"races", "relaxed_and_acquire", "data race", strings.Replace(message("", "ld.acquire.gpu.u32 %r3, [%m];"), "st.volatile.global.u32 [%m], 1;", "red.relaxed.gpu.add.u32 [%m], 1;", 1)},
		{"races", "release_alone", "data race", strings.Replace(message("", ""), "st.volatile.global.u32 [%m], 1;", "atom.release.gpu.add.u32 %r5, [%m], 1;", 1)},
		{"races", "barrier", "", "mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 1; mov.u64 %rd1, box; @%p1 st.shared.u32 [%rd1], %r1; bar.sync 0; ld.shared.u32 %r2, [%rd1];"},
	}
	source := header + ".shared .align 4 .b8 small[64];\n.shared .align 8 .b8 box[1024];\n"
	for _, c := range cases {
		source += kernel(c.name, strings.NewReplacer("again:", "again_"+c.name+":", "bra again;", "bra again_"+c.name+";").Replace(c.body))
	}
	for build, flags := range map[string][]string{
		"": nil, "memory": {"-fsanitize=address", "-fno-sanitize-address-use-after-scope"}, "races": {"-fsanitize=thread"},
	} {
		run := compile(t, source, flags...)
		for _, c := range cases {
			if c.build != build {
				continue
			}
			memory := make([]uint64, 8)
			text := strings.ReplaceAll(run(c.name, 2, memory), "\n", " ")
			from, _, _ := strings.Cut(c.want, ".*")
			if at := strings.Index(text, from); at < 0 || (c.want == "") != (text == "") || !strings.Contains(text[at:], strings.TrimPrefix(c.want[len(from):], ".*")) {
				t.Errorf("%s: %q, want %q", c.name, text, c.want)
			}
			if c.name == "fences" && memory[2] != 5 {
				t.Errorf("the message is %d", memory[2])
			}
		}
	}
}

// A variable that is declared with too small an alignment is found at every address.
func TestAlignment(t *testing.T) {
	source := header + ".const .align 1 .b8 c[9] = {1};\n.shared .align 8 .b8 s[64];\n"
	for name, body := range map[string]string{
		"shared": "mov.u64 %rd1, s; ld.shared.v2.u64 {%rd2, %rd3}, [%rd1];",
		"local":  ".local .align 8 .b8 l[64]; mov.u64 %rd1, l; st.local.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};",
		"const":  "mov.u64 %rd1, c; ld.const.u16 %rs1, [%rd1];",
	} {
		source += kernel("align_"+name, body)
	}
	run := compile(t, source)
	for _, name := range []string{"align_shared", "align_local", "align_const"} {
		if text := run(name, 1, make([]uint64, 1)); !strings.Contains(text, "not aligned") {
			t.Errorf("%s: %q", name, text)
		}
	}
}
