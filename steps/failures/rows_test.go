package failures_test

import (
	"strings"
	"testing"
)

// The fragments that public reports have of failures around QNN, Hexagon and their users' tools, each with the diagnosis that it must come to, also
// when the noise of a healthy phone is around it. "" is noise.
func TestReportedFragments(t *testing.T) {
	t.Parallel()
	c := shipped(t)
	for _, x := range []struct{ fragment, want string }{
		{"SoC model (SnapdragonModel) is unknown", "soc-unknown"},
		{"<E> Unsupported SnapdragonModel = 660 by HTP backend", "soc-unknown"},
		{"Unknown config socModel 0", "soc-id-as-model"},
		{"Stub lib id mismatch: expected (v2.36.0.250627), detected (v2.34.0.250424)", "stub-mismatch"},
		{"Error in verify skel version", "skel-mismatch"},
		{"DspTransport.openSession qnn_open failed, 0x80000406, prio 100\nUnable to load Skel Library. transportStatus: 9", "skel-not-loaded"},
		{"qnn_open failed, 0x80000600\nFailed to create device: 14001", "vendor-skel"},
		{"0x80000442: host asks qnn_2_49_0_skel_handle_invoke", "skel-symbol"},
		{"RX VA 0xFFF00000 outside ELF segment", "skel-outside-segment"},
		{"Failed to create device, error: 14001", "device-create"},
		{"Failed to create transport for device, error: 4000\nFailed to parse platform config: 1008", "transport-4000"},
		{"Unsupported config option 2", "config-option-2"},
		{"Overriding user request for unsigned PD. Only signed offload is allowed on domain 3\nqnn_open failed, 0x80000406", "only-signed"},
		{"remote_handle_open failed 0x80000481", "unsigned-module"},
		{"User PD spawn refused with 0x8000054f", "pd-spawn-refused"},
		{"open_shell failed for domain 3 (Permission denied) 0xd", "selinux"},
		{"/dsp/fastrpc_shell_3 load failed 69", ""},
		{"Error 0x80000414: remote_handle64_invoke failed for dspqueue_create", "dspqueue-missing"},
		{"err: 0x80000406, uri file:///libggml-htp_skel_v79.so?x", "skel-uri"},
		{"failed to get URI for session 0 : error 0x14", "libcdsprpc-old"},
		{"dspqueue_read failed 0x2e", "dsp-session-broken"},
		{"SSR Detected\nqnn_open failed, 0x80000406\nqnn_open failed, 0x80000406", "dsp-wedged"},
		{"SSR Detected - You must free and recreate affected QNN API handles", "dsp-crash"},
		{"remote_handle64_invoke returned 0x8000040d", "pd-dead"},
		{"fa_alloc.cc:2462::ERROR:graph requires estimated allocation of 2315388 KB, limit is 2097152 KB", "graph-allocation"},
		{"Failed to find available PD for contextId 4", "pd-full"},
		{"Requires 0x2400000 bytes of TCM, which is greater than the TCM size of 0x800000!\nFailed to finalize graph (id: 1) with err 1002", "tcm-too-small"},
		{"RouterX86 graph prepare failed 17", "graph-finalize"},
		{"tcm_migration.cc:174:ERROR:Memory properties specified twice for operator X", "package-loaded-twice"},
		{"\"HardSigmoid.0\" generated: could not create op", "could-not-create-op"},
		{"QnnBackend_validateOpConfig failed 3110\n[4294967295] has incorrect Value 68, expected >= 73", "op-validation-arch"},
		{"Request feature arch with value 75 unsupported\nFailed to create context from binary with err 0x138d", "arch-of-other-device"},
		{"Request feature vtcm size with value 8388608 unsupported", "vtcm-size"},
		{"Could not create context from binary for context index = 0 : err 5000", "context-err-5000"},
		{"Could not create context from binary for context index = 0 : err 5005", "context-err-5005"},
		{"Could not create context from binary for context index = 0 : err 1009", "context-err-1009"},
		{"Could not create context from binary for context index = 0 : err 1007\nFailed to free device: 14003", "context-err-1007"},
		{"Can't read future blob. Newest blob version supported: 3.1.x.", "context-newer"},
		{"fastrpc memory map for fd: 33 with length: 817889280 failed\nError 0x58: remote_mmap64_internal failed", "dsp-address-space"},
		{"PreRegisterMem failed to get file descriptor", "not-ion"},
		{"Duplicate Memory Handle found", "mem-handle"},
		{"context binary info: error 0x7532", "context-malformed"},
		{"Qnn API version 2.33.0 is mismatched", "api-version"},
		{"Unable to find a valid interface.", "no-interface"},
		{"Missing QnnHtp field: pos-id-dim", "genie-config"},
		{"Failed to create the Genie Dialog", "genie-dialog"},
		{"found QNN version 2.25.0 below minimum 2.26.0", "vendor-library-old"},
		{"dlopen failed: library \"libQnnHtp.so\" not found", "library-not-found"},
		{"libc++.so.1: cannot open shared object file", "host-libcxx"},
		{"libpython3.10.so.1.0: cannot open shared object file", "host-python"},
		{"cannot import name 'libPyIrGraph38' from partially initialized module 'qti.aisw.converters.common'", "python-bindings"},
		{"/lib/libc.so.6: version `GLIBC_2.34' not found", "glibc"},
		{"Unsupported target(s): aarch64-oe-linux-gcc9.3", "model-lib-target"},
		{"Failed to compile model library for target: aarch64-android", "model-lib"},
		{"RoPE.cpp:1:2: error: no member named 'get_interface_scale' in 'Tensor'", "qnn-api-renamed"},
		{"Cannot retrieve hexagon tools from: /opt/sdk/tools/19.0.04/Tools", "hexagon-tools"},
		{"HEXAGON_SDK_ROOT is not set", "hexagon-root"},
		{"HEXAGON_SDK_ROOT_V75 is set incorrectly", "hexagon-root-arch"},
		{"error: no template named 'unordered_map'", "libcxx-mismatch"},
		{"Tensor name model.0.q already exists in the graph", "tensor-exists"},
		{"merge file is broken", "merges-missing"},
		{"2025-09-02 10:11:12 ERROR HTTP status code 401", "qpm-login"},
		{"Couldn't find a dataset script at mit-han-lab/pile-val-backup", "dataset-gone"},
		{"Could not register Op Package: x.so and interface provider: P", "op-package-not-registered"},
		{"Failed to register op package on the Skel side", "op-package-not-registered"},
		{"Invalid key: graph_configs/0/graph_priority", "config-key"},
		{"QNN Setup failed: Unable to load backend, error: load library failed", "ort-backend"},
		{"Function not called, PrepareLib isn't loaded!", ""},
		{"Arch 68 set by custom config is different from arch associated with SoC 57", ""},
		{"expected magic number: 0x5678abcd but get: 0x2000000", ""},
		{"couldn't open libcdsprpc", ""},
		{"transport 1 Unsupported HTP Arch 1 79", ""},
		{"No Snapdragon SOC detected", "no-snapdragon"},
		{"smmu: fastrpc mmap of 489684992 failed: err 1002", "smmu-limit"},
		{"Out of memory: Killed process 77 (qnn-context-bin)", "out-of-memory"},
		{"RuntimeError: Unable to pybind cast numpy array", "numpy-2"},
		{"Quantized parameters\nSegmentation fault", "quantizer-segfault"},
		{"metrics: the device's tokens differ from the reference's from token 0 on", "constant-output"},
		{"Inference() silently returns []", "silent-empty-output"},
		{"libx.so is not 16 KB aligned", "page-size"},
		{"HTTP/2 stream 7 was not closed cleanly: INTERNAL_ERROR", "sdk-download"},
		{"qpm-cli: unexpected error", "qpm-relative"},
		{"-6 . Error while executing the sum function", "platform-validator-sum"},
		{"qnn-net-run elapsed: 2.6 s", "wall-clock"},
		{"adb: error: failed to copy 'a' to '/data/local/tmp/a': remote connection closed", "usb-dropped"},
		// From mllm's threads.
		{"Graph model.0.s128 not found for execution", "graph-not-found"},
		{"Failed to open QNN System libs", "qnn-libs-not-opened"},
		{"CANNOT LINK EXECUTABLE: library \"libomp.so\" not found", "library-not-found"},
		{"fatal error: 'hvx_internal.h' file not found", "qhl-headers"},
		{"Incompatible datasets version detected", "datasets-version"},
		{"Qwen3 LPBQ requires a positive `linear_block_size`", "linear-block-size"},
		{"Number of input elements 524288 does not match number of output elements 0\nOp specific validation failed", "mixed-16-25"},
		{"Failed to cast to QNNRMSNormOp", "jit-path"},
		{"SliceOp.cpp:33 slice_index.size() != shape.size()", "slice-mismatch"},
		{"Cannot find object type index for mllm.qualcomm.QnnDeviceAndContext", "convertor-help"},
		{"QnnTypes.h:1:1: fatal error: 'QnnTypes.h' file not found", "qnn-include"},
		{"graph_prepare could not create op", "could-not-create-op"},
		{"createUnsignedPD err 1002", "unsigned-pd-1002"},
		{"make: *** No rule to make target 'htp_aarch64'.  Stop.", "no-rule-for-target"},
	} {
		for _, text := range []string{x.fragment, healthy + x.fragment + "\n" + healthy} {
			got := ""
			r := c.Text([]byte(text))
			if len(r.Findings) > 0 {
				got = r.Findings[0].ID
			}
			if got != x.want {
				t.Errorf("%q: %q, want %q", x.fragment, got, x.want)
			}
			if x.want == "" && !r.Clean() {
				t.Errorf("%q is noise and gives %v", x.fragment, r.Unknown)
			}
		}
	}
}

// healthy is what a run prints in which all is well.
const healthy = `WARNING: linker: /data/local/tmp/libQnnHtp.so: unused DT entry: type 0x70000001 arg 0x0 not found
[INFO] QNN Backend Build Id: v2.41.0.251128145156_191518
<W> Initializing HtpProvider
adsprpc: /dsp/fastrpc_shell_3 load failed 69
fopen failed for /vendor/dsp/fastrpc_shell_unsigned_3 2 (No such file or directory)
mllm-qwen3-aot-runner.farf open failed: No such file or directory
[W][QnnHtp] Function not called, PrepareLib isn't loaded!
[INFO] QNN context retrieved from qnn_context.bin with 2 QNNModels(QnnGraphs)
num_tokens: 32
avc: denied { read } for name="u:object_r:vendor_default_prop:s0" scontext=u:r:shell:s0
`

// What a healthy run prints is noise, whatever words are in it.
func TestNoiseAlone(t *testing.T) {
	t.Parallel()
	r := shipped(t).Text([]byte(strings.Repeat(healthy, 100)))
	if !r.Clean() || len(r.Hints()) > 0 || r.Benign != 700 {
		t.Errorf("%d benign lines, %v, %v", r.Benign, r.Hints(), r.Unknown)
	}
}
