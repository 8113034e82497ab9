package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/version"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/qnn/qnnctx"
	"github.com/hexmage/hexmage/simulated/mllm/blob"
)

// vendorsLibrary is the beginning of a library of Qualcomm's, as far as a reader of build ids goes.
func vendorsLibrary(machine byte, class byte, buildID string) string {
	head := make([]byte, 64)
	copy(head, "\x7fELF")
	head[4], head[5], head[6], head[18], head[20] = class, 1, 1, machine, 1
	head[36] = 0x75 // of a Hexagon file: the arch
	return string(head) + "\x00AISW_VERSION: 2.34.0\x00" + buildID + "\x00"
}

func contextBinary(t *testing.T, info qnnctx.Info) string {
	t.Helper()
	var b bytes.Buffer
	if err := blob.Write(&b, info, &blob.Blob{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// toolchainsOf is a pipeline's beginning: the SDKs and the target.
func toolchainsOf(soc, qairt, hexagon string) string {
	return `
profile "simulated" { default = true }
profile "device" {}
target "` + soc + `" {}
toolchain "qairt" { version = "` + qairt + `" }
toolchain "hexagon" { version = "` + hexagon + `" }
toolchain "ndk" { version = "r28b" }
toolchain "adb" {}
`
}

const opPackage = `
step "oppackage" "llama" {
  source  = "LLaMAPackage"
  targets = ["htp_aarch64", "htp_${target.arch}"]
}
output "so" { value = step.oppackage.llama.outputs.dir }
`

// opSources are those of a package that speaks the API of QAIRT 2.31 and older, and one that has followed.
func opSources(scale string) map[string]string {
	return map[string]string{
		"LLaMAPackage/src/LLaMAPackageInterface.cpp": "int x;\n",
		"LLaMAPackage/src/ops/IRoPE.cpp": "// in_0.get_interface_scale() was renamed\nvoid f(const " +
			"Tensor &t) {\n  float s = t." + scale + "();\n}\n",
	}
}

const upstreamsMakefile = `
HEXAGON_SDK_ROOT_V75 := $(HEXAGON_SDK_ROOT)
# HEXAGON_SDK_ROOT_V79 := $(HEXAGON_SDK_BASE)/hexagon-sdk-6.0.0
HEXAGON_TOOLS_VERSION_V75 := 8.7.06
HEXAGON_TOOLS_VERSION_V79 := 19.0.04
CXX_V79 := $(HEXAGON_SDK_ROOT_V79)/tools/HEXAGON_Tools/$(HEXAGON_TOOLS_VERSION_V79)/Tools/bin/hexagon-clang++
`

const runsMake = `
step "exec" "llama" {
  argv   = ["sh", "-c", "make -C ops htp_aarch64 htp_${target.arch}"]
  inputs = ["ops/Makefile"]
  env    = { HEXAGON_SDK_ROOT = toolchain.hexagon.dir, QAIRT_SDK_ROOT = toolchain.qairt.dir }
  output "so" { file = "ops/build/lib.so" }
}
output "so" { value = step.exec.llama.outputs.so }
`

func pushes(more string) string {
	return `
step "run" "llm" {
  argv = ["/system/bin/true"]
  env  = { LD_LIBRARY_PATH = "$HEXMAGE_ROOT" }
  push = {
    "libQnnHtp.so"        = "${toolchain.qairt.dir}/lib/aarch64-android/libQnnHtp.so"
    "libQnnHtpV79Skel.so" = "${toolchain.qairt.dir}/lib/hexagon-v79/unsigned/libQnnHtpV79Skel.so"
` + more + `
  }
}
output "stdout" { value = step.run.llm.outputs.stdout }
`
}

// TestVersionFailures has each failure of versions that the llm.npu reproduction report tells of, and their like, as
// a pipeline: it is refused when it is planned, with the rule, the reason and what to do, before anything is fetched,
// built or pushed.
func TestVersionFailures(t *testing.T) {
	contextStep := func(args string) string {
		return `
step "context" "llm" {
  model    = "model.mllm"
  config   = "config.json"
  compiler = "compiler"
` + args + `
}
output "context" { value = step.context.llm.outputs.context }
`
	}
	for name, x := range map[string]struct {
		pipeline string
		files    map[string]string
		says     []string // "" none: the plan is fine
	}{
		// The report's own, and those of mllm's Makefile.
		"SoC unknown": {toolchainsOf("SM8750", "2.25.0.240728", "6.4.0.2") + opPackage, opSources("interface_scale"),
			[]string{"compat qairt-arch", "SoC model (SnapdragonModel) is unknown", "v79, the Hexagon arch of SM8750",
				"use QAIRT 2.31.0.250130 or newer", "[compat qairt-arch; observed: contents of qairt 2.25.0.240728]"}},
		"SoC unknown, no copy of the SDK": {toolchainsOf("SM8850", "2.38.0.250901", "6.3.0.0") + opPackage, nil,
			[]string{"compat qairt-arch", "use QAIRT 2.39.0.250926 or newer", "compat hexagon-arch",
				"use Hexagon SDK 6.4"}},
		"stub id mismatch": {toolchainsOf("SM8750", "2.37.0.250724", "6.4.0.2") +
			pushes(`"libQnnHtpV79Stub.so" = "libs/libQnnHtpV79Stub.so"`),
			map[string]string{"libs/libQnnHtpV79Stub.so": vendorsLibrary(183, 2, "v2.34.0.250424201103_119471")},
			[]string{"compat push-one-sdk", "Stub lib id mismatch", "v2.34.0.250424201103_119471",
				"libQnnHtpV79Stub.so from libs/libQnnHtpV79Stub.so", "v2.37.0.250724", "of one SDK"}},
		"stub id mismatch, the phone's own libraries": {toolchainsOf("SM8750", "2.37.0.250724", "6.4.0.2") +
			strings.Replace(pushes(""), `"$HEXMAGE_ROOT"`, `"/vendor/lib64:$HEXMAGE_ROOT"`, 1), nil,
			[]string{"compat run-vendor-libraries", "/vendor/lib64", "Stub lib id mismatch",
				"put the run's folder first"}},
		"config option 2": {toolchainsOf("SM8650", "2.31.0.250130", "6.4.0.2") + contextStep("  signed_pd = true"), nil,
			[]string{"compat signed-pd", "Unsupported config option 2", "signed_pd = false"}},
		"config option 2, in upstream's config": {toolchainsOf("SM8650", "2.31.0.250130", "6.4.0.2") + `
step "exec" "aot" {
  argv   = ["${toolchain.qairt.dir}/bin/x", "--aot_config", "cfg/qnn_aot_cfg_1.7B.json", "-o", "context.bin"]
  inputs = ["cfg/qnn_aot_cfg_1.7B.json"]
  output "context" { file = "context.bin" }
}
output "context" { value = step.exec.aot.outputs.context }
`, map[string]string{"cfg/qnn_aot_cfg_1.7B.json": `{"target_machine": {"htp_arch": "V75", "htp_chipset": "SM8650", "htp_security_pd_session": "HtpSignedPd"}}`},
			[]string{"compat signed-pd", "exec aot requests a signed protection domain", "HtpUnsignedPd"}},
		"tools folder": {toolchainsOf("SM8750", "2.41.0.251128", "6.5.0.0") +
			strings.Replace(opPackage, "source  =", "tools_version = \"19.0.04\"\n  source  =", 1),
			opSources("interface_scale"),
			[]string{"compat hexagon-tools-folder",
				"tools/HEXAGON_Tools/19.0.04, but Hexagon SDK 6.5.0.0 has it in tools/HEXAGON_Tools/19.0.07",
				"Cannot retrieve hexagon tools from", "use Hexagon SDK 6.4.0.2"}},
		"tools folder, no copy of the SDK": {toolchainsOf("SM8750", "2.37.0.250724", "6.3.0.0") +
			strings.Replace(opPackage, "source  =", "tools_version = \"19.0.04\"\n  source  =", 1),
			opSources("interface_scale"), []string{"compat hexagon-tools-folder", "Hexagon SDK 6.3.0.0 has it in " +
				"tools/HEXAGON_Tools/8.8.06"}},
		"tools folder, upstream's Makefile": {toolchainsOf("SM8650", "2.41.0.251128", "6.5.0.0") + runsMake,
			map[string]string{"ops/Makefile": upstreamsMakefile},
			[]string{"compat hexagon-tools-folder", "tools/HEXAGON_Tools/8.7.06",
				"Cannot retrieve hexagon tools from"}},
		"HEXAGON_SDK_ROOT_V79": {toolchainsOf("SM8750", "2.41.0.251128", "6.4.0.2") + runsMake,
			map[string]string{"ops/Makefile": upstreamsMakefile},
			[]string{"compat make-sdk-root", "HEXAGON_SDK_ROOT_V79 is set incorrectly. Cannot retrieve",
				"step \"makefile\"", "pass HEXAGON_SDK_ROOT_V79=$HEXAGON_SDK_ROOT"}},
		"HEXAGON_SDK_ROOT_V79, from git": {toolchainsOf("SM8750", "2.41.0.251128", "6.4.0.2") + `
step "git" "mllm" {
  url    = "https://github.com/UbiquitousLearning/mllm"
  commit = "b9c307020b2e200ea43cd67747d1581e4eba85fd"
}
step "exec" "llama" {
  argv = ["make", "-C", "${step.git.mllm.outputs.dir}/mllm/backends/qnn/custom-op-package/LLaMAPackage", "htp_v79"]
  output "so" { file = "lib.so" }
}
output "so" { value = step.exec.llama.outputs.so }
`, nil, []string{"compat make-sdk-root", "HEXAGON_SDK_ROOT_V79 is set incorrectly. Cannot retrieve"}},
		"HEXAGON_SDK_ROOT_V79 is set": {toolchainsOf("SM8750", "2.41.0.251128", "6.4.0.2") +
			strings.Replace(runsMake, "make -C", "make HEXAGON_SDK_ROOT_V79=$HEXAGON_SDK_ROOT -C", 1),
			map[string]string{"ops/Makefile": upstreamsMakefile}, nil},
		"get_interface_scale": {toolchainsOf("SM8750", "2.37.0.250724", "6.4.0.2") + opPackage,
			opSources("get_interface_scale"),
			[]string{"compat op-renamed", "src/ops/IRoPE.cpp:3 calls get_interface_scale()",
				"no member named 'get_interface_scale' in 'Tensor'", `step "patch" with series = "mllm"`,
				`rename rule "interface_scale"`}},
		"get_interface_scale, in a comment only": {toolchainsOf("SM8750", "2.37.0.250724", "6.4.0.2") + opPackage,
			opSources("interface_scale"), nil},
		"get_interface_scale, a function of its own": {toolchainsOf("SM8750", "2.37.0.250724", "6.4.0.2") + opPackage,
			map[string]string{
				"LLaMAPackage/src/LLaMAPackageInterface.cpp": "",
				"LLaMAPackage/src/ops/a.cpp": "float get_interface_scale();\nfloat a = " +
					"get_interface_scale();\n"}, nil},
		"get_interface_scale, as it was": {toolchainsOf("SM8650", "2.31.0.250130", "6.4.0.2") + opPackage,
			opSources("get_interface_scale"), nil},

		// Others that fail on the phone, or after an hour.
		"tools for v81": {toolchainsOf("SM8850", "2.42.0.251225", "6.2.0.1") + opPackage, nil,
			[]string{"compat hexagon-arch", "tools 8.8.06", "but not v81", "use Hexagon SDK 6.4", "needs tools 19.0"}},
		"tools for one arch of several": {toolchainsOf("SM8650", "2.42.0.251225", "6.2.0.1") +
			strings.Replace(opPackage, `"htp_aarch64"`, `"htp_v81"`, 1),
			map[string]string{"toolchains/ours.hcl": "toolchain \"hexagon\" {\n  release \"6.2.0.1\" {\n    " +
				"tools_version = \"8.8.06\"\n    source \"archive\" {\n      urls   = " +
				"[\"https://files.example/h.zip\"]\n      sha256 = \"" + strings.Repeat("a", 64) +
				"\"\n    }\n  }\n}\n"},
			[]string{"compat op-tools-arch", "8.8.06 of Hexagon SDK 6.2.0.1 cannot compile for v81",
				"use Hexagon SDK 6.4"}},
		"soc_id as soc_model": {strings.Replace(toolchainsOf("SM8750", "2.41.0.251128", "6.4.0.2"), `"SM8750" {}`,
			`"SM8750" { soc_model = 618 }`, 1) + opPackage, nil,
			[]string{"compat soc-id-as-model", "618, Android's soc_id of SM8750", "it is 69 for SM8750"}},
		"soc_id as SoC": {toolchainsOf("660", "2.42.0.251225", "6.4.0.2") + opPackage, nil,
			[]string{"660 is the Android soc_id of SM8850 (soc_model 87)"}},
		"soc_id in a command": {toolchainsOf("SM8850", "2.42.0.251225", "6.4.0.2") + `
step "exec" "prepare" {
  argv = ["${toolchain.qairt.dir}/bin/x", "--soc_model", "660"]
  output "o" { file = "o" }
}
output "o" { value = step.exec.prepare.outputs.o }
`, nil, []string{"compat soc-id-in-command", "soc_model 660, Android's soc_id of SM8850", "pass 87"}},
		"soc_model of another": {strings.Replace(toolchainsOf("SM8850", "2.42.0.251225", "6.4.0.2"), `"SM8850" {}`,
			`"SM8850" { soc_model = 88 }`, 1) + opPackage, nil,
			[]string{"compat soc-model", "88, which is SC8480XP; the soc_model of SM8850 is 87"}},
		"VTCM": {strings.Replace(toolchainsOf("SM8750", "2.41.0.251128", "6.4.0.2"), `"SM8750" {}`,
			`"SM8750" { vtcm_mb = 16 }`, 1) + opPackage, nil,
			[]string{"compat target-vtcm", "16 MB of VTCM, but SM8750 has 8"}},
		"context newer than the runtime": {toolchainsOf("SM8750", "2.37.0.250724", "6.4.0.2") +
			pushes(`"context.bin" = "context.bin"`),
			map[string]string{"context.bin": contextBinary(t,
				qnnctx.Info{Backend: qnnctx.BackendHTP, BuildID: "v2.44.0.260225000000_1", SoCModel: 69, Arch: 79,
					SoC: "SM8750", VTCM: 8 << 20})},
			[]string{"compat context-newer", "made by QAIRT 2.44.0, and the older runtime 2.37.0.250724",
				"compile the context again"}},
		"context for another arch": {toolchainsOf("SM8750", "2.44.0.260225", "6.4.0.2") +
			pushes(`"context.bin" = "context.bin"`),
			map[string]string{"context.bin": contextBinary(t,
				qnnctx.Info{Backend: qnnctx.BackendHTP, BuildID: "v2.42.0.251225135753_193295", SoCModel: 57,
					Arch: 75, SoC: "SM8650", VTCM: 8 << 20})},
			[]string{"compat context-arch", "compiled for Hexagon v75, but the target has v79"}},
		"library for another arch": {toolchainsOf("SM8750", "2.37.0.250724", "6.4.0.2") +
			pushes(`"libQnnLLaMAPackage_HTP.so" = "libs/p.so"`),
			map[string]string{"libs/p.so": vendorsLibrary(164, 1, "v2.37.0.250724000000_1")},
			[]string{"compat push-arch", "libQnnLLaMAPackage_HTP.so from libs/p.so is built for Hexagon v75, but the " +
				"target has v79", "push the build for v79"}},
		"LPBQ on v69": {toolchainsOf("SM8450", "2.41.0.251128", "6.4.0.2") +
			"\nstep \"quantize\" \"q\" {\n  model = \"m\"\n}\noutput \"q\" { value = step.quantize.q.outputs.dir }\n",
			nil,
			[]string{"compat lpbq", "need Hexagon v73 or newer, but SM8450 has v69"}},
		"config for another SoC": {toolchainsOf("SM8750", "2.41.0.251128", "6.4.0.2") + `
step "exec" "aot" {
  argv = ["${toolchain.qairt.dir}/bin/x", "--aot_config=cfg.json"]
  output "o" { file = "o" }
}
output "o" { value = step.exec.aot.outputs.o }
`, map[string]string{"cfg.json": `{"target_machine": {"htp_arch": "V75", "htp_chipset": "SM8650", "htp_security_pd_session": "HtpUnsignedPd"}}`},
			[]string{"compat aot-config", "for SM8650, v75, but the target is SM8750, v79", `set htp_chipset to "SM8750"`}},
		"a rule of one's own": {toolchainsOf("SM8750", "2.41.0.251128", "6.4.0.2") + opPackage,
			map[string]string{"toolchains/ours.hcl": `
compat "ours" {
  when   = older(qairt.version, "2.42")
  reason = "our models need ${upper("qairt")} 2.42"
  remedy = "ask the people who know"
}
`}, []string{"compat ours", "our models need QAIRT 2.42. ask the people who know."}},
		"a rule about the phone alone": {toolchainsOf("SM8750", "2.41.0.251128", "6.4.0.2") + opPackage,
			map[string]string{"toolchains/ours.hcl": `
compat "no-such-phone" {
  when   = soc.name == "SM8750" && target.vtcm_mb == 8
  reason = "we have none"
  remedy = "take another"
}
`}, []string{"compat no-such-phone", "in target \"SM8750\"", "we have none"}},
		"a rule switched off": {toolchainsOf("SM8750", "2.37.0.250724", "6.4.0.2") + opPackage,
			map[string]string{"toolchains/ours.hcl": "compat \"op-renamed\" {\n  severity = \"off\"\n}\n",
				"LLaMAPackage/src/LLaMAPackageInterface.cpp": "",
				"LLaMAPackage/src/ops/a.cpp":                 "int a = t.get_interface_scale();"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, cache := t.TempDir(), filepath.Join(t.TempDir(), "cache")
			files := map[string]string{"pipelines/p.hcl": x.pipeline}
			for n, text := range x.files {
				files[n] = text
			}
			for n, text := range files {
				at := filepath.Join(dir, n)
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for _, command := range []string{"plan", "validate"} {
				var stdout, stderr bytes.Buffer
				args := []string{"hexmage", command, "--profile", "device", "p"}
				code := Main(args, Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Dir: dir,
					Vars: []string{"HEXMAGE_CACHE=" + cache, "HOME=" + dir}, Self: os.Args[0], Width: 4000})
				if x.says == nil {
					// the SDK itself
					lacks := command == "plan" && code == ExitUsage &&
						strings.Contains(stdout.String(), "this machine cannot run the plan yet")
					if code != 0 && !lacks || strings.Contains(stderr.String(), "[compat") {
						t.Errorf("%s: exit code %d\n%s", command, code, stderr.String())
					}
					continue
				}
				want := ExitUsage
				// Nobody has seen where QAIRT begins to take the option: a warning. plan says that the SDK is missing.
				if strings.HasPrefix(name, "config option 2") && command == "validate" {
					want = 0
				}
				if code != want {
					t.Errorf("%s: exit code %d, want %d\n%s", command, code, want, stderr.String())
				}
				for _, says := range x.says {
					if !strings.Contains(strings.ToLower(stderr.String()), strings.ToLower(says)) {
						t.Errorf("%s does not say %q:\n%s", command, says, stderr.String())
					}
				}
			}
			for _, made := range []string{filepath.Join(dir, "out"), filepath.Join(cache, "v3")} {
				if _, err := os.Stat(made); err == nil {
					t.Errorf("%s is there: something was fetched or built", made)
				}
			}
		})
	}
}

// TestCompatWarns: what rests on something inferred is said, and refuses nothing; what a workspace says itself counts.
func TestCompatWarns(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		pipeline string
		ours     string // toolchains/ours.hcl
		code     int
		says     []string
		not      string
	}{
		// An engineer of Qualcomm says that V79 is there from 2.30 on; executorch's list begins with 2.37.
		"v79 before 2.37": {pipeline: toolchainsOf("SM8750", "2.34.0.250424", "6.4.0.2"), not: "compat qairt-arch",
			says: []string{"Warning: Unsupported target", "does not support SM8750",
				"use QAIRT 2.37.0.250724 or newer", "[compat qairt-soc; inferred: executorch: devices and versions]"}},
		"v79 before 2.30": {pipeline: toolchainsOf("SM8750", "2.29.0.241129", "6.4.0.2"),
			says: []string{"compat qairt-arch; inferred: executorch#7550"}},
		"v81 before 2.42": {pipeline: toolchainsOf("SM8850", "2.41.0.251128", "6.4.0.2"), not: "compat qairt-arch",
			says: []string{"Warning: Unsupported target",
				"[compat qairt-soc; inferred: executorch: devices and versions]"}},
		"v81 before 2.39": {pipeline: toolchainsOf("SM8850", "2.38.0.250901", "6.4.0.2"),
			says: []string{"Warning: Unsupported target", "not for v81",
				"compat qairt-arch; inferred: local-dream ships the libraries of 2.39"}},
		"v81 in what somebody has seen": {pipeline: toolchainsOf("SM8850", "2.25.0.240728", "6.4.0.2"),
			code: ExitUsage, says: []string{"compat qairt-arch; observed"}},
		"a workspace that insists": {pipeline: toolchainsOf("SM8750", "2.34.0.250424", "6.4.0.2"),
			ours: "compat \"qairt-soc\" {\n  severity = \"error\"\n}\n", code: ExitUsage,
			says: []string{"Error: Unsupported target", "compat qairt-soc; inferred"}},
		"a workspace's own record": {pipeline: toolchainsOf("SM9950", "2.41.0.251128", "6.4.0.2"),
			ours: "soc \"SM9950\" {\n  arch = \"v79\"\n  soc_model = 199\n  min_sdk = \"2.51\"\n}\n", code: ExitUsage,
			says: []string{"compat qairt-soc; declared", "ours.hcl"}},
		"a workspace's own record that is not sure": {pipeline: toolchainsOf("SM9950", "2.41.0.251128", "6.4.0.2"),
			ours: "soc \"SM9950\" {\n  arch = \"v79\"\n  soc_model = 199\n  min_sdk = \"2.51\"\n  fact \"min_sdk\" " +
				"{\n    confidence = \"inferred\"\n    source = \"a rumour\"\n  }\n}\n",
			says: []string{"Warning: ", "compat qairt-soc; inferred: a rumour"}},
		// Rules that mention nothing but the target are asked at its block, whatever else there is.
		"soc_id as soc_model": {pipeline: "target \"SM8750\" { soc_model = 618 }\n" + oneStep, code: ExitUsage,
			says: []string{"compat soc-id-as-model; observed", "soc_model = 618", "it is 69 for SM8750"}},
		"too much VTCM": {pipeline: "target \"SM8750\" { vtcm_mb = 16 }\n" + oneStep, code: ExitUsage,
			says: []string{"compat target-vtcm; observed", "vtcm_mb = 16"}},
		"no HTP": {pipeline: "target \"SM8250\" {}\n" + oneStep, code: ExitUsage,
			says: []string{"compat soc-htp; documented", "SM8250 has Hexagon v66"}},
		"a rule of the SoC's": {pipeline: "target \"SM8650\" {}\n" + oneStep,
			ours: "compat \"ours\" {\n  when = soc.arch == \"v75\" && target.vtcm_mb == 8\n  reason = \"we have no " +
				"${soc.name} here\"\n}\n", code: ExitUsage,
			says: []string{"we have no SM8650 here", "compat ours"}},
		"an argument that is none": {
			pipeline: "target \"SM8650\" { vtcm_b = 8 }\n" + oneStep, code: ExitUsage,
			says: []string{"Unknown argument vtcm_b in a target block. Did you mean vtcm_mb?"},
		},
		"a constant as SoC": {
			pipeline: "target { soc = \"SM8650\" }\n" + oneStep, code: ExitUsage,
			says: []string{`write target "SM8650" {}.`},
		},
		"a variable as SoC": {
			pipeline: "variable \"soc\" {\n  default = \"SM8650\"\n}\ntarget { soc = var.soc }\n" + oneStep,
			not:      "Warning",
		},
		"a SoC without a record": {pipeline: "target \"SM9999\" {\n  arch = \"v79\"\n  soc_model = 199\n  " +
			"vtcm_mb = 8\n}\n" + oneStep},
		"a SoC of which not all is said": {pipeline: "target \"SM9999\" {\n  arch = \"v79\"\n  vtcm_mb = 8\n}\n" +
			oneStep, code: ExitUsage, says: []string{`SoC "SM9999" is not in the catalog`}},
		"the name twice": {pipeline: "target \"SM8650\" { soc = \"SM8650\" }\n" + oneStep, code: ExitUsage,
			says: []string{"Unknown argument soc in a target block"}},
		"no name": {pipeline: "target {}\n" + oneStep, code: ExitUsage,
			says: []string{"Missing SoC", `target "SM8750" {}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for at, text := range map[string]string{"pipelines/p.hcl": x.pipeline, "toolchains/ours.hcl": x.ours} {
				at = filepath.Join(dir, at)
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var stdout, stderr bytes.Buffer
			code := Main([]string{"hexmage", "plan", "--profile", "device", "p"},
				Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Dir: dir,
					Vars: []string{"HEXMAGE_CACHE=" + dir + "/cache", "HOME=" + dir}, Self: os.Args[0], Width: 4000})
			if code != x.code || x.not != "" && strings.Contains(stderr.String(), x.not) {
				t.Errorf("exit code %d, want %d, without %q\n%s", code, x.code, x.not, stderr.String())
			}
			for _, says := range x.says {
				if text := stderr.String(); !strings.Contains(strings.ToLower(text), strings.ToLower(says)) {
					t.Errorf("no %q in\n%s", says, text)
				}
			}
			if n := strings.Count(stderr.String(), "The old spelling"); n > 1 {
				t.Errorf("said %d times\n%s", n, stderr.String())
			}
		})
	}
}

// TestDefectsAreShown: plan warns of a release with a defect that the pipeline meets, and compat shows it in its table.
// What concerns programs that no pipeline starts is in compat alone.
func TestDefectsAreShown(t *testing.T) {
	t.Parallel()
	const ours = `
toolchain "ort_qnn_android" {
  release "2.5.0" {
    source "maven" { coordinates = "com.example:qnn:2.5.0" }
  }
  release "2.3.0" {
    source "maven" { coordinates = "com.example:qnn:2.3.0" }
  }
}
`
	ort := func(version string) string {
		return "toolchain \"ort_android\" {}\ntoolchain \"ort_qnn_android\" { version = \"" + version + "\" }\n" +
			"step \"run\" \"net\" {\n  argv = [\"./net\"]\n  push = {\n" +
			"    a = \"${toolchain.ort_android.dir}/a\"\n    b = \"${toolchain.ort_qnn_android.dir}/b\"\n  }\n}\n" +
			"output \"stdout\" { value = step.run.net.outputs.stdout }\n"
	}
	shown := map[string]bool{}
	for id, x := range map[string]struct {
		soc, qairt, more string
		note             bool
	}{
		"qairt-quantizer":         {soc: "SM8650", qairt: "2.22.6.240515"},
		"qairt-implicit-bias":     {soc: "SM8650", qairt: "2.25.0.240728"},
		"qairt-layer-norm":        {soc: "SM8650", qairt: "2.28.0.241029"},
		"qairt-block-head":        {soc: "SM8550", qairt: "2.42.0.251225"},
		"qairt-system-abi":        {soc: "SM8650", qairt: "2.44.0.260225"},
		"qairt-mapped-weights":    {soc: "SC8380XP", qairt: "2.48.40.260702"},
		"ort-qnn-llm":             {soc: "SM8650", qairt: "2.47.0.260601", more: ort("2.5.0")},
		"ort-qnn-plugin":          {soc: "SM8650", qairt: "2.47.0.260601", more: ort("2.3.0")},
		"qairt-windows-exit-code": {soc: "SM8650", qairt: "2.45.0.260326", note: true},
		"qairt-skel-symbol":       {soc: "SM8650", qairt: "2.51.0.260929", note: true},
		"qairt-genie-slot":        {soc: "SM8650", qairt: "2.49.1.260821", note: true},
	} {
		shown[id] = true
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for at, text := range map[string]string{"toolchains/ours.hcl": ours,
				"pipelines/p.hcl": toolchainsOf(x.soc, x.qairt, "6.4.0.2") + x.more} {
				at = filepath.Join(dir, at)
				if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			said := func(args ...string) string {
				var out bytes.Buffer
				env := Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Dir: dir, Self: os.Args[0],
					Vars: []string{"HEXMAGE_CACHE=" + dir + "/cache", "HOME=" + dir}, Width: 4000}
				code := Main(append([]string{"hexmage"}, args...), env)
				if code != 0 && !strings.Contains(out.String(), "this machine cannot run the plan yet") {
					t.Errorf("%q: exit code %d\n%s", args, code, out.String())
				}
				return out.String()
			}
			rule := "[compat " + id + "; "
			if text := said("compat", "--soc", x.soc); !strings.Contains(text, rule) {
				t.Errorf("compat does not show it:\n%s", text)
			}
			text := said("plan", "--profile", "device", "p")
			if strings.Contains(text, rule) == x.note ||
				!x.note && !strings.Contains(text, "Warning: Release with a known defect") {
				t.Errorf("plan, a note: %v\n%s", x.note, text)
			}
		})
	}
	s, diags := facts.Builtin()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, r := range s.Rules {
		if (r.Defect != nil) != shown[r.ID] {
			t.Errorf("%s: a defect: %v; tried: %v", r.ID, r.Defect != nil, shown[r.ID])
		}
	}
}

// oneStep is a step that the rules have nothing to say of.
const oneStep = "profile \"device\" {}\nstep \"exec\" \"a\" {\n  argv = [\"true\"]\n  output \"o\" { file = \"o\" " +
	"}\n}\noutput \"o\" { value = step.exec.a.outputs.o }\n"

// TestCompatCommand asks for a SoC that one old SDK knows nothing of.
func TestCompatCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		env := Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Dir: dir,
			Vars: []string{"HEXMAGE_CACHE=" + dir + "/cache", "HOME=" + dir}, Width: 120}
		if code := Main(append([]string{"hexmage", "compat"}, args...), env); code != 0 {
			t.Fatalf("%q: exit code %d\n%s", args, code, stderr.String())
		}
		return stdout.String()
	}
	text := run("--soc", "sm8750p")
	for _, want := range []string{
		`(?m)^Hexagon v79 · soc_model 69 · Android soc_id 618, 639 · 8 MB VTCM`,
		`(?m)^ +tools 8\.7\.06 +tools 8\.7\.08 +tools 8\.8\.06 +tools 19\.0\.04`,
		`(?m)^2\.37\.0\.250724 – 2\.43\.0\.260128 +no \d+ +no \d+ +yes +yes +yes$`,
		`(?m)^2\.31\.0\.250130 – 2\.36\.1\.250708( +no( \d+)+){2}( +maybe( \d+)+){3}$`,
		`(?m)^2\.28\.2\.241116 – 2\.29\.0\.241129( +no( \d+)+){2}( +maybe( \d+)+){3}$`,
		`(?m)^2\.25\.0\.240728( +no( \d+)+){5}$`,
		`(?m)^ndk +r25c – r27d +r28b – r30\n +yes \d+ +yes$`,
		`(?m)^ +\d+  QAIRT 2\.29\.0\.241129 has libraries`, `Use\s+QAIRT\s+2\.37\.0\.250724\s+or\s+newer`,
		`\[compat\s+qairt-arch;\s+inferred:`, `\[compat\s+qairt-soc;\s+inferred:`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	var m struct {
		SoC struct {
			SoCModel int `json:"soc_model"`
		}
		QAIRT []struct {
			Version  string
			Works    bool
			Findings []qnn.Finding
		}
		Pairs []struct {
			QAIRT, Hexagon string
			Works          bool
			Doubtful       bool
		}
	}
	if err := json.Unmarshal([]byte(run("--soc", "SM8850", "--json")), &m); err != nil {
		t.Fatal(err)
	}
	works := 0
	for _, p := range m.Pairs {
		want := version.Compare(p.QAIRT, "2.42") > 0 && version.Compare(p.Hexagon, "6.4") > 0
		if (p.Works && !p.Doubtful) != want {
			t.Errorf("%s with %s for SM8850: %+v", p.QAIRT, p.Hexagon, p)
		}
		if p.Works {
			works++
		}
	}
	if m.SoC.SoCModel != 87 || works == 0 || len(m.Pairs) < 32*13 {
		t.Errorf("%+v, %d of %d work", m.SoC, works, len(m.Pairs))
	}
	for _, q := range m.QAIRT {
		if !q.Works && (len(q.Findings) == 0 || q.Findings[0].Reason == "" || q.Findings[0].Remedy == "" ||
			q.Findings[0].Source == "") {
			t.Errorf("%s does not work, for no reason: %+v", q.Version, q.Findings)
		}
	}
	if all := run(); !regexp.MustCompile(
		`(?m)^SM8850 +Snapdragon 8 Elite Gen 5 +v81 +87 +660, 661, .* +8 MB +2\.42\.0\.251225 +6\.4\.0\.0 +19\.0\+$`).
		MatchString(all) {
		t.Errorf("all SoCs:\n%s", all)
	}
	if strings.Contains(text, "htp_chipset") {
		t.Errorf("what upstream believes of SM8750 is contradicted:\n%s", text)
	}
	if text := strings.Join(strings.Fields(run("--soc", "SM8350")), " "); !strings.Contains(text,
		"htp_chipset SM8350 has soc_model 35, which is SM7325; the soc_model of SM8350 is 30") {
		t.Errorf("what upstream believes of SM8350 is not contradicted:\n%s", text)
	}
	if ops := run("--ops", "--soc", "SM8750"); !strings.Contains(ops, "MatMul") || !strings.Contains(ops, "a16w8") ||
		!strings.Contains(ops, "unsupported: ") {
		t.Errorf("operations:\n%s", ops)
	}
	if rules := run("--rules"); !strings.Contains(rules, "push-one-sdk") || !strings.Contains(rules, "qairt-arch") {
		t.Errorf("rules:\n%s", rules)
	}
	var stderr bytes.Buffer
	if code := Main([]string{"hexmage", "compat", "--soc", "618"},
		Env{Stdout: &stderr, Stderr: &stderr, Dir: dir,
			Vars: []string{"HEXMAGE_CACHE=" + dir + "/cache"}}); code != ExitUsage ||
		!strings.Contains(stderr.String(), "Android soc_id of SM8750") {
		t.Errorf("--soc 618: exit code %d, %s", code, stderr.String())
	}
}
