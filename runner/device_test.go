//go:build linux

package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/execute/executetest"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/qnnctx"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/check"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/pool"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/simulated/mllm/blob"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// bench is a store and a device for actions.
type bench struct {
	blobs  *disk.Blobs
	device *runner.Device
	image  *merkle.Dir
}

// emulate starts simulated phones with the faults.
func emulate(t testing.TB, faults phone.Faults) func(context.Context, runner.SimulatedOptions) (runner.Simulated, error) {
	self := phonetest.Self(t)
	return func(ctx context.Context, o runner.SimulatedOptions) (runner.Simulated, error) {
		e, err := phone.Start(ctx, phone.Options{Self: self, Image: o.Image, Dir: o.Dir, Data: o.Data, Log: o.Log, Faults: faults})
		if err != nil {
			return nil, err
		}
		return e, nil
	}
}

func newBench(t *testing.T, change func(*runner.Options)) *bench {
	t.Helper()
	root, err := os.MkdirTemp("", "store")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	blobs, err := disk.NewBlobs(root)
	if err != nil {
		t.Fatal(err)
	}
	o := runner.Options{
		Store: blobs, Trees: merkle.NewTrees(root), Fn: digest.BLAKE3,
		Dir: filepath.Join(root, "tmp"), State: filepath.Join(root, "state"),
		Simulate: emulate(t, phone.Faults{}), ADB: toolchaintest.Root(t, "adb"),
	}
	if change != nil {
		change(&o)
	}
	b := &bench{blobs: blobs, device: runner.New(o)}
	t.Cleanup(func() {
		if err := b.device.Close(); err != nil {
			t.Error(err)
		}
	})
	b.image = b.scan(t, phonetest.Image(t, nil))
	return b
}

