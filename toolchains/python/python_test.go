package python

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/toolchains/sources/pypi"
)

// TestAsked: what an environment may be asked for, and that each part of it makes another one.
func TestAsked(t *testing.T) {
	base := Asked{Python: "3.11", Requirements: []string{"numpy==2.4.6", "onnx[reference]>=1.23,<2", "# a comment", "", "six; python_version < '4' # another", "torch==2.6.0+cpu", "a ~=1.0"}}.Clean()
	if err := base.Check(); err != nil || len(base.Requirements) != 5 || base.Requirements[2] != "six; python_version < '4'" {
		t.Errorf("%+v, %v", base, err)
	}
	seen := map[string]bool{base.Digest(): true}
	for name, change := range map[string]func(a *Asked){
		"python": func(a *Asked) { a.Python = "3.12" }, "requirements": func(a *Asked) { a.Requirements = a.Requirements[1:] },
		"overrides": func(a *Asked) { a.Overrides = []string{"six==1.16.0"} }, "exclude_newer": func(a *Asked) { a.ExcludeNewer = "2026-11-20" }, "index": func(a *Asked) { a.Index = "https://x.example/simple" },
	} {
		a := base
		change(&a)
		if err := a.Check(); err != nil || seen[a.Digest()] {
			t.Errorf("%s: the digest is that of another, or %v", name, err)
		}
		seen[a.Digest()] = true
	}
	for name, change := range map[string]func(a *Asked){
		"python": func(a *Asked) { a.Python = "3" }, "python 2": func(a *Asked) { a.Python = "2.7" }, "exclude_newer": func(a *Asked) { a.ExcludeNewer = "yesterday" },
		"option": func(a *Asked) { a.Requirements = []string{"--index-url https://x.example"} }, "file": func(a *Asked) { a.Requirements = []string{"-r more.txt"} },
		"address": func(a *Asked) { a.Requirements = []string{"six @ https://x.example/six.whl"} }, "folder": func(a *Asked) { a.Requirements = []string{"./six"} },
		"two lines": func(a *Asked) { a.Requirements = []string{"six\n-r x"} }, "override": func(a *Asked) { a.Overrides = []string{"-e ."} }, "hash": func(a *Asked) { a.Requirements = []string{"six==1 --hash=sha256:00"} },
	} {
		a := base
		change(&a)
		if err := a.Check(); err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestParse: one wheel of each package is read from a lock that uv writes.
func TestParse(t *testing.T) {
	a, b := strings.Repeat("a", 64), strings.Repeat("b", 64)
	wheel := func(file, more, sum string) string {
		return `{ url = "https://i.example/` + file + `"` + more + `, hashes = { sha256 = "` + sum + `" } }`
	}
	pack := func(name string, wheels ...string) string {
		return "[[packages]]\nname = \"" + name + "\"\nversion = \"1\"\nwheels = [" + strings.Join(wheels, ", ") + "]\n"
	}
	const of28, of17 = "x-1-cp311-cp311-manylinux_2_28_x86_64.whl", "x-1-cp311-cp311-manylinux2014_x86_64.whl"
	const abi3 = "x-1-cp37-abi3-manylinux_2_28_x86_64.whl"
	got, err := parse([]byte("lock-version = \"1.0\"\n" + pack("six", wheel("six-1-py3-none-any.whl", ", size = 5", a)) +
		pack("x", wheel("x-1-py3-none-any.whl", "", a), wheel(of28, "", b), wheel(of28, ", size = 7", b), wheel(of17, "", a), wheel(abi3, "", a)) +
		pack("m", wheel("m-1-py39-none-any.whl", "", a), wheel("m-1-py313-none-any.whl", "", b)) +
		pack("torch", wheel("torch-1%2Bcpu-cp311-cp311-linux_x86_64.whl", "", b))))
	want := []pypi.Wheel{{Project: "six", Version: "1", File: "six-1-py3-none-any.whl", Size: 5, SHA256: a}, {Project: "x", Version: "1", File: of28, Size: 7, SHA256: b},
		{Project: "m", Version: "1", File: "m-1-py313-none-any.whl", SHA256: b}, {Project: "torch", Version: "1+cpu", File: "torch-1+cpu-cp311-cp311-linux_x86_64.whl", SHA256: b}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for _, bad := range []string{"packages", pack("six"), pack("six", `{ url = "https://i.example/six-1-py3-none-any.whl" }`),
		pack("x", wheel("x-1-cp311-cp311-manylinux_2_28_aarch64.whl", "", a))} {
		if _, err := parse([]byte(bad)); err == nil {
			t.Errorf("%q has no error", bad)
		}
	}
}

// TestIndexes: uv is told of the machine's indexes in pip's order, and what it says of them has no address.
func TestIndexes(t *testing.T) {
	c, err := pypi.ReadConfig(func(name string) string {
		return map[string]string{"PIP_CONFIG_FILE": os.DevNull, "PIP_INDEX_URL": "https://ana:s3cret@one.example/simple", "PIP_EXTRA_INDEX_URL": "https://two.example:8443/simple", "PIP_FIND_LINKS": "/räder#1 file:///links.html"}[name]
	}, "", "")
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	hide := indexes(c, &env)
	want := []string{"UV_FIND_LINKS=/räder#1,file:///links.html", "UV_DEFAULT_INDEX=https://two.example:8443/simple", "UV_INDEX=https://ana:s3cret@one.example/simple"}
	if diff := cmp.Diff(want, env); diff != "" {
		t.Error(diff)
	}
	if got := hide.Replace("failed: https://one.example/simple/six/ and two.example:8443, password s3cret"); strings.Contains(got, "example") || strings.Contains(got, "s3cret") || !strings.Contains(got, "PIP_INDEX_URL") {
		t.Error(got)
	}
}

// TestSecrets: no spelling of a login is repeated, and none is sent for everybody to read.
func TestSecrets(t *testing.T) {
	read := func(index string) pypi.Config {
		c, err := pypi.ReadConfig(func(name string) string {
			return map[string]string{"PIP_CONFIG_FILE": os.DevNull, "PIP_INDEX_URL": index, "PIP_PROXY": "http://ana:pr0xy@proxy.example:3128"}[name]
		}, "", "")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for index, said := range map[string]string{"https://t0ken@one.example/simple": "t0ken", "https://ana:s3%40cret@one.example/simple": "s3%40cret"} {
		var env []string
		hide := indexes(read(index), &env)
		if got := hide.Replace("failed: " + index + "/six/ by http://ana:pr0xy@proxy.example:3128"); strings.Contains(got, said) || strings.Contains(got, "pr0xy") || strings.Contains(got, "one.example") {
			t.Error(got)
		}
	}
	asked := Asked{Python: "3.11", Requirements: []string{"six"}}
	if _, err := Resolve(t.Context(), asked, "/nowhere/uv", "", t.TempDir(), read("http://ana:s3cret@one.example/simple"), nil); !errors.Is(err, pypi.ErrLogin) || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a login over http: %v", err)
	}
}

// TestRelocated: scripts of an interpreter find it beside themselves; others are left alone.
func TestRelocated(t *testing.T) {
	dir := t.TempDir()
	for body, want := range map[string]string{
		"#!/tmp/exec/python/bin/python3\nimport x\n":                                             "\nimport x\n",
		"#!/bin/sh\n'''exec' '/tmp/exec/python/bin/python3.13' \"$0\" \"$@\"\n' '''\nimport x\n": "\nimport x\n",
		"#!/usr/bin/perl\nprint\n":                                                               "",
		"\x7fELF":                                                                                "",
	} {
		name := filepath.Join(dir, "script")
		if err := os.WriteFile(name, []byte(body), 0o755); err != nil {
			t.Fatal(err)
		}
		got, err := relocated(name, "/tmp/exec/python/bin/python3")
		if err != nil || (want == "") != (got == nil) || want != "" && (!strings.HasSuffix(string(got), want) || !strings.Contains(string(got), `$(dirname -- "$0")/python3`) || strings.Contains(string(got), "/tmp/exec")) {
			t.Errorf("%q: %q, %v", body, got, err)
		}
	}
}
