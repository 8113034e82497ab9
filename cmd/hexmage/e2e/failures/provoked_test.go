//go:build linux

package failures_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/runner/diagnose"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/steps/failures"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// provocation is a real mistake in a pipeline that is otherwise whole: some program finds it by itself and fails.
type provocation struct {
	id      string // the failure of the catalog that it must come out as
	mistake string // what is wrong
	in      string // who finds it
	plan    string // what the plan says of the same mistake where it can see it, so that nothing runs; "" it cannot
	says    string // beside cause and remedy

	// On the phone: what a shell there does before the runner starts, and the runner's --ar_len, "" 32; or, in its
	// place, all that is run.
	before, length, instead string
	push                    map[string]string // files of the workspace that are pushed, too

	context func([]byte) []byte // what is done to the context; the result is pushed, packed, as model.gz
	target  string              // flags of aot-config: the context is compiled anew for that, and pushed like this

	source [3]string // file of the workspace, and what is put in the place of what

	// On the host: the script of a step "exec" at the module's end.
	script string
	// What is changed in the pipeline before that, old and new by turns.
	edits []string
	at    string // the step that fails then; "" run.llm, or exec.it with a script
}

const onPhone = "the simulated phone"

// The places of what the simulations have.
const (
	hexagonClang = "${toolchain.hexagon.dir}/tools/HEXAGON_Tools/19.0.04/Tools/bin/hexagon-clang++"
	ndkClang     = "${toolchain.ndk.dir}/toolchains/llvm/prebuilt/linux-x86_64/bin/clang++ " +
		"--target=aarch64-none-linux-android21"
	busybox  = "${toolchain.busybox.dir}/bin/busybox"
	compiler = "${toolchain.mllm.dir}/bin/mllm-qwen3-aot-sha-c -m ${module.toy.model} -c " +
		"${module.toy.phone.config} -aot_cfg cfg.json -o o"
	headers = "-I ${toolchain.qairt.dir}/include/QNN"
)

// TestProvoked makes each of the mistakes: the run fails with the right exit code, and says once what is wrong and
// what to do, by the catalog's words.
func TestProvoked(t *testing.T) {
	cold, _ := FirstRun(t)
	w := Warmed(t)
	maker(t, w)
	olderSDK(t, w)
	good := w.Shipped(t)
	cat := catalog(t)
	for _, p := range provocations() {
		t.Run(p.id+"/"+p.mistake, func(t *testing.T) {
			if p.context != nil {
				w.Write(t, "wrong/model.gz", packed(t, p.context([]byte(Read(t, cold.Out("context.bin"))))))
				p.unpack("wrong/model.gz")
			}
			if name := p.source[0]; name != "" {
				was := Read(t, filepath.Join(w.Dir, name))
				defer w.Write(t, name, was)
				w.Edit(t, name, p.source[1], p.source[2])
			}
			if p.target != "" {
				p.unpack("${step.exec.other.outputs.o}")
			}
			w.WriteShipped(t, p.pipeline(t, good))
			at := AOT + cmp.Or(p.at, "run.llm")
			if p.script != "" {
				at = AOT + "exec.it"
			}
			o := w.Run(t, "run", Simulated, Pipeline, at)
			Wants(t, o, ExitFailed, at)
			diagnosed(t, cat, p.id, o)
			diagnosedByHand(t, w, p.id, o)
			if p.says != "" {
				Wants(t, o, ExitFailed, p.says)
			}
		})
	}
}

// pipeline is the shipped one with the mistake in it.
func (p provocation) pipeline(t *testing.T, good Shipped) Shipped {
	t.Helper()
	for i := 0; i+1 < len(p.edits); i += 2 {
		good = good.With(t, p.edits[i], p.edits[i+1])
	}
	if p.target != "" {
		good = good.And("step \"exec\" \"other\" {\n  argv = [\"sh\", \"-ec\", <<-EOT\n" + compiled(p.target) +
			busybox + " gzip o\nmv o.gz o\nEOT\n  ]\n  output \"o\" { file = \"o\" }\n}\n")
	}
	if p.script != "" {
		return good.And("step \"exec\" \"it\" {\n  argv = [\"sh\", \"-ec\", <<-EOT\n"+p.script+
			"\nEOT\n  ]\n  inputs = [toolchain.llvm.dir]\n"+
			"  programs = [\"make\"]\n  output \"o\" { file = \"o\" }\n}\n").Output("it", "step.exec.it.outputs.o")
	}
	length := p.length
	if length == "" {
		length = "32"
	}
	command := "exec ./mllm-qwen3-aot-runner -m model.bin -t tokenizer.json -c config.json --ar_len " + length
	if p.instead != "" {
		command = p.instead
	}
	changed := false
	for l := range strings.Lines(good[ModuleFile]) {
		if strings.Contains(l, `argv = concat(["./${local.program}"`) {
			good = good.With(t, l, "  argv = [\"sh\", \"-c\", <<-EOT\n"+p.before+"\n"+command+"\nEOT\n  ]\n")
			changed = true
		}
	}
	if !changed {
		t.Fatalf("%s has no argv of the runner", ModuleFile)
	}
	for name, source := range p.push {
		good = good.With(t, "local.phone.runner, {\n", "local.phone.runner, {\n    \""+name+"\" = \""+source+"\"\n")
	}
	return good
}

