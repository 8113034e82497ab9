//go:build linux

package accuracy_test

import (
	"path/filepath"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// ways runs variables of module ort-llm that decide how much memory a model takes: each works on the emulator.
func ways(t *testing.T, w *World) {
	args := []string{"--var=kv=uint8", "--var=embedding=outside", "--var=splits=2", "--var=chunk=16",
		`--var=schemes=["lpbq"]`}
	Wants(t, w.Run(t, append([]string{"run", TinyORT}, args...)...), ExitOK) // each cosine is above 0.95
	bundle := filepath.Join(w.Dir, "out", TinyORT, "bundles.lpbq")
	for _, name := range []string{"embedding.bin", "embedding.onnx", "prefill_0_ctx.onnx", "prefill_0_ctx_qnn.bin",
		"prefill_1_ctx.onnx", "prefill_1_ctx_qnn.bin", "decode_0_ctx.onnx", "decode_1_ctx.onnx"} {
		if !Exists(filepath.Join(bundle, name)) {
			t.Errorf("the bundle has no %s", name)
		}
	}

	Wants(t, w.Run(t, "run", TinyORT, "--var=sharing=false", `--var=schemes=["a16w8"]`), ExitOK, "12 of 12")
	at := filepath.Join(w.Dir, "out", TinyORT, "contexts.a16w8")
	for _, graph := range []string{"prefill", "decode"} {
		name := graph + "_ctx_qnn.bin"
		if Read(t, filepath.Join(at, "device", name)) != Read(t, filepath.Join(at, "emulator", graph, name)) {
			t.Errorf("%s: the context for the device is not that for the emulator, which has one graph", graph)
		}
	}
}
