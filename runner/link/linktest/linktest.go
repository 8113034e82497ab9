// Package linktest holds every link.Device to what package link promises.
//
// It does not know how a device is reached.
package linktest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/link"
)

// Run holds a device to it; name is its type's, "adb.Device". drop breaks the link to it, as long as Reconnect can mend that.
func Run(t *testing.T, name string, d link.Device, drop func()) {
	t.Run(name, func(t *testing.T) {
		t.Run("place", func(t *testing.T) { place(t, d) })
		t.Run("shell", func(t *testing.T) { shell(t, d) })
		t.Run("output", func(t *testing.T) { output(t, d) })
		t.Run("files", func(t *testing.T) { files(t, d) })
		t.Run("ends", func(t *testing.T) { ends(t, d) })
		t.Run("drop", func(t *testing.T) { dropped(t, d, drop) })
	})
}

func place(t *testing.T, d link.Device) {
	p := d.Place()
	if p.Serial == "" || !path.IsAbs(string(p.Folder)) {
		t.Fatalf("%+v", p)
	}
	out, err := link.Script(t.Context(), d, `mkdir -p `+layout.Runs+` && cd `+layout.Runs+` && pwd`, nil)
	if err != nil || strings.TrimSpace(out) != p.Folder.Runs() {
		t.Errorf("%q, %v; want %q", out, err, p.Folder.Runs())
	}
}

func shell(t *testing.T, d link.Device) {
	large := strings.Repeat("0123456789abcdef", 1<<16)
	for _, c := range []struct {
		name, command, stdin, out, errOut string
		code                              int
	}{
		{name: "apart", command: "echo out; echo err >&2; exit 3", out: "out\n", errOut: "err\n", code: 3},
		{name: "exit code of a client without a link", command: "echo err >&2; exit 255", errOut: "err\n", code: 255},
		{name: "input to its end", command: "cat; echo over", stdin: "in\n", out: "in\nover\n"},
		{name: "no input", command: "cat; echo over", out: "over\n"},
		{name: "input that nobody reads", command: "echo x", stdin: large, out: "x\n"},
		{name: "a lot", command: "cat", stdin: large, out: large},
		{name: "bytes", command: `printf 'a\000b\377\r\n'`, out: "a\x00b\xff\r\n"},
		{name: "lines", command: "x=1\ny=2\necho $x$y", out: "12\n"},
		{name: "quoting", command: "printf %s " + link.Quote("it's $HOME \"`\n\\"), out: "it's $HOME \"`\n\\"},
		{name: "a signal", command: "kill -9 $$", code: 137},
		{name: "its own group", command: `read -r stat </proc/$$/stat && set -- ${stat##*)} && [ "$3" = $$ ] && echo leads`, out: "leads\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code, err := d.Shell(t.Context(), c.command, link.Streams{Stdin: strings.NewReader(c.stdin), Stdout: &out, Stderr: &errOut})
			if err != nil || code != c.code || out.String() != c.out || errOut.String() != c.errOut {
				t.Errorf("%d, %v, %.80q, %.80q; want %d, %.80q, %.80q", code, err, out.String(), errOut.String(), c.code, c.out, c.errOut)
			}
		})
	}
	broken := errors.New("broken")
	if _, err := d.Shell(t.Context(), "echo x", link.Streams{Stdout: failing{broken}}); !errors.Is(err, broken) || link.Retryable(err) {
		t.Errorf("a writer that fails: %v", err)
	}
	if _, err := d.Shell(t.Context(), "cat", link.Streams{Stdin: failing{broken}}); !errors.Is(err, broken) || link.Retryable(err) {
		t.Errorf("a reader that fails: %v", err)
	}
}

// failing fails to read and to write.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

func output(t *testing.T, d link.Device) {
	if out, err := link.Output(t.Context(), d, "tr a-z A-Z", strings.NewReader("hexagon")); err != nil || out != "HEXAGON" {
		t.Errorf("%q, %v", out, err)
	}
	_, err := link.Output(t.Context(), d, "echo why >&2; exit 7", nil)
	exit, ok := errors.AsType[*link.ExitError](err)
	if !ok || exit.Code != 7 || exit.Said != "why" || link.Retryable(err) || !strings.Contains(err.Error(), d.Place().Serial) {
		t.Errorf("%v", err)
	}
}

