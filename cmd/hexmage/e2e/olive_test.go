//go:build linux

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOlive: a recipe that cannot run here is refused before anything runs, with the pass and what to do. With HEXMAGE_OLIVE the example's passes run in their environment, which
// is installed and used where there is no network: killed in the last pass the run goes on there, again nothing runs, and for another SoC no pass. HEXMAGE_OLIVE is the folder of a
// cache whose downloads are taken, or anything else.
func TestOlive(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		w := newWorld(t)
		w.write(t, "gpu.json", `{"input_model": {"type": "HfModel", "model_path": "a/hub"}, "passes": {"g": {"type": "GptqModel", "device": "cuda"}, "mb": {"type": "ModelBuilder", "precision": "int4"}}}`)
		w.write(t, "unknown.json", `{"input_model": {"type": "ONNXModel"}, "passes": {"q": {"type": "OnnxStaticQuantisation"}}}`)
		w.write(t, "hub.json", `{"input_model": {"type": "ONNXModel"}, "data_configs": [{"name": "wiki", "type": "HuggingfaceContainer"}], "passes": {"q": {"type": "OnnxStaticQuantization", "data_config": "wiki"}}}`)
		w.write(t, "net.onnx", "none")
		for recipe, texts := range map[string][]string{
			"gpu.json":     {"pass g (GptqModel): it wants a CUDA GPU", "pass g (GptqModel): device is cuda", "say cpu in the recipe"},
			"unknown.json": {"pass q (OnnxStaticQuantisation): Olive 0.13.0 has no such pass", "OnnxStaticQuantization"},
			"hub.json":     {"pass q (OnnxStaticQuantization) takes the data_config wiki", `data = { wiki = "FILE" }`},
		} {
			o := w.run(t, "plan", "olive", "--var=recipe="+recipe, "--var=model=net.onnx")
			o.stderr = strings.Join(strings.Fields(o.stderr), " ") // as one line
			wants(t, o, exitUsage, append(texts, recipe)...)
		}
	})

	from := os.Getenv("HEXMAGE_OLIVE")
	if from == "" {
		t.Skip("NOT TESTED: the passes. HEXMAGE_OLIVE is not set; their environment has 3.2 GB of PyTorch")
	}
	w := hostWarmed(t).withDownloadsOf(t, from)
	ctx, cancel := context.WithTimeout(t.Context(), 4*runLimit) // gigabytes to download and install
	defer cancel()
	if o := ended(t, w.command(ctx, "toolchain", "fetch", "olive")); o.code != exitOK {
		t.Fatal(o)
	}

	killInPass(t, w, "quantised")
	const passes = "module.net.olive.passes "
	after := aloneJSON(t, w, "olive") // the run that was killed had done the other passes
	if want := []string{"module.net.accuracy.net", "module.net.htp_context.net", "module.net.htp_emulate.net", passes + "quantised", passes + "table"}; !slices.Equal(after.names, want) {
		t.Errorf("after it was killed in the last pass %q ran, want %q", after.names, want)
	}
	if again := aloneJSON(t, w, "olive"); again.executed != 0 {
		t.Errorf("again: %q ran", again.names)
	}
	o := w.run(t, "run", "olive")
	wants(t, o, exitOK, "the example for SM8750, Hexagon v79", "Olive finds the vendor's provider on Windows alone, so htp_context compiles in its place.", "with soc_model 69; the recipe says 60.", "passed")
	t.Log(o.stdout)
	wants(t, w.run(t, "inspect", "out/olive/context/device/model_ctx_qnn.bin"), exitOK, "QNN context binary for Hexagon v79", "SM8750 (model 69)", "level 3")
	var left struct {
		Pass, Type, Olive string
		Graphs            []struct{ Nodes, Quantised int }
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(w.dir, "out/olive/model/manifest.json"))), &left); err != nil || left.Pass != "quantised" || left.Olive != "0.13.0" || len(left.Graphs) != 1 || left.Graphs[0].Quantised < 10 {
		t.Errorf("%+v, %v", left, err)
	}
	if other := aloneJSON(t, w, "olive", "--soc=SM8650"); slices.ContainsFunc(other.names, func(n string) bool { return strings.HasPrefix(n, passes) && n != passes+"table" }) || other.executed == 0 {
		t.Errorf("for another SoC %q ran", other.names)
	}
	w.sound(t)
}

// aloneJSON runs a pipeline where there is no network, and wants it to succeed.
func aloneJSON(t *testing.T, w *world, args ...string) ran {
	t.Helper()
	o := w.runAlone(t, append([]string{"--json", "--offline", "run"}, args...)...)
	if o.code != exitOK {
		t.Fatal(o)
	}
	return ranOf(t, o)
}

// killInPass runs the pipeline where there is no network, and kills it and all that it started while Olive runs that pass.
func killInPass(t *testing.T, w *world, pass string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*runLimit)
	defer cancel()
	cmd := apart(w.command(ctx, "--json", "--offline", "run", "olive"), syscall.CLONE_NEWNET, alone)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for !inPass(w, pass) {
		select {
		case err := <-ended:
			t.Fatalf("it ended before pass %s: %v\n%s", pass, err, &out)
		case <-time.After(10 * time.Millisecond):
		}
	}
	time.Sleep(time.Second) // into its imports
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	<-ended
	if left := running(w); len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
}

// inPass tells whether a process of the world runs that pass.
func inPass(w *world, pass string) bool {
	base := filepath.Dir(w.cache)
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		cwd, _ := os.Readlink(filepath.Join(dir, "cwd"))
		if !strings.Contains(string(args), "olive_pass.py") || !strings.HasPrefix(cwd, base+"/") {
			continue
		}
		if told, _ := os.ReadFile(filepath.Join(dir, "cwd", "args.json")); strings.Contains(string(told), `"name":"`+pass+`"`) {
			return true
		}
	}
	return false
}
