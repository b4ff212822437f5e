//go:build linux

package ptx

import (
	"strings"
	"testing"
)

// An instruction without translation is an error that names the line.
func TestErrors(t *testing.T) {
	for body, want := range map[string]string{
		"frob.u32 %r1, %r2;":                      "frob.u32 is not translated",
		"add.f64 %fd1, %fd1, %fd1;":               "add.f64 is not translated", // may be contracted
		"add.rn.ftz.f32 %f1, %f1, %f1;":           "not translated",
		"div.approx.f32 %f1, %f1, %f1;":           "not translated",
		"ld.global.nc.u32 %r1, [%m];":             "not translated",
		"ld.relaxed.cta.u32 %r1, [%m];":           "not translated",
		"fence.acq_rel.cta;":                      "not translated",
		"atom.acquire.cta.add.u32 %r1, [%m], 1;":  "not translated",
		"st.acquire.gpu.u32 [%m], 1;":             "not translated",
		"cvt.f64.s32 %fd1, %r1;":                  "not translated",
		"cvt.rz.f32.f64 %f1, %fd1;":               "not translated",
		"cvt.sat.u8.u32 %rs1, %r1;":               "not translated",
		"add.s32 %r1, %r2;":                       "with 2 operands",
		"add.s32 %rd1, %r2, %r3;":                 "", // found by the compiler
		"add.s32 %r1, %rd2, %r3;":                 "%rd2 is of type b64, not s32",
		"add.s32 %r1, %r99, 1;":                   "%r99 is no register",
		"and.b16 %rs1, %rs1, 65536;":              "does not fit",
		"add.rn.f64 %fd1, %fd1, 1;":               "whole number where a float",
		"add.rn.f64 %fd1, %fd1, 0f3F800000;":      "type f32 where f64",
		"bar.sync 0, 32;":                         "with 2 operands",
		"mov.u32 %r1, %clock;":                    "%clock is no register",
		"ld.shared.u32 %r1, [k_p];":               "k_p is in .param",
		"call nothing, (k_p);":                    "there is no function nothing",
		"st.const.u32 [%m], 1;":                   "not translated",
		"ld.v2.u32 {%r1}, [%m];":                  "of 1 registers",
		"exit;":                                   "not translated",
		".shared .b8 s[50000]; mov.u64 %rd1, s;":  "k takes 50000 bytes of shared memory, a block has 49152",
		"shfl.sync.bfly.b64 %rd1, %rd1, 1, 3, 1;": "not translated",
	} {
		m, err := Parse(header + kernel("k", body))
		if err == nil {
			_, err = Translate(m, "kernels.ptx")
		}
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", body, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "ptx: line ") {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
	m, err := Parse(header + ".func f() { call.uni g, (); ret; }\n.func g() { call.uni f, (); ret; }\n" + kernel("k", "call.uni f, ();"))
	if err == nil {
		_, err = Translate(m, "kernels.ptx")
	}
	if err == nil || err.Error() != "ptx: line 4: f calls itself" {
		t.Errorf("recursion: %v", err)
	}
	for _, source := range []string{".weak", ".extern .shared .b8 x[];", ".entry k", ".version \"", ".global .b8 x[2] = {1, 2, 3};", "\x00", ".func f() { ret"} {
		if m, err := Parse(source); err == nil {
			t.Errorf("%q: %v", source, m)
		}
	}
}

// No text makes the translation panic.
func FuzzTranslate(f *testing.F) {
	f.Add(kernel("k", exchanges))
	f.Add(kernel("k", message("fence.acq_rel.gpu;", "ld.acquire.gpu.u32 %r3, [%m];")))
	f.Add(".func (.param .b64 r) f(.param .align 8 .b8 p[16])\n{\nld.param.v2.u64 {%rd1, %rd2}, [p+0];\nret;\n}\n" + kernel("k", "cvta; setp; mov.b64 {%r1, %r2}, %rd1; call (x), f, ();"))
	f.Fuzz(func(t *testing.T, source string) {
		if m, err := Parse(source); err == nil {
			_, _ = Translate(m, "kernels.ptx")
		}
	})
}
