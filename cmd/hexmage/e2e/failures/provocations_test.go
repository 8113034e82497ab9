//go:build linux

package failures_test

import (
	"bytes"
	"strings"
)

// provocations are the mistakes, those of the phone first.
func provocations() []provocation {
	var all []provocation
	for _, list := range [][]provocation{runtimeMistakes(), fileMistakes(), contextMistakes(), compilerMistakes(),
		buildMistakes(), makefileMistakes(), hostMistakes()} {
		all = append(all, list...)
	}
	return all
}

// otherID is what a library of another SDK says of itself.
const otherID = "v2.34.0.250424175746_119189"

// swap puts libraries of another SDK in the place of pushed ones, whose content the device's store shares.
func swap(id string, names ...string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString("rm " + name + "; printf 'xx" + id + "xx' > " + name + "\n")
	}
	return b.String()
}

// runtimeMistakes are wrong libraries and search paths.
func runtimeMistakes() []provocation {
	whole := []string{"libQnnHtp.so", "libQnnHtpPrepare.so", "libQnnHtpV79Stub.so", "libQnnHtpV79Skel.so"}
	return []provocation{
		{id: "stub-mismatch", in: onPhone, mistake: "the stub is another SDK's", plan: "compat push-one-sdk",
			before: swap(otherID, "libQnnHtpV79Stub.so"),
			says:   "it wants 2.41.0.251128000000_0 and found " + otherID[1:]},
		{id: "stub-mismatch", in: onPhone, mistake: "libQnnHtp.so alone is another SDK's",
			plan: "compat push-one-sdk", before: swap(otherID, "libQnnHtp.so")},
		{id: "soc-unknown", in: onPhone,
			mistake: "libQnnHtp.so is of QAIRT 2.31, which is older than the phone's SoC", plan: "compat qairt-soc",
			push:   map[string]string{"older.gz": "older/libQnnHtp.gz"},
			before: "rm libQnnHtp.so; gunzip -c older.gz > libQnnHtp.so"},
		{id: "skel-mismatch", in: onPhone, mistake: "the skel is another SDK's",
			before: swap(otherID, "libQnnHtpV79Skel.so")},
		{id: "prepare-mismatch", in: onPhone, mistake: "libQnnHtpPrepare.so is another SDK's",
			before: swap(otherID, "libQnnHtpPrepare.so")},
		{id: "context-newer", in: onPhone, mistake: "all libraries are of an older SDK than the context",
			plan: "compat context-newer", before: swap("v2.40.0.251030114326_189385", whole...)},
		{id: "context-other-sdk", in: onPhone, mistake: "all libraries are of another SDK than the context",
			before: swap("v2.45.0.260326154327", whole...)},
		{id: "transport-4000", in: onPhone, mistake: "no stub of the phone's arch", before: "rm libQnnHtpV79Stub.so",
			says: "4000 is QNN backend CANNOT_INITIALIZE"},
		{id: "skel-not-loaded", in: onPhone, mistake: "ADSP_LIBRARY_PATH names another folder",
			before: "export ADSP_LIBRARY_PATH=/nowhere", says: "0x80000406 is FastRPC AEE_EUNABLETOLOAD"},
		{id: "skel-not-loaded", in: onPhone, mistake: "the op package's Hexagon build is not there",
			before: "rm libQnnLLaMAPackage_HTP.so", says: "libQnnLLaMAPackage_HTP.so"},
		{id: "adsp-path-colon", in: onPhone, mistake: "':' between the folders of ADSP_LIBRARY_PATH",
			before: `export ADSP_LIBRARY_PATH="$PWD:/vendor/lib/rfsa/adsp"`},
		{id: "qnn-libs-not-opened", in: onPhone, mistake: "LD_LIBRARY_PATH names another folder",
			before: "export LD_LIBRARY_PATH=/nowhere"},
		{id: "dsp-device-node", in: onPhone, mistake: "the DSP has no device node",
			before: "export OPEN_FASTRPC_DEVICE=/dev/fastrpc-none"},
		{id: "op-package-not-registered", in: onPhone, mistake: "the op package's AArch64 build is not there",
			before: "rm libQnnLLaMAPackage_CPU.so", says: "error 4005"},
		{id: "elf-machine", in: onPhone, mistake: "the op package's two builds are swapped",
			before: "mv libQnnLLaMAPackage_HTP.so x; mv libQnnLLaMAPackage_CPU.so libQnnLLaMAPackage_HTP.so; mv x " +
				"libQnnLLaMAPackage_CPU.so"},
		{id: "dsp-bad-elf", in: onPhone, mistake: "the op package is built for another arch",
			says:   "0x80000452 is FastRPC AEE_EBADELF",
			before: `mv libQnnLLaMAPackage_HTP.so p; cp p libQnnLLaMAPackage_HTP.so; chmod u+w libQnnLLaMAPackage_HTP.so; printf '\201' | dd of=libQnnLLaMAPackage_HTP.so bs=1 seek=36 conv=notrunc`},
	}
}

