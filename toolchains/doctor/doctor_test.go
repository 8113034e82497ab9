package doctor_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/toolchains"
	"github.com/hexmage/hexmage/toolchains/doctor"
)

func options(t *testing.T) doctor.Options {
	t.Helper()
	c, diags := toolchains.Builtin()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	l, diags := toolchains.BuiltinLock()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return doctor.Options{Catalogue: c, Lock: l, Machine: toolchains.Machine{LookPath: exec.LookPath}, Store: filepath.Join(t.TempDir(), "not", "there")}
}

func find(t *testing.T, fs []doctor.Finding, name string) doctor.Finding {
	t.Helper()
	for _, f := range fs {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("nothing is said of %s: %+v", name, fs)
	return doctor.Finding{}
}

func TestThisMachine(t *testing.T) {
	fs := doctor.Examine(t.Context(), options(t))
	for _, f := range fs {
		if f.Detail == "" || f.Status != doctor.OK && f.Status != doctor.Missing && f.Status != doctor.Optional {
			t.Errorf("%+v says nothing", f)
		}
		if f.Status == doctor.Missing && f.Remedy == "" {
			t.Errorf("%s is missing and nothing is said about how to get it", f.Name)
		}
	}
	for _, n := range []string{"open: llvm", "open: qairt", "open: mllm"} {
		if f := find(t, fs, n); f.Status != doctor.OK {
			t.Errorf("%+v: the open profile needs nothing but packages and hexmage", f)
		}
	}
	if f := find(t, fs, "device: ndk"); f.Status != doctor.OK || !strings.Contains(f.Detail, "download") {
		t.Errorf("%+v", f)
	}
	if f := find(t, fs, "device: qairt"); f.Status != doctor.Optional || !strings.Contains(f.Remedy, "hexmage lock") {
		t.Errorf("%+v: want one that says to lock", f)
	}
}

func TestBareMachine(t *testing.T) {
	o := options(t)
	o.Machine, o.Profile, o.AptLists = toolchains.Machine{}, "device", t.TempDir()
	fs := doctor.Examine(t.Context(), o)
	if f := find(t, fs, "apt-get"); f.Status != doctor.Missing || !strings.Contains(f.Remedy, "installed") {
		t.Errorf("%+v", f)
	}
	if f := find(t, fs, "make"); f.Status != doctor.Optional {
		t.Errorf("%+v", f)
	}
	if f := find(t, fs, "device: qairt"); f.Status != doctor.Missing {
		t.Errorf("%+v", f)
	}
	for _, f := range fs {
		if strings.HasPrefix(f.Name, "open:") {
			t.Errorf("%s was not asked for", f.Name)
		}
	}
}
