package layout_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/store/layout"
)

func b3() digest.Digest  { return digest.BLAKE3.Bytes([]byte("x")) }
func sha() digest.Digest { return digest.SHA256.Bytes([]byte("x")) }

// all are a place of each kind, as methods give it, by the name below the root. The names are what other programs,
// older and newer versions of hexmage go by.
func all(r layout.Root) map[string]string {
	h, s := b3().Hex(), sha().Hex()
	st := r.State()
	return map[string]string{
		"blake3/cas/" + h[:2] + "/" + h:  r.File(layout.Blobs, b3()),
		"blake3/exec/" + h[:2] + "/" + h: r.File(layout.Executables, b3()),
		"cas/" + s[:2] + "/" + s:         r.File(layout.Blobs, sha()), // as Bazel has it
		"blake3/ac/" + h[:2] + "/" + h:   r.File(layout.Results, b3()),
		"ac/" + s[:2] + "/" + s:          r.File(layout.Results, sha()),
		"exec/" + s[:2] + "/" + s:        r.File(layout.Executables, sha()),
		"trees/blake3-" + h:              r.Tree(b3()),
		"trees/sha256-" + s:              r.Tree(sha()),
		"downloads/deb/x.deb":            filepath.Join(r.Downloads(), "deb", "x.deb"),
		"downloads/x.zip":                filepath.Join(r.Downloads(), "x.zip"),
		"checkpoints/x":                  filepath.Join(r.Checkpoints(), "x"),
		"damaged/x":                      filepath.Join(r.Damaged(), "x"),
		"shipped/x":                      filepath.Join(r.Shipped(), "x"),
		"tmp/x":                          filepath.Join(r.Scratch(), "x"),
		"state/logs/x":                   filepath.Join(st.Logs(), "x"),
		"state/runlog/x":                 filepath.Join(st.RunLogs(), "x"),
		"state/requests/x":               filepath.Join(st.Requests(), "x"),
		"state/statcache/blake3":         st.StatCache(digest.BLAKE3),
		"state/synced":                   st.Synced(),
		"damaged/exec-blake3-" + h:       r.Quarantine("exec-", b3()),
		"state/outputs/x.lock":           st.OutputLock("x"),
		"state/last-runs/x":              filepath.Join(st.LastRuns(), "x"),
		"state/runner/x":                 filepath.Join(st.Runner(), "x"),
		"state/actions.lock":             st.ActionsLock(),
		"state/in-use.lock":              st.InUseLock(),
		"state/tidy.lock":                st.TidyLock(),
	}
}

