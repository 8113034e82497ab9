//go:build linux

package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestProvoked has the emulated phone's programs fail for real, at mistakes that no check before the push can see since they are made on the phone:
// files that vanish or are another SDK's, wrong search paths, a wrong length. Each comes out as one diagnosis with its remedy. The edit hits the
// device's step only, so all else is cached.
func TestProvoked(t *testing.T) {
	const (
		runner = "./mllm-qwen3-aot-runner -m model.bin -t tokenizer.json -c config.json --ar_len "
		other  = "v2.34.0.250424175746_119189"
	)
	// swap puts a library of another SDK in the place of a pushed one, whose content the device's store shares.
	swap := func(name string) string { return "rm " + name + "; printf 'xx" + other + "xx' > " + name + "; " }
	w := warmed(t)
	file := "pipelines/" + pipeline + ".hcl"
	good := read(t, filepath.Join(w.dir, file))
	var argv string
	for l := range strings.Lines(good) {
		if strings.Contains(l, `argv = ["./mllm-qwen3-aot-runner"`) {
			argv = l
		}
	}
	for _, c := range []struct {
		what, before, length string
		says                 []string
	}{
		{"the runner's default length", "", "128",
			[]string{"hint: The context binary has no graph model.0.s128.", "remedy: Give the runner the length that the context has, such as --ar_len 32"}},
		{"the DSP's search path", "export ADSP_LIBRARY_PATH=/nowhere; ", "32",
			[]string{"hint: The DSP could not load", "remedy: Push ", "0x80000406 is FastRPC AEE_EUNABLETOLOAD"}},
		{"the loader's search path", "export LD_LIBRARY_PATH=/nowhere; ", "32",
			[]string{"hint: libQnnHtp.so or libQnnSystem.so was not found", "remedy: Push both from the SDK"}},
		{"no tokenizer", "rm tokenizer.json; ", "32",
			[]string{"hint: A file that the command names is not on the device.", "remedy: Add it to what is pushed"}},
		{"no stub", "rm libQnnHtpV79Stub.so; ", "32",
			[]string{"hint: libQnnHtp.so cannot talk to the DSP", "remedy: Push libQnnHtp, libQnnSystem, stub and skel of one SDK", "4000 is QNN backend CANNOT_INITIALIZE"}},
		{"a stub of another SDK", swap("libQnnHtpV79Stub.so"), "32",
			[]string{"hint: libQnnHtp.so and its stub come from different QNN SDKs: it wants 2.41.0.251128000000_0 and found " + other[1:], "remedy: Push libQnnHtp, libQnnSystem, stub and skel of one SDK"}},
		{"a skel of another SDK", swap("libQnnHtpV79Skel.so"), "32",
			[]string{"hint: The DSP loaded a skel of another SDK", "remedy: Push the skel of the same SDK"}},
		{"a runtime of another SDK", swap("libQnnHtp.so"), "32",
			[]string{"hint: The context could not be loaded: it was compiled by another QNN SDK", "remedy: Compile the context with the SDK whose libraries are pushed"}},
		{"no op package", "rm libQnnLLaMAPackage_HTP.so; ", "32", []string{"hint: The DSP could not load", "libQnnLLaMAPackage_HTP.so"}},
		{"an op package for another arch", "mv libQnnLLaMAPackage_HTP.so p; cp p libQnnLLaMAPackage_HTP.so; chmod u+w libQnnLLaMAPackage_HTP.so; printf '\\201' | dd of=libQnnLLaMAPackage_HTP.so bs=1 seek=36 conv=notrunc; ", "32",
			[]string{"hint: The DSP does not take the library", "0x80000452 is FastRPC AEE_EBADELF"}},
		{"a context that was cut off", "mv model.bin m; head -c 5000 m > model.bin; ", "32", []string{"hint: The file is no whole context binary"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			script := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(c.before + runner + c.length)
			w.write(t, file, strings.Replace(good, argv, `argv = ["sh", "-c", "`+script+`"]`+"\n", 1))
			o := w.run(t, "run", pipeline)
			wants(t, o, exitFailed, append(c.says, "run.qwen3 run: failed: exit code 1")...)
			if n := strings.Count(o.stderr, "hint: "); n != 1 {
				t.Errorf("%d hints, want one clear one:\n%s", n, o)
			}
		})
	}
}

// TestLimits: a run that breaks a limit fails, without the device being asked again; against a phone's baseline the stand-in has none.
func TestLimits(t *testing.T) {
	w := warmed(t)
	file := "pipelines/" + pipeline + ".hcl"
	good := read(t, filepath.Join(w.dir, file))
	const at = `  timeout     = "30m"` + "\n"
	with := func(lines string) *outcome {
		w.write(t, file, strings.Replace(good, at, at+lines, 1))
		return w.run(t, "run", pipeline)
	}
	o := with("  limit \"prefill_tokens_per_s\" { min = 1000000 }\n")
	wants(t, o, exitFailed, "run.qwen3 metrics: failed: exit code 1", "below its limit of 1000000 tokens/s", "hint: prefill_tokens_per_s is beyond the limit that the step sets.")
	if strings.Contains(o.stderr, "on emulator") {
		t.Errorf("the device was asked again:\n%s", o)
	}
	wants(t, with("  limit \"watts\" { max = 1 }\n"), exitFailed, "watts has a limit and was not measured; the run printed prefill_time_us", "hint: The step limits watts")
	o = with("  baselines = [\"llm.npu-paper\"]\n  limit \"prefill_tokens_per_s\" {\n    baseline   = \"llm.npu-paper\"\n    regression = 0.1\n  }\n")
	if o.code != 0 || strings.Contains(o.stdout, "llm.npu") || !strings.Contains(o.stdout, "not a phone's speed") {
		t.Errorf("the stand-in is held against a phone: %s", o)
	}
}
