//go:build linux

package qairt_test

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
)

// TestFirstRun: the kit runs each flow, keeps exit codes and logs, and hides names of this machine, its user and its
// phones.
func TestFirstRun(t *testing.T) {
	script := filepath.Join(Repo(), "examples", "first-run.sh")
	if n := strings.Count(Read(t, script), "\n"); n > 60 {
		t.Errorf("the script has %d lines, of 60", n)
	}
	dir, home := t.TempDir(), t.TempDir()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(home, "hexmage")
	text := `#!/bin/sh
case "$*" in
*json*) echo '{"serial":"R5CX123/x","state":"device"}' ;;
*run*onnx-htp*)
  mkdir -p out/onnx-htp/contexts.a16w8
  echo "in $PWD: $*" >out/onnx-htp/contexts.a16w8/report.json
  echo "phone R5CX123/x of qairt@2.48.40 at $HOME/sdk in $PWD on ` + host + `, ssh://me@10.1.2.3:22, 192.168.1.9:5555"
  exit 3
  ;;
*) echo "hexmage $*" ;;
esac
`
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", script, "net.onnx", "samples")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + home, "HEXMAGE=" + program}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "attach it to an issue") {
		t.Fatalf("%v: %s", err, out)
	}
	files := unpacked(t, filepath.Join(dir, "hexmage-first-run.tar.gz"))
	want := "phone SERIAL of qairt@2.48.40 at HOME/sdk in WORKSPACE on HOST, BOARD ADDRESS\nexit code 3\n"
	if got := files["run-qairt.txt"]; !strings.HasSuffix(got, want) && host != "" {
		t.Errorf("want %q at the end, got %q", want, got)
	}
	for name, want := range map[string]string{"run-qairt-contexts.a16w8-report.json": "in WORKSPACE: run --keep-going",
		"run-profile-contexts.a16w8-report.json": "--var profiling=basic"} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s: want %q, got %q", name, want, files[name])
		}
	}
	for _, name := range []string{"version.txt", "machine.txt", "devices.txt", "doctor.txt", "plan-qairt.txt",
		"run-profile.txt", "plan-onnx-device.txt", "run-onnx-device.txt"} {
		if files[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
	if !strings.Contains(files["outcomes.txt"], "run-qairt 3\n") || !strings.Contains(files["plan-qairt.txt"],
		"graph=net.onnx --var samples=samples") {
		t.Errorf("%q", files)
	}
}

func unpacked(t *testing.T, archive string) map[string]string {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(h.Name)] = string(data)
	}
}
