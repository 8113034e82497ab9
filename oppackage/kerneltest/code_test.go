package kerneltest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

func TestHVX(t *testing.T) {
	for _, tt := range []struct{ qemu, arch, hvx, cpu string }{
		{"7.2", "v79", "v66", "v67"}, {"7.2", "v68", "v66", "v67"}, {"", "v79", "v66", "v67"}, {"9.2", "v73", "v66", "v67"},
		{"10.0", "v68", "v68", "v68"}, {"11.1", "v69", "v69", "v69"}, {"11.1", "v73", "v73", "v73"}, {"11.1", "v81", "v81", "v73"},
	} {
		if hvx := HVX(tt.qemu, tt.arch); hvx != tt.hvx || cpu(tt.arch, hvx) != tt.cpu {
			t.Errorf("qemu %s, %s: HVX %s on %s, want %s on %s", tt.qemu, tt.arch, hvx, cpu(tt.arch, hvx), tt.hvx, tt.cpu)
		}
	}
}

// TestUnsafe has the HVX instructions judged that clang knows and v60 did not: all that came with v68 or later are refused but nine, which
// TestEmulatedInstructions has run.
func TestUnsafe(t *testing.T) {
	header, err := filepath.Glob(filepath.Join(toolchaintest.Root(t, "llvm"), "usr/lib/llvm-22/lib/clang/*/include/hvx_hexagon_protos.h"))
	if err != nil || len(header) != 1 {
		t.Fatal(header, err)
	}
	data, err := os.ReadFile(header[0])
	if err != nil {
		t.Fatal(err)
	}
	single, pair := regexp.MustCompile(`\bV[a-z]\d+`), regexp.MustCompile(`\bV([a-z])[a-z]\d+`)
	var runs []string
	refused := 0
	for _, m := range regexp.MustCompile(`(?s)#if __HVX_ARCH__ >= (\d+)[^\n]*\n[^#]*?Assembly Syntax: +([^\n]+)\n`).FindAllStringSubmatch(string(data), -1) {
		arch, _ := strconv.Atoi(m[1])
		bad := Unsafe("\t{\n\t\t" + single.ReplaceAllString(pair.ReplaceAllString(m[2], "v1:0"), "v0") + " // v0.sf\n\t}\n")
		switch {
		case arch < 68 && len(bad) > 0:
			t.Errorf("v%d: %s: refused: %v", arch, m[2], bad)
		case arch >= 68 && len(bad) == 0:
			runs = append(runs, m[2])
		case arch >= 68:
			refused++
		}
	}
	want := []string{"Vdd32.w=v6mpy(Vuu32.ub,Vvv32.b,#u2):h", "Vxx32.w+=v6mpy(Vuu32.ub,Vvv32.b,#u2):h", "Vdd32.w=v6mpy(Vuu32.ub,Vvv32.b,#u2):v", "Vxx32.w+=v6mpy(Vuu32.ub,Vvv32.b,#u2):v",
		"Vd32.ub=vasr(Vuu32.uh,Vv32.ub):rnd:sat", "Vd32.ub=vasr(Vuu32.uh,Vv32.ub):sat", "Vd32.uh=vasr(Vuu32.w,Vv32.uh):rnd:sat", "Vd32.uh=vasr(Vuu32.w,Vv32.uh):sat", "Vd32.uh=vmpy(Vu32.uh,Vv32.uh):>>16"}
	if d := cmp.Diff(want, runs); d != "" || refused < 100 {
		t.Errorf("%d are refused; others, of v68 and later (-want +got):\n%s", refused, d)
	}
}

// TestRefused lists the sources with unsafe instructions.
func TestRefused(t *testing.T) {
	var sources []Source
	for name, assembly := range map[string]string{
		"Plain.cpp": "\t.globl plain\nplain:\n\t{\n\t\tv0.w = vadd(v1.w,v2.w)\n\t\tvmem(r0+#0) = v0.new\n\t\tr1 = sfadd(r2,r3)\n\t}\n",
		"Floats.cpp": "\t{ v3:2.qf32 = vmpy(v1.hf,v7.hf); v9.cur = vmem(r0+#0) }\n\tif (!p0.new) v5.w = vfmv(v4.w)\n" +
			"\t\tv7:6.qf32 = vmpy(v8.hf,v9.hf) // v0.qf16\n",
	} {
		at := filepath.Join(t.TempDir(), name+".s")
		if err := os.WriteFile(at, []byte(assembly), 0o644); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, Source{Path: "src/ops/" + name, Assembly: at})
	}
	got, err := refused(sources)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Floats.cpp: the simulated DSP cannot run 2 × V.qf32 = vmpy(V.hf,V.hf), 1 × if (!P.new) V.w = vfmv(V.w): " +
		"leave the source out with `sources`, and test its ops on a device"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// vectorProgram prints the first element of what an expression makes of vectors of 2.5 and 3, in hexadecimal digits.
const vectorProgram = `
#include <hexagon_types.h>
#include <hexagon_protos.h>
#include <hvx_hexagon_protos.h>
static long call(long number, long a, long b, long c) {
  register long r0 __asm__("r0") = a, r1 __asm__("r1") = b, r2 __asm__("r2") = c, r6 __asm__("r6") = number;
  __asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r6) : "memory");
  return r0;
}
static union { HVX_Vector v; float f[32]; unsigned w[32]; } x, y, z;
void _start(void) {
  for (int i = 0; i < 32; i++) x.f[i] = 2.5f, y.f[i] = 3;
  const HVX_Vector a = x.v, b = y.v;
  z.v = EXPRESSION;
  char digits[8];
  for (int i = 0; i < 8; i++) digits[i] = "0123456789abcdef"[z.w[0] >> (28 - 4 * i) & 15];
  call(64, 1, (long)digits, 8);
  call(93, 0, 0, 0);
}
`

