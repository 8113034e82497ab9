package patches_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/patches"
)

// snapshot reads all files of a folder with their permissions.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil || d.IsDir() {
			files[rel+"/"] = ""
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(p)
		files[rel] = fmt.Sprintf("%o %s", info.Mode().Perm(), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// gitSeries has one patch of each sort of change, then a rename.
func gitSeries() fstest.MapFS {
	return fstest.MapFS{
		"1-2/rules.hcl": {Data: []byte("rename \"x\" {\n from = \"old_name\"\n to = \"new_name\"\n files = [\"**/*.cpp\"]\n expect {\n min = 1\n max = 9\n }\n}\n")},
		"1-2/0001-all.patch": {Data: []byte(`diff --git a/deep/er/new.cpp b/deep/er/new.cpp
new file mode 100755
--- /dev/null
+++ b/deep/er/new.cpp
@@ -0,0 +1 @@
+int old_name;
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/was.txt b/is.txt
similarity index 100%
rename from was.txt
rename to is.txt
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
`)},
		"1-2/0002-text.patch": {Data: []byte("--- a/a.cpp\n+++ b/a.cpp\n@@ -2,2 +2,2 @@\n two\n-three\n+old_name\n")},
	}
}

func gitSource() map[string]string {
	return map[string]string{"gone.txt": "gone\n", "was.txt": "as is\n", "run.sh": "#!/bin/sh\n", "a.cpp": "one\ntwo\nthree\n", "other/x": "x\n"}
}

func gitResult() map[string]string {
	return map[string]string{"/": "", "./": "", "deep/": "", "deep/er/": "", "other/": "", "deep/er/new.cpp": "755 int new_name;\n", "is.txt": "644 as is\n", "run.sh": "755 #!/bin/sh\n",
		"a.cpp": "644 one\ntwo\nnew_name\n", "other/x": "644 x\n"}
}

// TestInPlace: all sorts of changes, in the source itself; what a patch does not touch keeps its bytes and time.
func TestInPlace(t *testing.T) {
	dir := write(t, gitSource())
	long := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Chmod(filepath.Join(dir, "a.cpp"), 0o660), os.Chtimes(filepath.Join(dir, "other/x"), long, long)); err != nil {
		t.Fatal(err)
	}
	r := patches.Request{Source: dir, Series: "s", SeriesFS: gitSeries()}
	if _, err := patches.ApplyInPlace(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	want := gitResult()
	delete(want, "/")
	want["a.cpp"] = "660 one\ntwo\nnew_name\n"
	if diff := cmp.Diff(want, snapshot(t, dir)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(filepath.Join(dir, "other/x")); err != nil || !info.ModTime().Equal(long) {
		t.Errorf("other/x was written: %v", err)
	}
	report, err := patches.ApplyInPlace(t.Context(), r)
	if err != nil || len(report.Changed) != 0 {
		t.Errorf("a second time: %v\n%s", err, report.Text())
	}
}

// TestDiffIsWhatApplyDoes: git and hexmage come to the same tree, and git can take it back.
func TestDiffIsWhatApplyDoes(t *testing.T) {
	dir := write(t, gitSource())
	before := snapshot(t, dir)
	r := patches.Request{Source: dir, Series: "s", SeriesFS: gitSeries()}
	diff, report, err := patches.Diff(t.Context(), r)
	if err != nil || len(report.Changed) == 0 {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, snapshot(t, dir)); d != "" {
		t.Errorf("Diff changed the source:\n%s", d)
	}
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"apply"}, args...)...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(string(diff))
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git apply: %v\n%s\n%s", err, out, diff)
		}
	}
	git()
	want := gitResult()
	delete(want, "/")
	if d := cmp.Diff(want, snapshot(t, dir)); d != "" {
		t.Errorf("git's tree (-want +got):\n%s", d)
	}
	git("-R")
	if d := cmp.Diff(before, snapshot(t, dir)); d != "" {
		t.Errorf("after git apply -R (-want +got):\n%s", d)
	}
	if r.Source = t.TempDir(); true {
		if diff, _, err := patches.Diff(t.Context(), patches.Request{Source: r.Source, SeriesFS: fstest.MapFS{"1-2/rules.hcl": {Data: []byte("")}}}); err != nil || len(diff) != 0 {
			t.Errorf("nothing to do: %q, %v", diff, err)
		}
	}
}

