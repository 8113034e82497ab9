//go:build linux

package failures_test

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/qnn/qnnctx/qnnctxtest"
	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/transport"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/cdsp"
	"github.com/hexmage/hexmage/simulated/phone/linux"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// runtimes are two releases of Qualcomm's runtime for arm64 Linux, as the package index has them: where its libraries and the skels of an arch are.
func runtimes(t *testing.T) map[string]func(name string) string {
	of := func(toolchain, libs, skels string) func(string) string {
		root := toolchaintest.Root(t, toolchain)
		return func(name string) string {
			if arch, ok := strings.CutSuffix(name, "Skel.so"); ok {
				return filepath.Join(root, strings.ReplaceAll(skels, "NN", strings.TrimPrefix(arch, "libQnnHtpV")), name)
			}
			return filepath.Join(root, libs, name)
		}
	}
	return map[string]func(string) string{
		"2.48": of("qnnruntime", "qnnruntime/.libs", "qnnruntime/.libs/hexagon-vNN/unsigned"),
		"2.51": of("htp_linux_arm64", "onnxruntime_qnn", "onnxruntime_qnn"),
	}
}

// Qualcomm's own runtime runs on the simulated phone as far as the skel. What is missing, mixed, or looked for in the wrong place makes it print what
// it prints on a phone, and the first cause that is named for that is the right one.
func TestVendorRuntime(t *testing.T) {
	t.Parallel()
	known := shipped(t)
	libs := runtimes(t)
	shell, arm64 := dspProgram(t), arm64Linux(t)
	image := phonetest.Image(t, func(m *phone.Image) { m.FastRPCShell, m.Linux = shell, arm64 })
	server := phonetest.Server(t)
	disk := t.TempDir() // which all the phones have as their /data
	all := []string{"libQnnHtp.so", "libQnnSystem.so", "libQnnHtpV79Stub.so", "libQnnHtpV79Skel.so"}
	for release, at := range libs {
		for _, name := range append(all, "libQnnHtpV81Skel.so") {
			into(t, at(name), filepath.Join(disk, "local/tmp", release, name))
		}
	}
	into(t, libs["2.48"]("libQnnCpu.so"), filepath.Join(disk, "local/tmp/2.48/libQnnCpu.so"))
	phones := map[string]*adb.Device{}
	device := func(fault string) *adb.Device {
		if phones[fault] == nil {
			at := image
			switch fault {
			case "soc=unknown", "soc=SM8650": // the former as in a container without the board's /sys
				at = phonetest.Image(t, func(m *phone.Image) {
					m.FastRPCShell, m.Linux = shell, arm64
					if m.SoC.SoCID = 99999; fault == "soc=SM8650" {
						m.SoC = phone.SoCProps{Model: "SM8650", SoCModel: 57, Arch: "v75", SoCID: 557, VTCMMB: 8}
					}
				})
			case "no libcdsprpc": // as in an app that does not declare it
				at = filepath.Join(t.TempDir(), "image")
				if out, err := exec.Command("cp", "-al", image, at).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				if err := os.RemoveAll(filepath.Join(at, "odm")); err != nil {
					t.Fatal(err)
				}
			}
			e := phonetest.Start(t, at, func(o *phone.Options) {
				o.Data = disk
				if fault == "" || at != image {
					return
				}
				if err := o.Set(fault); err != nil {
					t.Fatal(err)
				}
			})
			if err := server.Connect(t.Context(), e.Addr()); err != nil {
				t.Fatal(err)
			}
			phones[fault] = server.Device(e.Addr())
		}
		return phones[fault]
	}
	for _, c := range []struct {
		name  string
		fault string            // of the phone
		drop  string            // which library is not pushed
		other string            // which library is the other release's
		as    map[string]string // library pushed under another's name
		env   string            // in place of a right ADSP_LIBRARY_PATH
		want  map[string]string // the failure that is named, by release; "" of all
		says  string            // what the program prints
	}{
		{name: "all is right", want: map[string]string{"": "emulated-dsp"}, says: "failed with error 14001"},
		{name: "an unknown soc id", fault: "soc=unknown", want: map[string]string{"": "no-snapdragon"}, says: "QnnBackend_create failed with error 4000"},
		{name: "no libcdsprpc", fault: "no libcdsprpc", want: map[string]string{"": "no-cdsprpc"}, says: "libcdsprpc.so: cannot open shared object file"},
		{name: "no skel", drop: "libQnnHtpV79Skel.so", want: map[string]string{"2.48": "skel-not-loaded", "2.51": "skel-uri"}, says: "0x80000406"},
		{name: "the DSP refuses", fault: "wedge-dsp", want: map[string]string{"2.48": "skel-not-loaded", "2.51": "skel-uri"}, says: "0x80000406"},
		{name: "folders with a colon", env: `ADSP_LIBRARY_PATH="$PWD:/vendor/dsp"`, want: map[string]string{"2.48": "skel-not-loaded", "2.51": "skel-uri"}, says: "0x80000406"},
		{name: "the skel that the phone has", env: "ADSP_LIBRARY_PATH=/vendor/dsp/cdsp", want: map[string]string{"": "skel-symbol"}, says: "0x80000442"},
		{name: "skel of the other release", other: "libQnnHtpV79Skel.so", want: map[string]string{"": "skel-symbol"}, says: "0x80000442"},
		{name: "the skel of a newer arch", as: map[string]string{"libQnnHtpV79Skel.so": "libQnnHtpV81Skel.so"}, want: map[string]string{"": "dsp-bad-elf"}, says: "0x80000452"},
		{name: "stub of the other release", other: "libQnnHtpV79Stub.so", want: map[string]string{"": "stub-mismatch"}, says: "Stub lib id mismatch"},
		{name: "no stub", drop: "libQnnHtpV79Stub.so", want: map[string]string{"": "no-stub"}, says: "libQnnHtpV79Stub.so: cannot open shared object file"},
		{name: "the set of another arch", fault: "soc=SM8650", want: map[string]string{"": "no-stub"}, says: "libQnnHtpV75Stub.so: cannot open shared object file"},
	} {
		for release := range libs {
			t.Run(c.name+"/"+release, func(t *testing.T) {
				d := device(c.fault)
				dir := "/data/local/tmp/run/" + strings.ReplaceAll(t.Name(), "/", ".")
				push := "mkdir -p " + dir + " && cd " + dir
				for _, name := range all {
					from := release
					if name == c.other {
						from = map[string]string{"2.48": "2.51", "2.51": "2.48"}[release]
					}
					if name != c.drop {
						push += fmt.Sprintf(" && ln -f ../../%s/%s %s", from, cmp.Or(c.as[name], name), name)
					}
				}
				load := push + " && LD_LIBRARY_PATH=. " + cmp.Or(c.env, "ADSP_LIBRARY_PATH=$PWD") + " qnn-load libQnnHtp.so 2>&1; echo code $?"
				out, err := transport.Output(t.Context(), d, load, nil)
				if c.fault == "wedge-dsp" { // the first call crashes the DSP, which refuses later ones
					out, err = transport.Output(t.Context(), d, load, nil)
				}
				if err != nil {
					t.Fatal(err)
				}
				r := known.Text([]byte(out))
				want := cmp.Or(c.want[release], c.want[""])
				if len(r.Findings) == 0 || r.Findings[0].ID != want || len(r.Hints()) != 1 {
					t.Errorf("want %s, %d hints:\n%s", want, len(r.Hints()), strings.Join(r.Hints(), "\n---\n"))
				}
				for _, l := range r.Unknown {
					if strings.Contains(l.Text, "<E>") {
						t.Errorf("nobody knows %q", l.Text)
					}
				}
				if !strings.Contains(out, c.says) || !strings.HasSuffix(out, "\ncode 1\n") {
					t.Errorf("want %q and the code 1", c.says)
				}
				if t.Failed() {
					t.Log(out)
				}
			})
		}
	}
	// A context of a newer release is refused by its header, before a device is asked for; one of a newer build of the same release is not.
	for made, want := range map[string]string{"2.47": "14001", "2.48": "14001", "2.49": "5000", "2.51": "5000"} { // 2.48 is 2.48.40, and the runtime 2.48.0
		if err := os.WriteFile(filepath.Join(disk, "local/tmp/2.48/context.bin"), qnnctxtest.Real(t, made+"-SM8750.bin"), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := transport.Output(t.Context(), device(""), "cd /data/local/tmp/2.48 && LD_LIBRARY_PATH=. ADSP_LIBRARY_PATH=$PWD qnn-load libQnnHtp.so context.bin 2>&1; echo code $?", nil)
		newer := strings.Contains(out, "<E> Using newer context binary on old SDK")
		if err != nil || !strings.Contains(out, "QnnContext_createFromBinary failed with error "+want) || newer != (want == "5000") {
			t.Errorf("a context of %s: %v, want %s:\n%s", made, err, want, out)
		}
	}
	out, err := transport.Output(t.Context(), device(""), "cd /data/local/tmp/2.48 && qnn-load ./libQnnCpu.so", nil)
	if want := "QnnBackend_create: ok\nqnn-load: 187 operations\n"; err != nil || !strings.Contains(out, want) {
		t.Errorf("libQnnCpu.so: %v, want %q:\n%s", err, want, out)
	}
}

func into(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// arm64Linux compiles what an image has for programs of arm64 Linux.
func arm64Linux(t testing.TB) *phone.Linux {
	t.Helper()
	dir, root := t.TempDir(), toolchaintest.Root(t, "linux_arm64")
	if err := os.CopyFS(dir, linux.Sources()); err != nil {
		t.Fatal(err)
	}
	wire, err := fs.ReadFile(cdsp.Sources(), cdsp.Wire)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, cdsp.Wire), wire, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	clang := toolchaintest.Path(t, "llvm", "usr/bin/clang-22")
	for _, argv := range [][]string{linux.LibraryArgs(clang, root, linux.Library),
		linux.ProgramArgs(clang, root, linux.Program)} {
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %v\n%s", argv, err, out)
		}
	}
	return &phone.Linux{Root: root, Cdsprpc: filepath.Join(dir, linux.Library), Load: filepath.Join(dir, linux.Program)}
}

// dspProgram compiles the program of a device's DSP.
func dspProgram(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, cdsp.Sources()); err != nil {
		t.Fatal(err)
	}
	argv := cdsp.Args(toolchaintest.Path(t, "llvm", "usr/bin/clang-22"), cdsp.Program)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
	return filepath.Join(dir, cdsp.Program)
}