func files(t *testing.T, d link.Device) {
	dir := d.Place().Folder.Runs() + "/link test's " + layout.NewID()
	defer func() { _, _ = link.Output(context.WithoutCancel(t.Context()), d, "rm -rf "+link.Quote(dir), nil) }()
	f, err := link.OpenFiles(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	content, at, last := bytes.Repeat([]byte("a line of it\n\x00"), 20_000), time.Unix(1_000_000_000, 0), int64(0)
	if n, err := f.Push(t.Context(), dir+"/a/x.bin", 0o755, at, bytes.NewReader(content), func(n int64) { last = n }); err != nil || n == 0 || last != int64(len(content)) {
		t.Fatalf("%d carried, %d told of %d: %v", n, last, len(content), err)
	}
	if _, err := f.Push(t.Context(), dir+"/a/empty", 0o644, at, strings.NewReader(""), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := link.Output(t.Context(), d, "cd "+link.Quote(dir)+" && ln -s a/x.bin l && ln -s nowhere dangling", nil); err != nil {
		t.Fatal(err)
	}
	if st, err := f.Stat(t.Context(), dir+"/a/x.bin"); err != nil || st.Mode != 0o755 || st.Size != int64(len(content)) || !st.Modified.Equal(at) {
		t.Errorf("%+v, %v", st, err)
	}
	if st, err := f.Stat(t.Context(), dir+"/l"); err != nil || !st.Mode.IsRegular() {
		t.Errorf("through a link: %+v, %v", st, err)
	}
	if st, err := f.Lstat(t.Context(), dir+"/l"); err != nil || st.Mode.Type() != fs.ModeSymlink {
		t.Errorf("of a link: %+v, %v", st, err)
	}
	if st, err := f.Stat(t.Context(), dir); err != nil || !st.Mode.IsDir() {
		t.Errorf("of a folder: %+v, %v", st, err)
	}
	if _, err := f.Stat(t.Context(), dir+"/nowhere"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of nothing: %v", err)
	}
	all, err := f.List(t.Context(), dir)
	names := map[string]fs.FileMode{}
	for _, e := range all {
		names[e.Name] = e.Mode.Type()
	}
	if err != nil || len(all) != 3 || names["a"] != fs.ModeDir || names["l"] != fs.ModeSymlink || names["dangling"] != fs.ModeSymlink {
		t.Errorf("%+v, %v", all, err)
	}
	var got bytes.Buffer
	if err := f.Pull(t.Context(), dir+"/a/x.bin", &got, func(n int64) { last = n }); err != nil || !bytes.Equal(got.Bytes(), content) || last != int64(len(content)) {
		t.Errorf("%d bytes of %d, %d told: %v", got.Len(), len(content), last, err)
	}
	if err := f.Pull(t.Context(), dir+"/nowhere", io.Discard, nil); err == nil || link.Retryable(err) {
		t.Errorf("what is not there was pulled: %v", err)
	}
	overwrites(t, d, f, dir)
	broken := errors.New("broken")
	if _, err := f.Push(t.Context(), dir+"/half", 0o644, at, io.MultiReader(strings.NewReader("half"), failing{broken}), nil); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
	if f, err = link.OpenFiles(t.Context(), d); err != nil { // as it is with files of which one failed
		t.Fatal(err)
	}
	defer f.Close()
	// A daemon removes half a file when it sees its connection end, which no reply tells.
	deadline := time.Now().Add(10 * time.Second)
	for _, err = f.Stat(t.Context(), dir+"/half"); err == nil && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
		_, err = f.Stat(t.Context(), dir+"/half")
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a file is there: %v", err)
	}
	_, err = f.Push(t.Context(), "/proc/nothing/x", 0o644, at, strings.NewReader("x"), nil)
	if _, ok := errors.AsType[*link.FileError](err); !ok || link.Retryable(err) {
		t.Errorf("pushed to where nothing can be: %v", err)
	}
}

// overwrites pushes to names that have a file already: it is gone, and not written into.
func overwrites(t *testing.T, d link.Device, f link.Files, dir string) {
	if _, err := link.Output(t.Context(), d, "cd "+link.Quote(dir)+" && echo old >one && ln one two && ln -s one three && echo old >fast && chmod 444 fast", nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "three", "fast"} {
		if _, err := f.Push(t.Context(), dir+"/"+name, 0o644, time.Unix(1_000_000_000, 0), strings.NewReader("new of "+name), nil); err != nil {
			t.Errorf("over %s: %v", name, err)
		}
	}
	out, err := link.Output(t.Context(), d, "cd "+link.Quote(dir)+" && for f in one two three fast; do cat $f && echo; done && rm -f one two three fast", nil)
	if want := "new of one\nold\n\nnew of three\nnew of fast\n"; err != nil || out != want {
		t.Errorf("%q, %v; want %q", out, err, want)
	}
}

func ends(t *testing.T, d link.Device) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(200*time.Millisecond, func() { cancel(why) })
	begun := time.Now()
	if _, err := d.Shell(ctx, "sleep 30", link.Streams{}); !errors.Is(err, why) || time.Since(begun) > 10*time.Second {
		t.Errorf("after %v: %v", time.Since(begun), err)
	}
	if _, err := link.Output(t.Context(), d, "true", nil); err != nil {
		t.Errorf("after that: %v", err)
	}
}

func dropped(t *testing.T, d link.Device, drop func()) {
	begun := make(chan struct{})
	go func() {
		<-begun
		drop()
	}()
	_, err := d.Shell(t.Context(), "echo begun; sleep 30", link.Streams{Stdout: first{begun}})
	if !errors.Is(err, link.ErrDropped) || !link.Retryable(err) {
		t.Fatalf("a link that broke: %v", err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if err = d.Reconnect(t.Context()); err == nil {
			_, err = link.Output(t.Context(), d, "true", nil)
		}
		if err == nil {
			return
		}
		if !link.Retryable(err) || time.Now().After(end) {
			t.Fatalf("it does not come back: %v", err)
		}
	}
}

// first closes a channel with the first write.
type first struct{ written chan struct{} }

func (f first) Write(b []byte) (int, error) {
	select {
	case <-f.written:
	default:
		close(f.written)
	}
	return len(b), nil
}
