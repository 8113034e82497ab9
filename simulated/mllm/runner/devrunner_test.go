package runner_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/tool/tooltest"
	"github.com/hexmage/hexmage/model/convert"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/simulated/mllm/compiler"
	"github.com/hexmage/hexmage/simulated/mllm/toymodel"
)

func withKey(t testing.TB, config []byte, key string, value any) []byte {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(config, &m); err != nil {
		t.Fatal(err)
	}
	m[key] = value
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func words(w ...uint32) []byte {
	var b []byte
	for _, v := range w {
		b = le.AppendUint32(b, v)
	}
	return b
}

func flags(more ...string) []string {
	return append([]string{"-m", "qwen3.bin", "--tokenizer", "tokenizer.json", "-c", "config.json", "--ar_len", "32"}, more...)
}

func plain(s string) string { return regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(s, "") }

func checkOutput(t *testing.T, out string, prompt, tokens int) {
	t.Helper()
	for _, want := range []string{
		`(?m)^\[INFO\] \S+:\d+ QNN Backend Build Id: v2\.41\.0\.251128000000_0$`,
		`(?m)^\[INFO\] \S+ Context binary file size: 0 MB$`,
		`(?m)^\[INFO\] \S+ QNN context retrieved from qnn_context\.bin with 2 QNNModels\(QnnGraphs\)$`,
		`(?m)^\[INFO\] \S+ num_tokens: ` + strconv.Itoa(prompt) + `$`,
		`(?m)^============== Performance Summary ===============$`,
		`(?m)^Prefill time        :  *[1-9]\d*\.\d\d μs \( *\d+\.\d\d tokens/s\)$`,
		`(?m)^Prefill tokens      : {10}$`,
	} {
		want = strings.ReplaceAll(want, "Prefill tokens      : {10}$", fmt.Sprintf("Prefill tokens      : %10d$", prompt))
		if !regexp.MustCompile(want).MatchString(plain(out)) {
			t.Errorf("no line %s in\n%s", want, plain(out))
		}
	}
	if !strings.Contains(out, "\x1b[1m\x1b[38;2;000;128;000m[INFO]\x1b[0m ") {
		t.Errorf("no colored [INFO] in %q", out)
	}
	if decode := regexp.MustCompile(`Decode tokens       : +(\d+)\n`).FindStringSubmatch(plain(out)); tokens > 1 && (decode == nil || decode[1] == "0") {
		t.Errorf("no decode tokens in\n%s", plain(out))
	}
}

func TestRefusals(t *testing.T) {
	p, m := build(t), chain(t, compiler.Qwen3)
	for name, test := range map[string]struct {
		arch string
		do   func(ph *handset) (string, int)
		want string
	}{
		"help": {do: func(ph *handset) (string, int) {
			out, code := ph.run("", "-h")
			return out, 1 - code
		}, want: "--ar_len N"},
		"unknown flag":   {do: func(ph *handset) (string, int) { return ph.run("", flags("--seq_len", "1")...) }, want: "unknown flag --seq_len"},
		"no config flag": {do: func(ph *handset) (string, int) { return ph.run("hi", "-m", "qwen3.bin") }, want: "-c is required"},
		"default ar_len": {do: func(ph *handset) (string, int) { return ph.run("hi", "-m", "qwen3.bin", "-c", "config.json") },
			want: "Graph model.0.s128 not found for execution"},
		"ar_len":      {do: func(ph *handset) (string, int) { return ph.run("hi", flags("--ar_len", "x")...) }, want: "wants a number"},
		"no model":    {do: func(ph *handset) (string, int) { return ph.run("hi", flags("-m", "none.bin")...) }, want: "cannot read the context binary none.bin"},
		"no prompt":   {do: func(ph *handset) (string, int) { return ph.run("\n", flags()...) }, want: "the prompt is empty"},
		"long prompt": {do: func(ph *handset) (string, int) { return ph.run(strings.Repeat("1 ", 128), flags()...) }, want: "the prompt has 257 tokens, the context holds 256"},
		"huge prompt": {do: func(ph *handset) (string, int) { return ph.run(strings.Repeat("1 ", 40000), flags()...) }, want: "longer than 65536 bytes"},
		"wrong phone": {arch: "v75", do: func(ph *handset) (string, int) { return ph.run("hi", flags()...) },
			want: "compiled for v79, this device's DSP is v75"},
		"wrong VTCM": {do: func(ph *handset) (string, int) {
			ph.vendor("etc/open_soc", []byte("arch=v79\nsoc_model=69\nvtcm_mb=4\n"))
			return ph.run("hi", flags()...)
		}, want: "Request feature vtcm size with value 8388608 unsupported"},
		"wrong SoC": {do: func(ph *handset) (string, int) {
			ph.vendor("etc/open_soc", []byte("arch=v79\nsoc_model=75\n"))
			return ph.run("hi", flags()...)
		}, want: "err 0x138d: it was compiled for the SoC model 69, this device is 75"},
		"SoC unknown": {do: func(ph *handset) (string, int) {
			ph.write("libQnnHtp.so", []byte("\x00"+buildID+"\x00open_socs=43,57;\x00"))
			return ph.run("hi", flags()...)
		}, want: "Dsp startup: SoC model (SnapdragonModel) is unknown: this device is 69"},
		"stub of another SDK": {do: func(ph *handset) (string, int) {
			ph.write("libQnnHtp.so", []byte("\x00v2.42.0.251225135753_193295\x00"))
			return ph.run("hi", flags()...)
		}, want: "Stub lib id mismatch: expected (v2.42.0.251225135753_193295), detected (v2.41.0.251128000000_0)"},
		"prepare of another SDK": {do: func(ph *handset) (string, int) {
			ph.write("libQnnHtpPrepare.so", []byte("\x00v2.42.0.251225135753_193295\x00"))
			return ph.run("hi", flags()...)
		}, want: "Prepare lib id mismatch: expected (v2.41.0.251128000000_0), detected (v2.42.0.251225135753_193295)"},
		"skel of the vendor's": {do: func(ph *handset) (string, int) {
			ph.remove("dsp/libQnnHtpV79Skel.so")
			ph.vendor("lib/rfsa/adsp/libQnnHtpV79Skel.so", []byte("\x00v2.34.0.250424201103_119471\x00"))
			return ph.run("hi", flags()...)
		}, want: "qnn_open failed, 0x80000600"},
		"older runtime": {do: func(ph *handset) (string, int) {
			ph.runtime("v2.40.9.251030114326_189385")
			return ph.run("hi", flags()...)
		}, want: "Error 5000: Using newer context binary on old SDK"},
		"no library of this side": {do: func(ph *handset) (string, int) {
			ph.remove("libQnnLLaMAPackage_CPU.so")
			return ph.run("hi", flags()...)
		}, want: "Could not register Op Package: libQnnLLaMAPackage_CPU.so and interface provider: LLaMAPackageInterfaceProvider, error 4005"},
		"libraries swapped": {do: func(ph *handset) (string, int) {
			ph.write("libQnnLLaMAPackage_CPU.so", opPackage(164))
			return ph.run("hi", flags()...)
		}, want: "has unexpected e_machine: 164"},
		"another package": {do: func(ph *handset) (string, int) {
			ph.write("libQnnLLaMAPackage_CPU.so", bytes.Replace(opPackage(183), []byte("LLaMAP"), []byte("QwenAP"), 1))
			return ph.run("hi", flags()...)
		}, want: "error 4006: the library has no such function"},
		"op package without the op": {do: func(ph *handset) (string, int) {
			path := filepath.Join(ph.dir, "dsp/libQnnLLaMAPackage_HTP.so")
			b, err := os.ReadFile(path)
			if err != nil {
				ph.t.Fatal(err)
			}
			ph.write("dsp/libQnnLLaMAPackage_HTP.so", bytes.ReplaceAll(b, []byte("RMSNorm\x00"), []byte("RMSNorx\x00")))
			return ph.run("hi", flags()...)
		}, want: "could not create op: LLaMAPackage::RMSNorm"},
		"tensor twice": {do: func(ph *handset) (string, int) {
			ph.write("qwen3.bin", bytes.ReplaceAll(m.context, []byte("0.self_attn.q_norm"), []byte("0.self_attn.k_norm")))
			return ph.run("hi", flags()...)
		}, want: "Tensor name model.layers.0.self_attn.k_norm already exists in the graph."},
		"no merges": {do: func(ph *handset) (string, int) {
			ph.write("tokenizer.json", bytes.Replace(m.tokenizer, []byte(`"merges"`), []byte(`"-"`), 1))
			return ph.run("hi", flags()...)
		}, want: "merge file is broken: tokenizer.json has no merges, and merges.txt is not there"},
		"other SDK": {do: func(ph *handset) (string, int) {
			ph.runtime("v2.42.0.251225135753_193295")
			return ph.run("hi", flags()...)
		}, want: "Could not create context from binary. Mostly due to binary's qnn version mismatch with backend's qnn version."},
		"no backend": {do: func(ph *handset) (string, int) {
			ph.env["LD_LIBRARY_PATH"] = "/nowhere:elsewhere"
			return ph.run("hi", flags()...)
		}, want: "Failed to open QNN libs."},
		"no stub": {do: func(ph *handset) (string, int) {
			ph.remove("libQnnHtpV79Stub.so")
			return ph.run("hi", flags()...)
		}, want: "Failed to create transport for device, error: 4000: libQnnHtpV79Stub.so"},
		"no skel": {do: func(ph *handset) (string, int) {
			ph.env["ADSP_LIBRARY_PATH"] = ".:dsp" // the wrong separator
			return ph.run("hi", flags()...)
		}, want: "qnn_open failed, 0x80000406: libQnnHtpV79Skel.so"},
		"skel of another SDK": {do: func(ph *handset) (string, int) {
			ph.write("dsp/libQnnHtpV79Skel.so", []byte("\x00v2.42.0.251225135753_193295\x00"))
			return ph.run("hi", flags()...)
		}, want: "Skel lib id mismatch: expected (v2.41.0.251128000000_0), detected (v2.42.0.251225135753_193295)"},
		"no op package": {do: func(ph *handset) (string, int) {
			ph.remove("dsp/libQnnLLaMAPackage_HTP.so")
			return ph.run("hi", flags()...)
		}, want: "failed with error 0x80000406: libQnnLLaMAPackage_HTP.so is in no folder of"},
		"op package of another arch": {do: func(ph *handset) (string, int) {
			path := filepath.Join(ph.dir, "dsp/libQnnLLaMAPackage_HTP.so")
			b, err := os.ReadFile(path)
			if err != nil {
				ph.t.Fatal(err)
			}
			b[36] = 0x81
			ph.write("dsp/libQnnLLaMAPackage_HTP.so", b)
			return ph.run("hi", flags()...)
		}, want: "0x80000452: "},
		"no DSP": {do: func(ph *handset) (string, int) {
			ph.env["OPEN_FASTRPC_DEVICE"] = "none.sock"
			return ph.run("hi", flags()...)
		}, want: "0x8000043b: none.sock: errno 2"},
		"DSP hangs up": {do: func(ph *handset) (string, int) {
			ph.lieDSP(func([]byte) []byte { return nil })
			return ph.run("hi", flags()...)
		}, want: "0x8000040d: the protection domain on the DSP has gone"},
		"DSP answers something else": {do: func(ph *handset) (string, int) {
			ph.lieDSP(func([]byte) []byte { return bytes.Repeat([]byte("x"), 100) })
			return ph.run("hi", flags()...)
		}, want: "an answer of another form"},
		"DSP promises too much": {do: func(ph *handset) (string, int) {
			ph.lieDSP(func(h []byte) []byte { return slices.Concat(h[:7], []byte{h[7] | 0x80}, h[8:12], words(1<<31, 0)) })
			return ph.run("hi", flags()...)
		}, want: "an answer of another form"},
		"DSP's error without a text": {do: func(ph *handset) (string, int) {
			ph.lieDSP(func(h []byte) []byte {
				return slices.Concat(h[:7], []byte{h[7] | 0x80}, h[8:12], words(8, 0x80000416, 1000))
			})
			return ph.run("hi", flags()...)
		}, want: "failed with error 0x80000416"},
		"config of another model": {do: func(ph *handset) (string, int) {
			ph.write("config.json", withKey(ph.t, m.config, "hidden_size", 96))
			return ph.run("hi", flags()...)
		}, want: `"hidden_size" is 96, but the context was compiled with 128`},
		"damaged config": {do: func(ph *handset) (string, int) {
			ph.write("config.json", m.config[:40])
			return ph.run("hi", flags()...)
		}, want: `config.json has no number "vocab_size"`},
		"no results": {do: func(ph *handset) (string, int) {
			ph.env["OPEN_RUNNER_RESULTS"] = "/proc/none/tokens.json"
			return ph.run("hi", flags()...)
		}, want: "cannot create /proc/none/tokens.json"},
	} {
		t.Run(name, func(t *testing.T) {
			arch := test.arch
			if arch == "" {
				arch = "v79"
			}
			ph := newPhone(t, p, arch, m)
			ph.t = t
			out, code := test.do(ph)
			if code != 1 || !strings.Contains(plain(out), test.want) {
				t.Errorf("exit code %d, want 1 and %q in\n%s", code, test.want, plain(out))
			}
		})
	}
}

// A corrupt context must end in an error or run to its end, never in a fault.
func TestHostileContexts(t *testing.T) {
	p, m := build(t), chain(t, compiler.Qwen3)
	m.config = withKey(t, m.config, "max_new_tokens", 1)
	ph := newPhone(t, p, "v79", m)
	good := m.context
	begin := bytes.Index(good, []byte(qnn.SimulatedContext))
	const header = 64 + 4*64 // sizes and names
	r := rand.New(rand.NewPCG(8, 9))
	refused := 0
	try := func(what string, b []byte) int {
		ph.write("qwen3.bin", b)
		out, code := ph.run("hi", flags()...)
		if code != 0 && code != 1 || code == 1 && !strings.Contains(out, "[ERROR]") {
			t.Fatalf("%s: exit code %d\n%s", what, code, out)
		}
		refused += code
		return code
	}
	if try("whole", good) != 0 {
		t.Fatal("the undamaged context was refused")
	}
	for _, n := range []int{0, 15, 40, 127, begin, begin + header, len(good) / 2, len(good) - 1} {
		if try(fmt.Sprint("cut at ", n), good[:n]) == 0 {
			t.Errorf("a context cut at %d bytes was accepted", n)
		}
	}
	const rounds = 120
	for range rounds {
		b := bytes.Clone(good)
		at := begin + r.IntN(header)
		if r.IntN(2) == 0 {
			at = len(good) - 1 - r.IntN(8000) // in the norms
		}
		b[at] ^= byte(1 << r.IntN(8))
		try(fmt.Sprintf("byte %d changed", at), b)
	}
	if refused < rounds/8 {
		t.Errorf("only %d of %d damaged contexts were refused", refused, rounds)
	}
}

// TestNpu compares main_qwen_npu and demo_qwen_npu with the reference, and checks their refusals.
func TestNpu(t *testing.T) {
	p, m := build(t), chain(t, compiler.Qwen2)
	ph := newPhone(t, p, "v79", m)
	v1 := filepath.Join(m.dir, "v1.mllm")
	spec := convert.Spec{Input: filepath.Join(m.dir, "model/model.safetensors"), Output: v1, Format: "v1"}
	if _, stderr, code := tooltest.Run(t, convert.Tool, convert.Run, spec); code != 0 {
		t.Fatal(stderr)
	}
	model, err := os.ReadFile(v1)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(p.runner)
	if err != nil {
		t.Fatal(err)
	}
	const int8, q4k = "models/qwen-1.5-1.8b-chat-int8.mllm", "models/qwen-1.5-1.8b-chat-q4k.mllm"
	ph.write(int8, model)
	ph.write(q4k, model)
	ph.write("vocab/qwen_vocab.mllm", m.tokenizer)
	ph.write("vocab/qwen_merges.txt", nil)
	ph.write("bin/main_qwen_npu", program)
	ph.write("bin/demo_qwen_npu", program)
	for name, value := range map[string]string{"LD_LIBRARY_PATH": ph.dir, "ADSP_LIBRARY_PATH": ph.dir + "/dsp",
		"OPEN_FASTRPC_DEVICE": ph.dir + "/cdsp.sock", "OPEN_RUNNER_RESULTS": ph.dir + "/results/tokens.json"} {
		ph.env[name] = value
	}
	ph.folder = "bin"
	const prompt = "Why can greatness not be planned? Give three reasons, one a line, and name somebody who found something great while looking for something else."
	sizes := []string{"-d", "128", "-h", "4", "-f", "256"}
	for _, c := range []struct {
		program string
		seq     int
		args    []string
	}{{"main_qwen_npu", 64, []string{"-s", "64", "-c", "0"}}, {"main_qwen_npu", 300, []string{"-s", "300", "-c", "1"}}, {"demo_qwen_npu", 64, nil}} {
		ph.program = "./" + c.program
		out, code := ph.run("", append(c.args, sizes...)...)
		if code != 0 || !strings.Contains(out, "real_seq_length: ") || strings.Contains(out, "prefill time: ") != (c.program == "main_qwen_npu") {
			t.Fatalf("%s %v: exit code %d\n%s", c.program, c.args, code, out)
		}
		raw, err := os.ReadFile(filepath.Join(ph.dir, "results/tokens.json"))
		if err != nil {
			t.Fatal(err)
		}
		s := toymodel.ReferenceSpec{Model: v1, Config: filepath.Join(m.dir, "model/config.json"), Tokenizer: filepath.Join(m.dir, "model/tokenizer.json"),
			Prompt: prompt, MaxNew: 101, Lengths: []int{c.seq}, Out: filepath.Join(t.TempDir(), "tokens.json"), Dir: t.TempDir()}
		check(t, c.program, raw, resultOf(t, s, filepath.Join(s.Dir, strconv.Itoa(c.seq)+".json")))
	}
	for want, do := range map[string]func() []string{
		"does not fit -d 96":        func() []string { return []string{"-d", "96"} },
		"undefined short option":    func() []string { return []string{"-x", "1"} },
		"wants a number":            func() []string { return []string{"-s", "x"} },
		"was all of it pushed?":     func() []string { ph.write(int8, model[:len(model)/2]); return sizes },
		"no .mllm file of version":  func() []string { ph.write(int8, []byte("hello, world")); return sizes },
		"cannot read the model ../": func() []string { ph.remove(int8); return sizes },
	} {
		ph.write(int8, model)
		if out, code := ph.run("", do()...); code != 1 || !strings.Contains(out, want) {
			t.Errorf("exit code %d, want 1 and %q\n%s", code, want, out)
		}
	}
}