// unpack has the phone take another context, which no check before the push can look into.
func (p *provocation) unpack(source string) {
	p.push = map[string]string{"model.gz": source}
	p.before = "rm model.bin; gunzip -c model.gz > model.bin\n" + p.before
}

// aotConfig are the commands that write the compiler's config for a target, {"soc":"SM8750","arch":"v79"} without the
// braces.
func aotConfig(target, out string) string {
	return `echo '{"model_config":"${dirname(module.toy.phone.tokenizer)}/config.json","vtcm_mb":8,"out":"` + out +
		`","model_out":"config.json",` + target + "}' > args\n$HEXMAGE_SELF tool aot-config args\n"
}

// compiled are the commands that compile the model for a target, without the pipeline's help.
func compiled(target string) string {
	return aotConfig(target, "cfg.json") + compiler + " -qnn_env ${toolchain.qairt.dir}/lib/x86_64-linux-clang/\n"
}

// diagnosed wants the failure to be told once, with its cause and its remedy.
func diagnosed(t *testing.T, cat *diagnose.Catalog, id string, o *Outcome) {
	t.Helper()
	e := cat.Entry(id)
	if e == nil {
		t.Fatalf("no failure has the name %q", id)
	}
	text := regexp.MustCompile(`[ \n]+`).ReplaceAllString(o.Stderr, " ")
	remedy := " remedy: " + filled(e.Remedy)
	if id == "qnn-api-renamed" {
		remedy = " remedy: .*patch" // the rules know better
	}
	if !regexp.MustCompile("hint: " + filled(e.Cause) + remedy).MatchString(text) {
		t.Errorf("it does not say %q and %q: %s", e.Cause, e.Remedy, o)
	}
	if n := strings.Count(o.Stderr, "hint: "); n != 1 {
		t.Errorf("%d hints, want one clear one: %s", n, o)
	}
}

// diagnosedByHand wants `hexmage diagnose` to say the same of the whole output that a failed step has left.
func diagnosedByHand(t *testing.T, w *World, id string, o *Outcome) {
	t.Helper()
	_, rest, ok := strings.Cut(o.Stderr, "whole output: ")
	if !ok {
		return // nothing was printed
	}
	log, _, _ := strings.Cut(rest, "\n")
	again := w.Run(t, "diagnose", "--json", strings.TrimSpace(log))
	var r struct{ Findings []struct{ ID string } }
	if err := json.Unmarshal([]byte(again.Stdout), &r); err != nil || again.Code != ExitFailed {
		t.Fatalf("diagnose: %v: %s", err, again)
	}
	if len(r.Findings) == 0 || r.Findings[0].ID != id {
		t.Errorf("by hand: %+v", r.Findings)
	}
}

// filled is a pattern of a text of the catalog, in which something stands in the place of each {name}.
func filled(text string) string {
	return regexp.MustCompile(`\\\{[a-z_]+\\\}`).ReplaceAllString(regexp.QuoteMeta(text), ".*")
}

func catalog(t *testing.T) *diagnose.Catalog {
	t.Helper()
	cat, diags := failures.Load(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return cat
}

// maker puts make into the world's PATH.
func maker(t *testing.T, w *World) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(toolchaintest.Path(t, "make", "usr/bin/make"), filepath.Join(dir, "make")); err != nil {
		t.Fatal(err)
	}
	w.Env = append(w.Env, "PATH="+Path()+":"+dir)
}

// olderSDK puts libraries of an older SDK into the workspace, packed, so that no check before the push can look into
// them.
func olderSDK(t *testing.T, w *World) {
	t.Helper()
	var b bytes.Buffer
	if err := sdktest.Archive(&b, "qairt", "2.31.0.250130"); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := fs.ReadFile(z, "qairt/2.31.0.250130/lib/aarch64-android/libQnnHtp.so")
	if err != nil {
		t.Fatal(err)
	}
	w.Write(t, "older/libQnnHtp.gz", packed(t, raw))
}

func packed(t *testing.T, b []byte) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
