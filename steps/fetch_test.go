package steps_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/addrs"
	"github.com/hexmage/hexmage/internal/fetch"
	"github.com/hexmage/hexmage/internal/step"
	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/qnn/facts"
	"github.com/hexmage/hexmage/simulated/sdk"
	"github.com/hexmage/hexmage/simulated/sdk/sdktest"
	"github.com/hexmage/hexmage/steps"
	"github.com/hexmage/hexmage/toolchains"
)

func fetchWorkspace(t *testing.T) steps.Workspace {
	t.Helper()
	c, diags := steps.Catalog(nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	l, diags := toolchains.BuiltinLock()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return steps.Workspace{Catalog: func() *toolchains.Catalog { return c }, Lock: l}
}

func toolchainKind(t *testing.T) step.Kind { return fetchWorkspace(t).Kinds()[addrs.Toolchain] }

// fetchRequest makes a request as plan does: arguments that are not set are null.
func fetchRequest(k step.Kind, kind, name, profile string, args map[string]cty.Value) step.Request {
	at := addrs.Instance{Step: addrs.Step{Kind: kind, Name: name}}
	all := map[string]cty.Value{}
	for n, ty := range k.Schema().Args {
		_ = ty
		all[n] = cty.NullVal(cty.String)
	}
	for n, v := range args {
		all[n] = v
	}
	return step.Request{At: at, Args: all, Profile: profile, Target: cty.NullVal(cty.DynamicPseudoType)}
}

func target(t *testing.T, soc string) cty.Value {
	t.Helper()
	s, diags := facts.Builtin()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	v, diags := s.Target(soc, nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return v
}

// perform runs the specs in order, each in a folder that holds its inputs, as an executor does; it returns the folder of
// each by name.
func perform(t *testing.T, p step.Planned) map[string]string {
	t.Helper()
	dirs := map[string]string{}
	downloads := t.TempDir()
	for _, s := range p.Specs {
		dir := t.TempDir()
		dirs[s.Name] = dir
		for _, in := range s.Inputs {
			at := filepath.Join(dir, filepath.FromSlash(in.Path))
			var err error
			switch {
			case in.Content != nil:
				err = os.WriteFile(at, in.Content.Data, 0o644)
			case in.Host != nil:
				err = os.Symlink(in.Host.Path, at)
			case in.Spec != nil:
				err = os.Symlink(filepath.Join(dirs[in.Spec.Spec], in.Spec.Path), at)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if s.Args[0] != action.ToolArg0 || s.Args[1] != "tool" || steps.Tools()[s.Args[2]] == nil {
			t.Fatalf("spec %q runs %q", s.Name, s.Args)
		}
		t.Chdir(dir)
		var out bytes.Buffer
		if code := steps.Tools()[s.Args[2]](t.Context(), s.Args[3:], tool.Env{Vars: []string{fetch.EnvDownloads + "=" + downloads}, Stderr: &out}); code != 0 {
			t.Fatalf("spec %q: exit code %d\n%s", s.Name, code, out.Bytes())
		}
		for _, o := range s.Outputs {
			if info, err := os.Stat(filepath.Join(dir, o.Path)); err != nil || info.IsDir() != o.Tree {
				t.Errorf("spec %q promised %+v: %v", s.Name, o, err)
			}
		}
	}
	return dirs
}

func TestSimulations(t *testing.T) {
	k := toolchainKind(t)
	for _, rel := range sdk.Releases() {
		r := fetchRequest(k, addrs.Toolchain, rel.Name, "simulated", map[string]cty.Value{"version": cty.StringVal(rel.Version)})
		p, diags := k.Plan(r)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if p.Specs[0].Platform[action.PropertyNetwork] != "" || !strings.HasPrefix(p.Specs[0].Platform[action.PropertyTool], "fetch/") {
			t.Errorf("%s: platform %v", rel.Name, p.Specs[0].Platform)
		}
		again, _ := k.Plan(r)
		for i, in := range p.Specs[0].Inputs {
			if !bytes.Equal(in.Content.Data, again.Specs[0].Inputs[i].Content.Data) {
				t.Errorf("%s: input %s differs from plan to plan", rel.Name, in.Path)
			}
		}
		if !p.Attrs["simulated"].True() || p.Attrs["version"].AsString() != rel.Version {
			t.Errorf("%s: attributes %v", rel.Name, p.Attrs)
		}
		if rel.Name == "qairt" && p.Attrs["build_id"].AsString() != rel.BuildID || rel.Name == "hexagon" && p.Attrs["tools_version"].AsString() != map[string]string{"6.4.0.2": "19.0.04", "6.3.0.0": "8.8.06"}[rel.Version] {
			t.Errorf("%s: attributes %v", rel.Name, p.Attrs)
		}
		if p.Outputs["dir"].Class != action.Tree || len(p.Outputs["dir"].Parts) != 1 {
			t.Errorf("%s: outputs %+v", rel.Name, p.Outputs)
		}
		perform(t, p)
	}
}

func TestPackages(t *testing.T) {
	k := toolchainKind(t)
	p, diags := k.Plan(fetchRequest(k, addrs.Toolchain, "busybox", "simulated", nil))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if p.Specs[0].Platform[action.PropertyNetwork] != "true" {
		t.Errorf("platform %v", p.Specs[0].Platform)
	}
	dirs := perform(t, p)
	if info, err := os.Stat(filepath.Join(dirs[""], "tree", "bin", "busybox")); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("busybox: %v, %v", info, err)
	}
}

func TestInstalledPrograms(t *testing.T) {
	w := fetchWorkspace(t)
	bin := t.TempDir()
	for name, text := range map[string]string{"qemu-aarch64-static": "qemu-aarch64 version 9", "qemu-hexagon-static": "qemu-hexagon version 9"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho "+text+" $2\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	empty := t.TempDir()
	env := map[string]string{"PATH": empty + ":" + bin + ":/not/looked/at"}
	w.Machine = toolchains.Machine{Getenv: func(n string) string { return env[n] }, LookPath: func(n string) (string, error) {
		p := filepath.Join(bin, n)
		_, err := os.Stat(p)
		return p, err
	}}
	k := w.Kinds()[addrs.Toolchain]
	r := fetchRequest(k, addrs.Toolchain, "qemu", "simulated", map[string]cty.Value{"source": cty.StringVal("installed")})
	p, diags := k.Plan(r)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, at := range []string{filepath.Join(empty, "qemu-hexagon-static"), filepath.Join(bin, "qemu-hexagon-static")} {
		if !slices.Contains(p.Reads.Paths, at) {
			t.Errorf("%s was looked at, but only %v is said", at, p.Reads)
		}
	}
	if slices.Contains(p.Reads.Paths, "/not/looked/at/qemu-hexagon-static") || !slices.Contains(p.Reads.Env, "PATH") {
		t.Errorf("reads %v", p.Reads)
	}
	perform(t, p)
	// Another program at the same place is another action.
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(bin, "qemu-aarch64-static"), later, later); err != nil {
		t.Fatal(err)
	}
	again, _ := k.Plan(r)
	if bytes.Equal(p.Specs[0].Inputs[0].Content.Data, again.Specs[0].Inputs[0].Content.Data) {
		t.Error("the spec is the same after the program was replaced")
	}
}

func TestInstalledSDK(t *testing.T) {
	k := toolchainKind(t)
	p, diags := k.Plan(fetchRequest(k, addrs.Toolchain, "hexagon", "simulated", nil))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	root := filepath.Join(perform(t, p)[""], "tree")
	sdktest.AsVendors(t, root)
	r := fetchRequest(k, addrs.Toolchain, "hexagon", "device", map[string]cty.Value{"path": cty.StringVal(root)})
	p, diags = k.Plan(r)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, at := range []string{root, filepath.Join(root, "hexagon_sdk.json"), filepath.Join(root, "sdk.yaml")} {
		if !slices.Contains(p.Reads.Paths, at) {
			t.Errorf("%s was looked at, but only %v is said", at, p.Reads)
		}
	}
	parts := p.Outputs["dir"].Parts
	if len(parts) != 2 || parts[0].Host == nil || parts[0].Host.Path != root || parts[1].Spec == nil {
		t.Errorf("parts %+v", parts)
	}
	perform(t, p)
	if err := os.Remove(filepath.Join(root, "setup_sdk_env.source")); err != nil {
		t.Fatal(err)
	}
	spec := p.Specs[0]
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, tool.ArgsFile), spec.Inputs[0].Content.Data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(root, filepath.Join(dir, "sdk")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	var out bytes.Buffer
	if code := steps.Tools()["fetch"](t.Context(), spec.Args[3:], tool.Env{Stderr: &out}); code != 1 || !strings.Contains(out.String(), "setup_sdk_env.source") {
		t.Errorf("a copy that lacks a file: exit code %d, %s", code, out.String())
	}
}

func TestToolchainPlanErrors(t *testing.T) {
	k := toolchainKind(t)
	str := cty.StringVal
	for name, x := range map[string]struct {
		tool, profile string
		args          map[string]cty.Value
		soc           string
		summary, says string
	}{
		"unknown":       {tool: "qnn", summary: "Unknown toolchain", says: "is not in the catalog"},
		"no release":    {tool: "ndk", args: map[string]cty.Value{"version": str("r28bb")}, summary: "Unknown release", says: `did you mean "r28b"`},
		"no simulation": {tool: "ndk", profile: "simulated", args: map[string]cty.Value{"version": str("r25c")}, summary: "Toolchain not available", says: "--profile device"},
		"new SoC":       {tool: "qairt", profile: "device", args: map[string]cty.Value{"version": str("2.42.0.251225")}, soc: "SM8850", says: ""},
		"path":          {tool: "qairt", args: map[string]cty.Value{"path": str("/no/such")}, summary: "Toolchain not available", says: "is not available"},
		"urls, no hash": {tool: "ndk", args: map[string]cty.Value{"urls": cty.ListVal([]cty.Value{str("file:///x.zip")})}, says: "neither the catalog nor"},
	} {
		t.Run(name, func(t *testing.T) {
			r := fetchRequest(k, addrs.Toolchain, x.tool, x.profile, x.args)
			if x.soc != "" {
				r.Target = target(t, x.soc)
			}
			_, diags := k.Plan(r)
			if x.summary == "" && x.says == "" {
				if diags.HasErrors() {
					t.Errorf("errors %v", diags)
				}
				return
			}
			if !diags.HasErrors() {
				t.Fatal("no error")
			}
			d := diags.Errs()[0].(*hcl.Diagnostic)
			if x.summary != "" && d.Summary != x.summary || !strings.Contains(d.Detail, x.says) || !strings.HasSuffix(d.Detail, ".") {
				t.Errorf("%s: %s; want %s: …%s…", d.Summary, d.Detail, x.summary, x.says)
			}
		})
	}
}

// A real release that is not pinned yet can be planned: the plan says what is missing.
func TestNotPinned(t *testing.T) {
	k := toolchainKind(t)
	p, diags := k.Plan(fetchRequest(k, addrs.Toolchain, "hexagon", "device", nil))
	if diags.HasErrors() || len(p.Specs) != 1 || len(p.Missing) != 1 || !strings.Contains(p.Missing[0], "hexmage lock hexagon 6.4.0.2 --profile device") {
		t.Errorf("%d specs, missing %q, %v", len(p.Specs), p.Missing, diags)
	}
	// One that needs an account, too.
	p, diags = k.Plan(fetchRequest(k, addrs.Toolchain, "hexagon", "device", map[string]cty.Value{"version": cty.StringVal("6.2.0.1")}))
	if diags.HasErrors() || len(p.Missing) != 1 || !strings.Contains(p.Missing[0], "qpm-cli --login") || !strings.Contains(p.Missing[0], "set HEXAGON_SDK_ROOT") || p.Attrs["tools_version"].AsString() != "8.8.06" {
		t.Errorf("missing %q, %v, %v", p.Missing, p.Attrs, diags)
	}
}

// TestOtherProcessor: on another processor than x86-64 the plan says what to run in place of profile emulator.
func TestOtherProcessor(t *testing.T) {
	k := toolchainKind(t)
	for level, want := range map[string]int{"x86-64-v3": 0, "arm64-dotprod": 1} {
		r := fetchRequest(k, addrs.Toolchain, "htp_host", "emulator", nil)
		r.CPULevel = level
		p, diags := k.Plan(r)
		if diags.HasErrors() || len(p.Missing) != want || want == 1 && !strings.Contains(p.Missing[0], "only on x86-64 Linux, but this machine is arm64-dotprod; use an x86-64 machine or container, or --profile simulated") {
			t.Errorf("%s: missing %q, %v", level, p.Missing, diags)
		}
	}
}

func TestOverrideArchive(t *testing.T) {
	var b bytes.Buffer
	if err := sdktest.Archive(&b, "ndk", ""); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ndk.zip")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	k := toolchainKind(t)
	p, diags := k.Plan(fetchRequest(k, addrs.Toolchain, "ndk", "device", map[string]cty.Value{
		"urls": cty.ListVal([]cty.Value{cty.StringVal("file://" + file)}), "sha256": cty.StringVal(hex.EncodeToString(sum[:])),
		"strip_prefix": cty.StringVal("android-ndk-r28b"), "size": cty.NumberIntVal(int64(b.Len()))}))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	perform(t, p)
}

func TestFetch(t *testing.T) {
	var b bytes.Buffer
	if err := sdktest.Archive(&b, "mllm", ""); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(b.Bytes()) }))
	defer srv.Close()
	k := table()["fetch"]
	args := map[string]cty.Value{"url": cty.StringVal(srv.URL + "/dl/tools.zip"), "sha256": cty.StringVal(hex.EncodeToString(sum[:]))}
	p, diags := k.Plan(fetchRequest(k, "fetch", "x", "", args))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if p.Outputs["dir"].Parts[0].Path != "tools.zip" {
		t.Errorf("outputs %+v", p.Outputs)
	}
	dirs := perform(t, p)
	if got, err := os.ReadFile(filepath.Join(dirs[""], "file")); err != nil || !bytes.Equal(got, b.Bytes()) {
		t.Errorf("file: %v", err)
	}
	args["unpack"], args["strip_prefix"] = cty.True, cty.StringVal("mllm-simulated")
	if p, diags = k.Plan(fetchRequest(k, "fetch", "x", "", args)); diags.HasErrors() {
		t.Fatal(diags)
	}
	dirs = perform(t, p)
	if _, err := os.Stat(filepath.Join(dirs["unpack"], "tree", "bin")); err != nil {
		t.Error(err)
	}
	for arg, v := range map[string]string{"url": "tools.zip", "sha256": "abc"} {
		bad := map[string]cty.Value{"url": args["url"], "sha256": args["sha256"], arg: cty.StringVal(v)}
		if _, diags := k.Plan(fetchRequest(k, "fetch", "x", "", bad)); !diags.HasErrors() {
			t.Errorf("%s %q: no error", arg, v)
		}
	}
}