// fileMistakes are files that are not there, or not what they should be.
func fileMistakes() []provocation {
	return []provocation{
		{id: "merges-missing", in: onPhone,
			mistake: "the tokenizer's merges are a file of their own, which nobody pushed",
			before:  `sed 's/"merges"/"was_merges"/' tokenizer.json > t; rm tokenizer.json; mv t tokenizer.json`},
		{id: "file-not-on-device", in: onPhone, mistake: "no tokenizer", before: "rm tokenizer.json"},
		{id: "graph-not-found", in: onPhone, mistake: "the runner's default --ar_len", length: "128",
			says: "The context binary has no graph model.0.s128."},
		{id: "killed", in: onPhone, mistake: "somebody kills the runner", instead: "sh -c 'kill -9 $$'; exit $?"},
		{id: "segfault", in: onPhone, mistake: "a program crashes", instead: "sh -c 'kill -SEGV $$'; exit 1"},
	}
}

// contextMistakes are contexts that do not fit the phone, or are damaged.
func contextMistakes() []provocation {
	return []provocation{
		{id: "context-malformed", in: onPhone, mistake: "the context was cut off",
			before: "mv model.bin m; head -c 5000 m > model.bin"},
		{id: "tensor-exists", in: onPhone, mistake: "two tensors of a graph have one name",
			says: "Tensor name model.layers.0.self_attn.k_norm already exists in the graph",
			context: func(b []byte) []byte {
				return bytes.ReplaceAll(b, []byte("layers.0.self_attn.q_norm"), []byte("layers.0.self_attn.k_norm"))
			}},
		{id: "arch-of-other-device", in: onPhone, mistake: "the context is compiled for SM8650",
			plan: "compat context-arch", target: `"soc":"SM8650","arch":"v75"`},
		{id: "vtcm-size", in: onPhone, mistake: "the context is compiled for more VTCM than the phone has",
			plan: "compat target-vtcm", target: `"soc":"SM8750","arch":"v79","vtcm_mb":16`},
		{id: "context-err-5005", in: onPhone, mistake: "the context is compiled for another SoC of the same arch",
			target: `"soc":"SXR2330P","arch":"v79"`},
		{id: "pd-dead", in: onPhone, mistake: "an op writes far beyond its output",
			says: "0x8000040d is FastRPC AEE_EBADSTATE",
			source: [3]string{"oppackage/example/LLaMAPackage/src/ops/RMSNorm.cpp",
				"  return GraphStatus::Success;\n}\n\nEND",
				"  out[1 << 29] = 1;\n  return GraphStatus::Success;\n}\n\nEND"}},
		{id: "constant-output", in: "the comparison with the reference",
			mistake: "a part of the context's weights is damaged",
			context: func(b []byte) []byte {
				for i := len(b) / 10; i < len(b)*9/10; i++ { // embeddings
					b[i] ^= 0x55
				}
				return b
			}},
		{id: "tokenizers-disagree", in: "the comparison with the reference",
			mistake: "the phone has another tokenizer than the reference",
			before:  `sed 's/"merges" *:/"merges": [], "-":/' tokenizer.json > t; rm tokenizer.json; mv t tokenizer.json`},
		{id: "could-not-create-op", in: onPhone, mistake: "the graph has an op that the op package has not",
			before: `mv libQnnLLaMAPackage_HTP.so p; sed 's/RMSNorm/RMSNorx/g' p > libQnnLLaMAPackage_HTP.so`},
	}
}

// compilerMistakes are found by the context compiler and what writes its configs.
func compilerMistakes() []provocation {
	older := []string{`version = "2.41.0.251128"`, `version = "2.31.0.250130"`, `target "SM8750"`, `target "SM8650"`}
	const in = "the context compiler"
	return []provocation{
		{id: "soc-unknown", in: in, mistake: "QAIRT 2.31 for SM8750", plan: "compat qairt-soc", edits: older,
			script: compiled(`"soc":"SM8750","arch":"v79"`)},
		{id: "config-option-2", in: in, mistake: "QAIRT 2.31 and a signed protection domain",
			plan: "compat signed-pd", edits: older, script: compiled(`"soc":"SM8650","arch":"v75","signed_pd":true`)},
		{id: "soc-id-as-model", in: in, mistake: "Android's soc_id in the place of the SoC",
			plan: "compat soc-id-in-command",
			script: aotConfig(`"soc":"SM8750","arch":"v79"`, "c.json") + busybox +
				" sed s/SM8750/618/ c.json > cfg.json\n" + compiler},
		{id: "config-key", in: in, mistake: "a key of another release in the config",
			script: aotConfig(`"soc":"SM8750","arch":"v79"`, "c.json") + busybox +
				` sed 's/"htp_arch"/"htp_cores": 1, "htp_arch"/' c.json > cfg.json` + "\n" + compiler},
		{id: "qnn-env-path", in: in, mistake: "no '/' at the end of --qnn_env_path",
			script: strings.Replace(compiled(`"soc":"SM8750","arch":"v79"`), "linux-clang/", "linux-clang", 1)},
		{id: "linear-block-size", in: "aot-config", mistake: "a model as the hub has it, without linear_block_size",
			script: busybox + " sed /linear_block_size/d ${module.toy.folder}/config.json > c.json\n" +
				`echo '{"model_config":"c.json","soc":"SM8750","arch":"v79","vtcm_mb":8,"out":"o","model_out":"m"}' > ` +
				"args\n$HEXMAGE_SELF tool aot-config args"},
	}
}