// scan stores a folder.
func (b *bench) scan(t testing.TB, dir string) *merkle.Dir {
	t.Helper()
	d, err := merkle.Scan(t.Context(), merkle.HashFiles(digest.BLAKE3), dir, merkle.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = d.Walk(func(p string, e merkle.Entry) error {
		if e.File == nil {
			return nil
		}
		f, err := os.Open(filepath.Join(dir, p))
		if err != nil {
			return err
		}
		defer f.Close()
		return b.blobs.Put(t.Context(), e.File.Digest, f)
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// action makes an action with the image at "device" and the files. "x:" at the start of a content marks a program.
func (b *bench) action(t testing.TB, files map[string]string, c action.Command) *action.Action {
	t.Helper()
	root := &merkle.Dir{}
	if err := root.Merge(t.Context(), b.blobs, "device", b.image); err != nil {
		t.Fatal(err)
	}
	for p, content := range files {
		content, program := strings.CutPrefix(content, "x:")
		d := digest.BLAKE3.Bytes([]byte(content))
		if err := b.blobs.Put(t.Context(), d, strings.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		if err := root.Insert(t.Context(), b.blobs, p, merkle.File{Digest: d, Executable: program}); err != nil {
			t.Fatal(err)
		}
	}
	d, err := root.Put(t.Context(), b.blobs, digest.BLAKE3)
	if err != nil {
		t.Fatal(err)
	}
	if c.Platform == nil {
		c.Platform = map[string]string{}
	}
	c.Platform[action.PropertyExecutor] = "device"
	if _, ok := c.Platform[runner.PropertyImage]; !ok {
		c.Platform[runner.PropertyImage] = "device"
	}
	return &action.Action{Command: c, InputRoot: d}
}

func (b *bench) read(t *testing.T, d digest.Digest) string {
	t.Helper()
	r, err := b.blobs.Open(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// Processes of the simulated phone are processes of this machine.
func TestDeviceConforms(t *testing.T) {
	b := newBench(t, nil)
	executetest.Run(t, "*runner.Device", func(t *testing.T) executetest.Setup {
		return executetest.Setup{
			Executor: b.device, Store: b.blobs, Fn: digest.BLAKE3, Alive: executetest.ProcessAlive, Shell: "/system/bin/sh", Foreign: true, NoSecrets: true, Inputs: runner.PushDir,
			Platform: map[string]string{action.PropertyExecutor: runner.Executor, runner.PropertyImage: "device"},
			Prepare:  func(d *merkle.Dir) error { return d.Merge(t.Context(), b.blobs, "device", b.image) },
		}
	})
}

func TestDeviceIsAnExecutor(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	var exec execute.Executor = b.device
	script := "x:#!/system/bin/sh\ncat model/weights.bin\ncat\ngetprop ro.soc.model >results/soc.txt\nmkdir -p results/all/sub; echo 1 >results/all/sub/one\necho warn >&2\nexit $1\n"
	a := b.action(t, map[string]string{
		"push/run.sh": script, "push/model/weights.bin": "weights\n", "stdin.txt": "prompt\n", "unused.txt": "not in the push set",
	}, action.Command{
		Args: []string{"./run.sh", "3"}, Env: map[string]string{"X": "1"},
		Outputs:  []string{"results/all", "results/soc.txt", "missing.txt", "stdout.txt"},
		Platform: map[string]string{action.PropertyStdin: "stdin.txt", action.PropertyStdout: "stdout.txt", runner.PropertySoC: "SM8750", runner.PropertyArch: "v79"},
	})
	for range 2 {
		r, err := exec.Execute(t.Context(), &execute.Request{Action: a})
		if err != nil {
			t.Fatal(err)
		}
		if r.ExitCode != 3 || string(r.Stdout) != "weights\nprompt\n" || string(r.Stderr) != "warn\n" || r.Worker != "simulated phone SM8750 v79" || r.Duration <= 0 {
			t.Errorf("result: %+v", r)
		}
		files := map[string]string{}
		for _, f := range r.Files {
			files[f.Path] = b.read(t, f.Digest)
		}
		if len(files) != 2 || files["results/soc.txt"] != "SM8750\n" || files["stdout.txt"] != "weights\nprompt\n" {
			t.Errorf("files: %q", files)
		}
		if len(r.Dirs) != 1 || r.Dirs[0].Path != "results/all" {
			t.Fatalf("folders: %+v", r.Dirs)
		}
		if e, err := merkle.Ref(r.Dirs[0].Root).Lookup(t.Context(), b.blobs, "sub/one"); err != nil || e.File == nil || b.read(t, e.File.Digest) != "1\n" {
			t.Errorf("pulled folder: %v, %v", e, err)
		}
	}
}

// TestDeviceLog runs a program that fails on the DSP. Only the device's log has the reason.
func TestDeviceLog(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	broken := filepath.Join(t.TempDir(), "not-hexagon")
	if err := os.WriteFile(broken, []byte("not a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.image = b.scan(t, phonetest.Image(t, func(m *phone.Image) { m.FastRPCShell = broken }))
	client, err := os.ReadFile(phonetest.Compile(t, "aarch64", phonetest.DSPClient))
	if err != nil {
		t.Fatal(err)
	}
	a := b.action(t, map[string]string{"push/client": "x:" + string(client)}, action.Command{Args: []string{"sh", "-c", "./client; sleep 0.3; logcat -d | grep -q 'cdsp: protection domain' && exit 9"}})
	for range 2 {
		r, err := b.device.Execute(t.Context(), &execute.Request{Action: a})
		if err != nil || r.ExitCode != 9 || strings.Count(string(r.Stderr), "protection domain") != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

func TestDeviceRefusesWhatWouldFail(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	hexagon, err := os.ReadFile(phonetest.Compile(t, "hexagon", "void _start(void) {}"))
	if err != nil {
		t.Fatal(err)
	}
	arm, err := os.ReadFile(phonetest.Compile(t, "aarch64", `const char id[] __attribute__((used)) = "v2.41.0.251128145156_191518"; void _start(void) {}`))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	v79, v75 := bytes.Clone(hexagon), bytes.Clone(hexagon)
	v79[36], v75[36] = 0x79, 0x75
	other := bytes.ReplaceAll(arm, []byte("v2.41.0"), []byte("v2.40.0"))
	htp := map[string]string{"push/libQnnHtp.so": string(arm), "push/libQnnSystem.so": string(arm), "push/libQnnHtpV79Stub.so": string(arm), "push/libQnnHtpV79Skel.so": string(v79)}
	with := func(change map[string]string) map[string]string {
		all := map[string]string{}
		for k, v := range htp {
			all[k] = v
		}
		for k, v := range change {
			if v == "" {
				delete(all, k)
			} else {
				all[k] = v
			}
		}
		return all
	}
	lengths := contextOf(t, "v2.41.0.251128000000_1", 79, func(_ *qnnctx.Info, b *blob.Blob) {
		b.Graphs = []blob.Graph{{Name: "model.0.s32", Tokens: 32}, {Name: "model.0.s1", Tokens: 1}}
	})
	for _, c := range []struct {
		name  string
		files map[string]string
		args  []string
		soc   string
		want  []string // parts of the error; empty: no error
	}{
		{name: "all is well", files: htp},
		{name: "another SoC", soc: "SM8650", want: []string{"SM8750", "SM8650", "--serial"}},
		{name: "Hexagon for another arch", files: with(map[string]string{"push/libOp.so": string(v75)}), want: []string{"libOp.so", "v75", "v79"}},
		{name: "for the host", files: map[string]string{"push/run": "x:" + string(self)}, want: []string{"run:", "EM_X86_64", "aarch64"}},
		{name: "no ELF", files: map[string]string{"push/libX.so": "not yet\n"}, want: []string{"libX.so", "not an ELF file"}},
		{name: "pointers of Git LFS", files: map[string]string{"push/libX.so": "version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "push/model.mllm": "version https://git-lfs.github.com/spec/v1\noid sha256:2\n"},
			want: []string{"libX.so: the file is a Git LFS pointer", "model.mllm: the file is a Git LFS pointer", "git lfs pull"}},
		{name: "damaged ELF", files: map[string]string{"push/libX.so": string(arm[:100])}, want: []string{"libX.so", "corrupt"}},
		{name: "mixed SDKs", files: with(map[string]string{"push/libQnnSystem.so": string(other)}), want: []string{"v2.40.0.251128145156 (libQnnSystem.so)", "v2.41.0.251128145156 (libQnnHtp.so, libQnnHtpV79Stub.so)"}},
		{name: "a context of a newer SDK", files: with(map[string]string{"push/context.bin": contextOf(t, "v2.44.0.260225000000_1", 79)}), want: []string{"context.bin", "made by QAIRT 2.44.0, and the older runtime 2.41.0"}},
		{name: "a context for another arch", files: with(map[string]string{"push/context.bin": contextOf(t, "v2.37.0.250724000000_1", 75)}), want: []string{"context.bin", "compiled for Hexagon v75, but the target has v79"}},
		{name: "a context of an older SDK", files: with(map[string]string{"push/context.bin": contextOf(t, "v2.37.0.250724000000_1", 79)})},
		{name: "no stub", files: with(map[string]string{"push/libQnnHtpV79Stub.so": ""}), want: []string{"libQnnHtpV79Stub.so", "push set"}},
		{name: "a context for more VTCM", files: with(map[string]string{"push/context.bin": contextOf(t, "v2.41.0.251128000000_1", 79, func(i *qnnctx.Info, _ *blob.Blob) { i.VTCM = 16 << 20 })}), want: []string{"context.bin", "16 MB of VTCM, but the target has 8 "}},
		{name: "a length that the context has", files: with(map[string]string{"push/context.bin": lengths}), args: []string{"true", "--ar_len", "32"}},
		{name: "a length that it has not", files: with(map[string]string{"push/context.bin": lengths}), args: []string{"true", "--ar_len=128"}, want: []string{"--ar_len 128", "Available: 1 32"}},
		{name: "what the command names", files: map[string]string{"push/in/a.bin": "x", "push/run": "x:#!/bin/sh\n"}, args: []string{"./run", "-m", "in/a.bin", "--log", "log.txt", "-v", "--config=$HEXMAGE_ROOT/in/a.bin", "one.two"}},
		{name: "what a command of the device names", args: []string{"true", "-m", "ro.soc.model"}},
		{name: "a named file is not pushed", files: map[string]string{"push/in/a.bin": "x", "push/run": "x:#!/bin/sh\n"}, args: []string{"run", "-m", "a.bin"}, want: []string{"a.bin", "the command names this file (-m a.bin)", "Pushed files: in/a.bin"}},
		{name: "settings of the target", files: map[string]string{"push/c.json": `{"devices": [{"soc_model": 69, "dsp_arch": "v79"}], "graphs": [{"vtcm_mb": 8}]}`}},
		{name: "settings that are not the target's", files: map[string]string{"push/c.json": `{"devices": [{"soc_model": 618, "dsp_arch": "v75"}], "graphs": [{"vtcm_mb": 16}]}`},
			want: []string{`devices[0].dsp_arch is "v75"`, "devices[0].soc_model is 618, but the target's soc_model is 69", "Android's soc_id", "graphs[0].vtcm_mb is 16"}},
		{name: "a compiler's settings", files: map[string]string{"push/a.json": `{"target_machine": {"htp_arch": "V75", "htp_chipset": "SM8650", "htp_vtcm_capability_in_mb": 8}}`},
			want: []string{"target_machine.htp_arch", "target_machine.htp_chipset", `set the value to "SM8750"`}},
		{name: "no settings", files: map[string]string{"push/a.json": `{"vtcm_mb": "much", "dsp_arch": 75, "soc_id": null}`, "push/b.json": "no JSON"}},
		{name: "program not pushed", files: map[string]string{"push/a": "x"}, args: []string{"./runner"}, want: []string{"runner", "not in the push set", "Pushed files: a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.soc == "" {
				c.soc = "SM8750"
			}
			if c.args == nil {
				c.args = []string{"true"}
			}
			_, err := b.device.Execute(t.Context(), &execute.Request{Action: b.action(t, c.files, action.Command{
				Args: c.args, Platform: map[string]string{runner.PropertySoC: c.soc, runner.PropertyArch: "v79", runner.PropertySoCModel: "69", runner.PropertyVTCM: "8"},
			})})
			if (err == nil) != (c.want == nil) {
				t.Fatalf("got %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to say %q", err, want)
				}
			}
		})
	}
	t.Run("a library that is nowhere", func(t *testing.T) {
		_, err := b.device.Execute(t.Context(), &execute.Request{Action: b.action(t, map[string]string{"push/run": "x:" + string(needs(t, "libomp.so"))}, action.Command{Args: []string{"true"}})})
		mismatch, ok := errors.AsType[*devinfo.Mismatch](err)
		if !ok || mismatch.File != "run" || !strings.Contains(err.Error(), "libomp.so") {
			t.Errorf("got %v", err)
		}
		if e, ok := errors.AsType[*execute.Error](err); !ok || !e.Refused || e.Retryable {
			t.Errorf("%+v should be a refusal: the step's fault, not the engine's", e)
		}
		_, err = b.device.Execute(t.Context(), &execute.Request{Action: b.action(t, map[string]string{"push/run": "x:" + string(needs(t, "libc.so.6"))}, action.Command{Args: []string{"true"}})})
		if err == nil || !strings.Contains(err.Error(), "is built for Linux, but the device runs Android and has no libc.so.6; push the build for Android") {
			t.Errorf("a program for Linux: %v", err)
		}
	})
}

func contextOf(t *testing.T, buildID string, arch uint32, change ...func(*qnnctx.Info, *blob.Blob)) string {
	t.Helper()
	var b bytes.Buffer
	i := qnnctx.Info{Backend: qnnctx.BackendHTP, BuildID: buildID, Arch: arch, SoC: "SM8750", SoCModel: 69, VTCM: 8 << 20}
	payload := &blob.Blob{}
	for _, f := range change {
		f(&i, payload)
	}
	if err := blob.Write(&b, i, payload); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// needs returns an AArch64 shared object that needs the library.
func needs(t *testing.T, lib string) []byte {
	t.Helper()
	dir := t.TempDir()
	b, err := os.ReadFile(compileShared(t, dir, lib))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTwoSystems: hexmage tells libraries for Linux from libraries for Android, without a device, too.
func TestTwoSystems(t *testing.T) {
	t.Parallel()
	file := func(lib string) push.File {
		b := needs(t, lib)
		return push.File{Size: int64(len(b)), Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }}
	}
	set, err := check.Together(t.Context(), map[string]push.File{"a.so": file("liblog.so"), "b.so": file("libc.so.6"), "c.so": file("libmine.so")}, qnn.Target{})
	if err != nil || fmt.Sprint(set.Systems) != "[android linux]" || len(set.Problems) != 1 || !strings.Contains(set.Problems[0].Error(), "for Android (a.so) and for Linux (b.so), and") {
		t.Errorf("%+v, %v", set, err)
	}
}

func TestDeviceSelection(t *testing.T) {
	t.Parallel()
	s := phonetest.Server(t)
	image := phonetest.Image(t, nil)
	one, two := phonetest.Start(t, image, nil), phonetest.Start(t, image, nil)
	reach := pool.Transports{Server: func(context.Context) (*adb.Client, error) { return s.Client, nil }}
	pick := func(serial string) (string, error) {
		d, err := reach.Open(t.Context(), pool.Device{Serial: serial})
		if err != nil {
			return "", err
		}
		return d.Place().Serial, nil
	}
	if _, err := pick(""); !errors.Is(err, devinfo.ErrNoDevice) {
		t.Errorf("none: %v", err)
	}
	if got, err := pick(one.Addr()); err != nil || got != one.Addr() {
		t.Errorf("an address is connected to: %q, %v", got, err)
	}
	if got, err := pick(""); err != nil || got != one.Addr() {
		t.Errorf("one: %q, %v", got, err)
	}
	if _, err := pick("XYZ"); err == nil || !strings.Contains(err.Error(), "it is not connected to the adb server") {
		t.Errorf("another serial: %v", err)
	}
	if err := s.Connect(t.Context(), two.Addr()); err != nil {
		t.Fatal(err)
	}
	if _, err := pick(""); err == nil || !strings.Contains(err.Error(), "--serial") || !strings.Contains(err.Error(), one.Addr()) || !strings.Contains(err.Error(), two.Addr()) {
		t.Errorf("two: %v", err)
	}
	if got, err := pick(two.Addr()); err != nil || got != two.Addr() {
		t.Errorf("one of two: %q, %v", got, err)
	}
}

// TestRealDevice uses the simulated phone as a real phone that a user connected by its address.
func TestRealDevice(t *testing.T) {
	t.Parallel()
	e := phonetest.Start(t, phonetest.Image(t, nil), nil)
	b := newBench(t, func(o *runner.Options) { o.Serial = e.Addr() })
	r, err := b.device.Execute(t.Context(), &execute.Request{Action: b.action(t, nil, action.Command{Args: []string{"getprop", "ro.soc.model"}})})
	if err != nil || string(r.Stdout) != "SM8750\n" {
		t.Errorf("%v, %v", r, err)
	}
	e.Close()
	_, err = b.device.Execute(t.Context(), &execute.Request{Action: b.action(t, nil, action.Command{Args: []string{"true"}})})
	failed, ok := errors.AsType[*execute.Error](err)
	if !ok || !failed.Retryable {
		t.Errorf("a device that is gone: %v", err)
	}
}

func TestEmulatorFaultsReachTheDevice(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *runner.Options) { o.Simulate = emulate(t, phone.Faults{DropAfterBytes: 3 << 20}) })
	a := b.action(t, map[string]string{"push/a": strings.Repeat("a", 2<<20), "push/b": strings.Repeat("b", 2<<20)}, action.Command{Args: []string{"sh", "-c", "cat a b | wc -c"}})
	if r, err := b.device.Execute(t.Context(), &execute.Request{Action: a}); err != nil || strings.TrimSpace(string(r.Stdout)) != "4194304" {
		t.Errorf("%v, %v", r, err)
	}
}

// compileShared links an AArch64 shared object in dir that needs the library, and returns its path.
func compileShared(t testing.TB, dir, library string) string {
	t.Helper()
	bin := filepath.Join(toolchaintest.Root(t, "llvm"), "usr/bin")
	link := func(out, soname, source string, more ...string) string {
		in := filepath.Join(dir, soname+".c")
		if err := os.WriteFile(in, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"--target=aarch64-linux-android30", "-nostdlib", "-shared", "-fPIC", "-fuse-ld=lld", "--ld-path=" + filepath.Join(bin, "ld.lld-22"),
			"-Wl,-soname," + soname, "-o", out, in}, more...)
		if msg, err := exec.CommandContext(t.Context(), filepath.Join(bin, "clang-22"), args...).CombinedOutput(); err != nil {
			t.Fatalf("clang-22: %v\n%s", err, msg)
		}
		return out
	}
	lib := link(filepath.Join(dir, library), library, "int f(void) { return 1; }")
	return link(filepath.Join(dir, "user.so"), "user.so", "int f(void); int g(void) { return f(); }", lib)
}