func TestGit(t *testing.T) {
	dir := t.TempDir()
	repo, err := gogit.PlainInit(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	w, err := repo.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{"a.txt": "one", "src/op.cpp": "int x;"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Add(name); err != nil {
			t.Fatal(err)
		}
	}
	commit, err := w.Commit("first", &gogit.CommitOptions{Author: &object.Signature{Name: "n", Email: "e", When: time.Unix(1e9, 0)}})
	if err != nil {
		t.Fatal(err)
	}
	k := table()["git"]
	p, diags := k.Plan(fetchRequest(k, "git", "x", "", map[string]cty.Value{"url": cty.StringVal(dir), "commit": cty.StringVal(commit.String())}))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if p.Specs[0].Platform[action.PropertyNetwork] != "" {
		t.Errorf("platform %v: a repository of this machine needs no network", p.Specs[0].Platform)
	}
	dirs := perform(t, p)
	if b, err := os.ReadFile(filepath.Join(dirs[""], "tree", "src", "op.cpp")); err != nil || string(b) != "int x;" {
		t.Errorf("%q, %v", b, err)
	}
	p, diags = k.Plan(fetchRequest(k, "git", "x", "", map[string]cty.Value{"url": cty.StringVal("https://host/repo.git"), "commit": cty.StringVal(commit.String())}))
	if diags.HasErrors() || p.Specs[0].Platform[action.PropertyNetwork] != "true" {
		t.Errorf("%+v, %v", p, diags)
	}
	if _, diags := k.Plan(fetchRequest(k, "git", "x", "", map[string]cty.Value{"url": cty.StringVal(dir), "commit": cty.StringVal("main")})); !diags.HasErrors() {
		t.Error("a branch is taken for a commit")
	}
}