// buildMistakes are found by the real clang and lld behind the SDKs' compilers.
func buildMistakes() []provocation {
	const in = "clang"
	build := func(flags, source string) string {
		return "cat > a.cpp <<'END'\n" + source + "\nEND\n" + flags + " -o o a.cpp"
	}
	const op = "#include \"HTP/core/constraints.h\"\n#include \"HTP/core/op_package_feature_support.h\"\n#include " +
		"\"HTP/core/op_register_ext.h\"\n"
	hexagon := hexagonClang + " -std=c++17 -mv79 -mhvx=v66 -c "
	return []provocation{
		{id: "qnn-api-renamed", in: in, mistake: "an op calls get_interface_scale(), which QAIRT 2.41 has renamed",
			plan:   "compat op-renamed",
			script: build(hexagon+headers, op+"float f(const Tensor &t) { return t.get_interface_scale(); }")},
		{id: "qnn-include", in: in, mistake: "no -I for the QAIRT headers", script: build(hexagon, op)},
		{id: "qhl-headers", in: in, mistake: "no -I for libs/qhl_hvx",
			script: build(hexagon, "#include \"hvx_internal.h\"")},
		{id: "hexagon-tools-old", in: in, mistake: "an arch that the tools do not know", plan: "compat hexagon-arch",
			script: build(hexagonClang+" -mv99 -c", "int x;")},
		{id: "hvx-instruction", in: in, mistake: "an HVX instruction of v79, and hvx = v66",
			script: build(hexagon, "#include <hexagon_types.h>\n#include <hvx_hexagon_protos.h>\nHVX_Vector "+
				"f(HVX_Vector a) { return Q6_Vqf32_vadd_VsfVsf(a, a); }")},
		{id: "simulated-sdk", in: in, mistake: "std::unordered_map, which the simulated SDK does not have",
			script: build(hexagon, "#include <string>\nstd::unordered_map<int, int> m;")},
		{id: "compile-error", in: in, mistake: "a missing semicolon", script: build(hexagon, "int f() { return 1 }")},
		{id: "page-size", in: "the check of the linked library", mistake: "link flags of older days",
			at: "oppackage.llama",
			edits: []string{"htp_${target.arch}\"]\n  hvx",
				"htp_${target.arch}\"]\n    link_flags = [\"-Wl,-z,max-page-size=4096\"]\n  hvx"}},
		{id: "link-qnnhtp", in: "lld", mistake: "no -L for the QAIRT libraries",
			script: build(ndkClang+" -shared -lQnnHtp", "int x;")},
		{id: "undefined-symbol-link", in: "lld", mistake: "a function that nothing has",
			script: build(ndkClang+" -shared -fPIC -Wl,-z,defs", "void g();\nvoid f() { g(); }")},
		{id: "elf-machine", in: "lld", mistake: "the Hexagon library in the place of the AArch64 one",
			script: build(ndkClang+" -shared -fPIC ${toolchain.qairt.dir}/lib/hexagon-v79/unsigned/"+
				"libQnnHtpV79Skel.so", "int x;")},
		{id: "reloc-overflow", in: "lld", mistake: "code and data farther apart than a relocation reaches",
			script: build(ndkClang+" -shared -fPIC",
				"asm(\".text\\n.globl f\\nf: adr x0, far\\n ret\\n.data\\n.space 0x200000\\nfar: .quad 0\\n\");")},
	}
}