func TestNames(t *testing.T) {
	r := layout.Root(t.TempDir())
	for name, path := range all(r) {
		if want := filepath.Join(string(r), filepath.FromSlash(name)); path != want {
			t.Errorf("%s, want %s", path, want)
		}
	}
	if r.State().Root() != r {
		t.Errorf("the state folder is in %s", r.State().Root())
	}
	tree := r.Tree(b3())
	if r.TreeMarker(b3()) != tree+".ok" || r.TreeLock(b3()) != tree+".lock" || filepath.Dir(tree) != r.Trees() {
		t.Errorf("beside %s are %s and %s", tree, r.TreeMarker(b3()), r.TreeLock(b3()))
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
}

// each lists what Each finds, as kind, digest and name below the root.
func each(t *testing.T, r layout.Root) []string {
	t.Helper()
	var found []string
	err := r.Each(t.Context(), func(it layout.Item) error {
		rel, err := filepath.Rel(string(r), it.Path)
		if it.Info.Name() != filepath.Base(it.Path) {
			t.Errorf("%s has the info of %s", rel, it.Info.Name())
		}
		line := string(it.Kind) + " " + filepath.ToSlash(rel)
		if !it.Digest.IsZero() {
			line += " " + it.Digest.String()
		}
		found = append(found, line)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestEach(t *testing.T) {
	r := layout.In(t.TempDir())
	if got := each(t, r); len(got) > 0 {
		t.Fatalf("in an empty folder is %q", got)
	}
	for _, path := range all(r) {
		if strings.HasPrefix(path, r.Trees()) {
			write(t, filepath.Join(path, "bin", "cc"))
			continue
		}
		write(t, path)
	}
	h, s := b3().Hex(), sha().Hex()
	for _, name := range []string{"new/put-1-x", "downloads/git/repo/HEAD", "downloads/deb/lock",
		"downloads/x.zip.lock", "state/runner/y", "state/logs/p-0123/y.log",
		// Nothing of ours has such names.
		"blake3/cas/zz/" + h, "blake3/cas/" + h[:2] + "/short", "blake3/cas/" + h[:2] + "/" + strings.ToUpper(h),
		"trees/blake3-" + h + ".ok", "trees/x-" + h + "/f",
		"trees/sha256-" + h[:60], "README", "blake3/other/x", "old/x",
		// An earlier version had this.
		"../v2/state/in-use.lock",
		// These are no folders of hexmage.
		"../notes/x", "../state/in-use.lock", "../v1/x", "../v4/state/in-use.lock"} {
		write(t, filepath.Join(string(r), name))
	}
	if err := os.MkdirAll(r.File(layout.Blobs, digest.BLAKE3.Bytes(nil)), 0o755); err != nil { // a folder is no blob
		t.Fatal(err)
	}
	bare, baresha := "blake3:"+h+"/0", "sha256:"+s+"/0"
	want := []string{
		"results blake3/ac/" + h[:2] + "/" + h + " " + bare, "results ac/" + s[:2] + "/" + s + " " + baresha,
		"blobs blake3/cas/" + h[:2] + "/" + h + " " + bare, "executables blake3/exec/" + h[:2] + "/" + h + " " + bare,
		"blobs cas/" + s[:2] + "/" + s + " " + baresha, "executables exec/" + s[:2] + "/" + s + " " + baresha,
		"trees trees/blake3-" + h + " " + bare, "trees trees/sha256-" + s + " " + baresha,
		"downloads downloads/deb/x.deb", "state downloads/deb/lock", "downloads downloads/git/repo",
		"downloads downloads/x.zip", "state downloads/x.zip.lock",
		"checkpoints checkpoints/x", "damaged damaged/x", "damaged damaged/exec-blake3-" + h,
		"state shipped/x", "scratch tmp/x", "scratch new/put-1-x",
		"logs state/logs/x", "logs state/logs/p-0123/y.log", "runlogs state/runlog/x", "requests state/requests/x",
		"state state/statcache", "state state/synced", "state state/outputs", "state state/last-runs",
		"state state/runner", "state state/actions.lock", "state state/in-use.lock", "state state/tidy.lock",
		"obsolete ../v2",
	}
	got := each(t, r)
	for kinds := layout.Kinds(); len(kinds) > 0; kinds = kinds[1:] {
		if !slices.ContainsFunc(got, func(l string) bool { return strings.HasPrefix(l, string(kinds[0])+" ") }) {
			t.Errorf("there is nothing of kind %s", kinds[0])
		}
	}
	if e, b := slices.Index(got, want[3]), slices.Index(got, want[2]); e < b {
		t.Error("an executable comes before its blob")
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	stop := errors.New("stop")
	n := 0
	if err := r.Each(t.Context(), func(layout.Item) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Errorf("%v after %d", err, n)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	if err := r.Each(ctx, func(layout.Item) error { return nil }); !errors.Is(err, stop) {
		t.Error(err)
	}
}

func TestPrepare(t *testing.T) {
	r := layout.Root(filepath.Join(t.TempDir(), "a[b", "cache"))
	if err := r.Prepare(time.Hour); err != nil {
		t.Fatal(err)
	}
	run, unlock, err := r.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	old := time.Now().Add(-48 * time.Hour)
	// no process has this id
	dead := []string{filepath.Join(string(r), "new", "put-4194304-1"), filepath.Join(r.Scratch(), "run-4194304-1")}
	for _, p := range dead {
		if err := errors.Join(os.MkdirAll(p, 0o755), os.Chtimes(p, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := r.Runs()
	if err != nil || len(runs) != 2 || !slices.Contains(runs, layout.Run{Path: run, PID: os.Getpid()}) ||
		!slices.Contains(runs, layout.Run{Path: dead[1], PID: 4194304}) {
		t.Errorf("runs %v, %v", runs, err)
	}
	if err := r.Prepare(time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, p := range dead {
		if _, err := os.Stat(p); err == nil {
			t.Errorf("%s is still there", p)
		}
	}
	if _, err := os.Stat(run); err != nil {
		t.Error(err)
	}
	if runs, err := layout.Root(filepath.Join(t.TempDir(), "none")).Runs(); err != nil || len(runs) != 0 {
		t.Errorf("where nothing is are %v, %v", runs, err)
	}
}