// TestAllOrNothing: a series whose last patch does not fit, or whose rule does not, changes nothing, also in place; both sides
// of the conflict are shown.
func TestAllOrNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(files map[string]string, s fstest.MapFS)
		want   []string
	}{
		"the last patch": {func(files map[string]string, s fstest.MapFS) { files["a.cpp"] = "one\ntwo\n3\n" },
			[]string{"patch 0002-text.patch: a.cpp: hunk 1 (@@ -2,2 +2,2 @@)", "  -     3 | three", "  +     3 | 3"}},
		"a rule": {func(files map[string]string, s fstest.MapFS) {
			s["1-2/rules.hcl"] = &fstest.MapFile{Data: []byte("rename \"x\" {\n from = \"old_name\"\n to = \"new_name\"\n files = [\"**\"]\n expect {\n max = 1\n }\n}\n")}
		}, []string{"2 places of old_name and 0 of new_name, expected 0 to 1", "a.cpp:3:1", "deep/er/new.cpp:1:5"}},
		"a file that can't be read as C++": {func(files map[string]string, s fstest.MapFS) { files["a.cpp"] = "one\ntwo\nthree\n/* old_name" },
			[]string{"a.cpp:4:1: comment is never closed"}},
		"a file in the way": {func(files map[string]string, s fstest.MapFS) { files["deep/er/new.cpp.hexmage-new"] = "" },
			[]string{"deep/er/new.cpp.hexmage-new: left over from an earlier run"}},
	} {
		t.Run(name, func(t *testing.T) {
			files, s := gitSource(), gitSeries()
			tt.change(files, s)
			dir := write(t, files)
			before := snapshot(t, dir)
			_, err := patches.ApplyInPlace(t.Context(), patches.Request{Source: dir, Series: "s", SeriesFS: s})
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("ApplyInPlace = %v\nwant %s", err, want)
				}
			}
			if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
				t.Errorf("the source changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestConflictReport: what was not tried is told.
func TestConflictReport(t *testing.T) {
	s := gitSeries()
	s["1-2/0003-more.patch"] = s["1-2/0002-text.patch"]
	files := gitSource()
	files["a.cpp"] = "1\n2\n3\n"
	report, err := patches.Check(t.Context(), patches.Request{Source: write(t, files), Series: "s", SeriesFS: s})
	var states []string
	for _, p := range report.Patches {
		states = append(states, p.File+" "+p.State)
	}
	if diff := cmp.Diff([]string{"0001-all.patch applied", "0002-text.patch does not fit", "0003-more.patch not tried"}, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if err == nil || !strings.Contains(err.Error(), "+     3 | 3") {
		t.Error(err)
	}
}

// manyFiles writes n C++ files of about 100 lines, some of which have a call, a comment and a string with the getter.
func manyFiles(t testing.TB, n int) (dir string, calls, size int) {
	t.Helper()
	dir = t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "// source %d\n#include \"HTP/core/tensor.h\"\n#include <cmath>\n\n", i)
		for f := range 10 {
			fmt.Fprintf(&b, "template <typename T>\nstatic float fn_%d_%d(const T &in, const float *p, size_t n) {\n  float acc = 1.0e-%df; /* starts small */\n", i, f, f+1)
			for l := range 5 {
				fmt.Fprintf(&b, "  for (size_t i = %d; i < n; ++i) acc += p[i] * 0x%xu + std::exp(acc); // \"step\" %d\n", random.IntN(8), random.Uint32(), l)
			}
			if i%200 == 0 && f == 7 {
				b.WriteString("  acc *= in.get_interface_scale(); // was get_interface_scale()\n  log(\"get_interface_scale()\");\n")
				calls++
			}
			b.WriteString("  return acc;\n}\n\n")
		}
		file := filepath.Join(dir, "src", fmt.Sprint("d", i%40), fmt.Sprintf("f%04d.cpp", i))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		size += b.Len()
	}
	return dir, calls, size
}

// TestManyFiles: the shipped series on 2,000 files takes seconds at most, and so it does when every file has to be cut into tokens.
func TestManyFiles(t *testing.T) {
	dir, calls, size := manyFiles(t, 2000)
	r := request(t, nil, newHeader)
	r.Source = dir
	for name, fsys := range map[string]fs.FS{
		"mllm": r.SeriesFS,
		"every file": fstest.MapFS{"1-2/rules.hcl": {Data: []byte("rename \"x\" {\n from = \"acc\"\n to = \"sum\"\n files = [\"**\"]\n expect {\n max = 1000000\n }\n}\n" +
			"rename \"y\" {\n from = \"get_interface_scale\"\n to = \"interface_scale\"\n receiver = \"Tensor\"\n files = [\"**\"]\n expect {\n max = 1000000\n }\n}\n")}},
	} {
		r.SeriesFS = fsys
		start := time.Now()
		report, err := patches.Check(t.Context(), r)
		took := time.Since(start)
		if err != nil {
			t.Fatal(err)
		}
		renamed := 0
		for _, n := range report.Rules {
			if n.From == "get_interface_scale" {
				renamed += len(n.Changed)
			}
		}
		if renamed != calls || calls != 10 {
			t.Errorf("%s: %d calls renamed, want %d", name, renamed, calls)
		}
		t.Logf("%s: 2,000 files, %d MB, %d changed: %v", name, size>>20, len(report.Changed), took)
		if took > 30*time.Second { // seconds; with room for a machine that does much else
			t.Errorf("%s: took %v", name, took)
		}
	}
}

// TestMllm checks a clone of upstream: main, whose calls are renamed, and the last commit of v1 before the rename. The
// sources are not ours to ship, so the clone is the caller's.
func TestMllm(t *testing.T) {
	clone := os.Getenv("HEXMAGE_TEST_MLLM")
	if clone == "" {
		t.Skip("HEXMAGE_TEST_MLLM names no clone of mllm")
	}
	tree := func(rev string, folders ...string) string {
		t.Helper()
		dir := t.TempDir()
		cmd := exec.Command("sh", append([]string{"-c", `clone=$1 rev=$2 dir=$3; shift 3; git -C "$clone" archive "$rev" "$@" | tar -x -C "$dir"`, "sh", clone, rev, dir}, folders...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git archive %s: %v\n%s", rev, err, out)
		}
		return dir
	}
	checkout := func(rev, folder string) string {
		t.Helper()
		return filepath.Join(tree(rev, folder), folder)
	}
	t.Run("before the rename", func(t *testing.T) {
		r := request(t, nil, newHeader)
		r.Source = checkout("71d7a680", "src/backends/qnn/LLaMAOpPackageHtp/LLaMAPackage")
		checkTenCalls(t, r, "src/ops/")
	})
	t.Run("main with an old SDK", func(t *testing.T) {
		r := request(t, nil, oldHeader)
		r.Source = checkout("main", "mllm/backends/qnn/custom-op-package/LLaMAPackage")
		report, err := patches.Apply(t.Context(), r)
		if err != nil || len(report.Changed) != 3 {
			t.Errorf("changed %q, %v", report.Changed, err)
		}
	})
	// Upstream mended it with two names of its own in 6f931385; what is built by default has that.
	t.Run("one name for the tensors of all layers", func(t *testing.T) {
		for rev, want := range map[string]int{"6f931385^": 2, "bbf87ffb": 0} {
			r := request(t, nil, newHeader)
			r.Source = tree(rev, "src/backends/qnn")
			var err error
			if r.SeriesFS, err = patches.Shipped("mllm-v1"); err != nil {
				t.Fatal(err)
			}
			report, err := patches.Apply(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			places := 0
			for _, e := range report.Rules {
				places += len(e.Changed)
			}
			text := read(t, r.Out, "src/backends/qnn/op/QNNLinearINT8.cpp")
			if places != want || strings.Contains(text, ".name = \"Inception") {
				t.Errorf("%s: %d places, want %d\n%s", rev, places, want, report.Text())
			}
			if want > 0 && (!strings.Contains(text, `.name = strdup((name() + ".stride").c_str()),`) || !strings.Contains(text, `.name = strdup((name() + ".pad").c_str()),`)) {
				t.Errorf("%s: no name of the layer's", rev)
			}
		}
	})
	t.Run("main's runners", func(t *testing.T) { // few places in three files of the whole tree
		r := request(t, nil, newHeader)
		r.Source = tree("main", "mllm/backends/qnn/aot_rt", "examples")
		var err error
		if r.SeriesFS, err = patches.Shipped("mllm-aot"); err != nil {
			t.Fatal(err)
		}
		report, err := patches.Apply(t.Context(), r)
		if err != nil || !cmp.Equal(report.Changed, []string{"examples/llama_qnn_aot/aot_run.cpp", "examples/qwen2_qnn_aot/aot_run.cpp", "mllm/backends/qnn/aot_rt/QnnAOTRuntime.hpp"}) {
			t.Errorf("changed %q, %v", report.Changed, err)
		}
		for _, e := range report.Rules {
			if len(e.Changed) != 1 {
				t.Errorf("%s changes %d places", e.Rule, len(e.Changed))
			}
		}
	})
	t.Run("main with a new SDK", func(t *testing.T) {
		r := request(t, nil, newHeader)
		r.Source = checkout("main", "mllm/backends/qnn/custom-op-package/LLaMAPackage")
		if report, err := patches.Apply(t.Context(), r); err != nil || len(report.Changed) != 0 {
			t.Errorf("changed %q, %v", report.Changed, err)
		}
	})
}