// makefileMistakes are found by the real make: with the Makefile of step "makefile", and with one in the manner of
// Qualcomm's.
func makefileMistakes() []provocation {
	const in = "make"
	vendors := func(check string) string {
		return "cat > Makefile <<'END'\n" + check +
			"\nhtp_v79:\n\ttouch o\nEND\nHEXAGON_SDK_ROOT=${toolchain.hexagon.dir} make htp_v79"
	}
	generated := func(line string) string {
		return "cp -r ${step.makefile.llama.outputs.dir} p\nchmod -R u+w p\n" + line
	}
	return []provocation{
		{id: "hexagon-tools", in: in, mistake: "a version of the tools that the Hexagon SDK does not have",
			plan: "compat hexagon-tools-folder",
			script: vendors("TOOLS := $(HEXAGON_SDK_ROOT)/tools/HEXAGON_Tools/8.8.06/Tools\nifeq ($(wildcard " +
				"$(TOOLS)),)\n$(error \"ERROR: Cannot retrieve hexagon tools from: $(TOOLS). Expected: 8.8.06\")\n" +
				"endif")},
		{id: "hexagon-root-arch", in: in, mistake: "HEXAGON_SDK_ROOT_V79 is set in a comment only",
			plan: "compat make-sdk-root",
			script: vendors("# HEXAGON_SDK_ROOT_V79 := $(HEXAGON_SDK_ROOT)\nifeq ($(wildcard " +
				"$(HEXAGON_SDK_ROOT_V79)),)\n$(error \"ERROR: HEXAGON_SDK_ROOT_V79 is set incorrectly. Cannot " +
				"retrieve $(HEXAGON_SDK_ROOT_V79)\")\nendif")},
		{id: "hexagon-root", in: in, mistake: "HEXAGON_SDK_ROOT is not set",
			script: generated("QAIRT_SDK_ROOT=$PWD/${toolchain.qairt.dir} make -C p htp_v79")},
		{id: "ndk-root", in: in, mistake: "ANDROID_NDK_ROOT is not set",
			script: generated("QAIRT_SDK_ROOT=$PWD/${toolchain.qairt.dir} " +
				"HEXAGON_SDK_ROOT=$PWD/${toolchain.hexagon.dir} make -C p htp_aarch64")},
		{id: "no-rule-for-target", in: in, mistake: "no Makefile in the op package's folder",
			script: "make htp_aarch64"},
	}
}

// hostMistakes are found by the system: the loader, the kernel, a shell.
func hostMistakes() []provocation {
	const clang = "${toolchain.llvm.dir}/usr/bin/clang-22 --target=x86_64-linux-gnu -nostdlib -fuse-ld=lld " +
		"--ld-path=${toolchain.llvm.dir}/usr/bin/ld.lld-22 -fPIC "
	// needs links a program to a library, which it then does not find.
	needs := func(soname, after string) string {
		return "echo 'int g(void) { return 0; }' > l.c\necho 'int g(void); void _start(void) { g(); }' > p.c\n" +
			clang + "-shared -Wl,-soname," + soname + " -o lib.so l.c\n" +
			clang + "-pie -Wl,--dynamic-linker=/lib64/ld-linux-x86-64.so.2 -Wl,-z,nodefaultlib -o qnn-tool p.c " +
			"lib.so\n" + after + "./qnn-tool"
	}
	const qpm = `cat > qpm-cli <<'END'
#!/bin/sh
# in the manner of the vendor's client: it wants somebody who is logged in, and an absolute --path
[ -e login ] || { echo "[Error] : qpm-cli: 401 Unauthorized"; exit 1; }
while [ $# -gt 1 ]; do
  case $1 in --path) path=$2 ;; esac
  shift
done
case $path in /*) mkdir -p "$path" ;; *) echo "[Error] : qpm-cli: An unexpected error occurred"; exit 1 ;; esac
END
chmod +x qpm-cli
`
	return []provocation{
		{id: "qpm-relative", in: "a client in the manner of qpm-cli", mistake: "a relative --path",
			script: qpm + "touch login\n./qpm-cli --extract hexagonsdk6.x --version 6.3.0.0 --path hexagon"},
		{id: "qpm-login", in: "a client in the manner of qpm-cli", mistake: "nobody is logged in",
			script: qpm + "./qpm-cli --extract hexagonsdk6.x --version 6.3.0.0 --path $PWD/hexagon"},
		{id: "host-libcxx", in: "the loader", mistake: "a tool that needs libc++ on a host without it",
			script: needs("libc++.so.1", "")},
		{id: "host-python", in: "the loader", mistake: "a converter that needs Python 3.10's library",
			script: needs("libpython3.10.so.1.0", "")},
		{id: "shared-library", in: "the loader", mistake: "a program that needs another library",
			script: needs("libprotobuf.so.99", "")},
		{id: "killed", in: "the kernel", mistake: "a compile is killed", script: "sh -c 'kill -9 $$'; exit $?"},
		{id: "segfault", in: "the kernel", mistake: "a tool crashes", script: "sh -c 'kill -SEGV $$'; exit $?"},
		{id: "disk-full", in: "the kernel", mistake: "no space left for what is written",
			script: "cat ${module.toy.model} > /dev/full"},
	}
}