// TestEmulatedInstructions has the real emulator execute instructions of each kind: integers it gets right; of those that are refused it gets some wrong
// without a word, and ends at others. Where it does better one day, HVX and Unsafe may.
func TestEmulatedInstructions(t *testing.T) {
	clang, qemu := toolchaintest.Path(t, "llvm", "usr/bin/clang-22"), toolchaintest.Path(t, "qemu@11.1", "usr/bin/qemu-hexagon-static")
	for _, tt := range []struct {
		expression string
		hvx        int
		unsafe     string // "": none
		prints     string // "": it ends before
	}{
		{"Q6_Vw_vadd_VwVw(a, b)", 66, "", "80600000"},
		{"Q6_Vuh_vmpy_VuhVuh_rs16(a, b)", 69, "", "10180000"},
		{"Q6_Vuh_vasr_WwVuh_sat(Q6_W_vcombine_VV(a, a), Q6_Vh_vsplat_R(15))", 69, "", "80408040"},
		{"Q6_Vuh_vasr_WwVuh_rnd_sat(Q6_W_vcombine_VV(a, a), Q6_Vh_vsplat_R(14))", 69, "", "ffffffff"},
		{"Q6_Vub_vasr_WuhVub_rnd_sat(Q6_W_vcombine_VV(a, b), Q6_Vb_vsplat_R(7))", 69, "", "80810000"},
		{"Q6_Vub_vasr_WuhVub_sat(Q6_W_vcombine_VV(a, b), Q6_Vb_vsplat_R(7))", 69, "", "80800000"},
		{"Q6_V_lo_W(Q6_Ww_v6mpy_WubWbI_v(Q6_W_vcombine_VV(a, a), Q6_W_vcombine_VV(b, b), 3))", 68, "", "00000800"},
		{"Q6_V_lo_W(Q6_Ww_v6mpyacc_WwWubWbI_v(Q6_W_vcombine_VV(a, a), Q6_W_vcombine_VV(a, a), Q6_W_vcombine_VV(b, b), 3))", 68, "", "40200800"},
		{"Q6_V_lo_W(Q6_Ww_v6mpy_WubWbI_h(Q6_W_vcombine_VV(a, a), Q6_W_vcombine_VV(b, b), 0))", 68, "", "00000800"},
		{"Q6_V_lo_W(Q6_Ww_v6mpyacc_WwWubWbI_h(Q6_W_vcombine_VV(a, a), Q6_W_vcombine_VV(a, a), Q6_W_vcombine_VV(b, b), 0))", 68, "", "40200800"},
		{"Q6_Vsf_equals_Vqf32(a)", 68, "V.sf = V.qf32", "40200000"}, // as a qf32 these bits are next to nothing
		{"Q6_Vw_equals_Vsf(a)", 73, "V.w = V.sf", "40200000"},       // 2
		{"Q6_Vsf_equals_Vw(a)", 73, "V.sf = V.w", "80400000"},       // 1.07e9
		{"Q6_Vqf32_vmpy_VsfVsf(a, b)", 68, "V.qf32 = vmpy(V.sf,V.sf)", ""},
		{"Q6_Vqf16_vadd_VhfVhf(a, b)", 68, "V.qf16 = vadd(V.hf,V.hf)", ""},
		{"Q6_Vsf_vadd_VsfVsf(a, b)", 68, "V.sf = vadd(V.sf,V.sf)", ""},
		{"Q6_Vhf_vmpy_VhfVhf(a, b)", 68, "V.hf = vmpy(V.hf,V.hf)", ""},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "p.c"), []byte(vectorProgram), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, out := range []string{"p.s", "p"} {
			args := []string{"--target=hexagon-unknown-none-elf", fmt.Sprintf("-mv%d", max(68, tt.hvx)), fmt.Sprintf("-mhvx=v%d", tt.hvx), "-mhvx-length=128B", "-G0", "-O1",
				"-ffreestanding", "-nostdlib", "-static", "-fuse-ld=lld", "-DEXPRESSION=" + tt.expression, "p.c", "-o", out}
			if tt.hvx >= 68 {
				args = append(args, "-mhvx-qfloat", "-mhvx-ieee-fp")
			}
			if out == "p.s" {
				args = append(args, "-S")
			}
			cmd := exec.CommandContext(t.Context(), clang, args...)
			cmd.Dir = dir
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", tt.expression, err, said)
			}
		}
		text, err := os.ReadFile(filepath.Join(dir, "p.s"))
		if err != nil {
			t.Fatal(err)
		}
		if unsafe := strings.ReplaceAll(strings.Join(Unsafe(string(text)), ", "), "1 × ", ""); unsafe != tt.unsafe {
			t.Errorf("%s: refused are %q, want %q", tt.expression, unsafe, tt.unsafe)
		}
		out, err := exec.CommandContext(t.Context(), qemu, "-cpu", "v73", filepath.Join(dir, "p")).Output()
		if string(out) != tt.prints || (err == nil) != (tt.prints != "") {
			t.Errorf("%s: %q, %v, want %q", tt.expression, out, err, tt.prints)
		}
	}
}
