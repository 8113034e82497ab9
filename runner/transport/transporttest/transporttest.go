// Package transporttest has tests for implementations of transport.Device. It does not know the link to a device.
package transporttest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/transport"
)

// Run tests a device. The parameter name is the device's type, such as "adb.Device". The function drop must break the
// link. Run then tests Reconnect.
func Run(t *testing.T, name string, d transport.Device, drop func()) {
	t.Run(name, func(t *testing.T) {
		t.Run("place", func(t *testing.T) { place(t, d) })
		t.Run("shell", func(t *testing.T) { shell(t, d) })
		t.Run("output", func(t *testing.T) { output(t, d) })
		t.Run("files", func(t *testing.T) { files(t, d) })
		t.Run("ends", func(t *testing.T) { ends(t, d) })
		t.Run("drop", func(t *testing.T) { dropped(t, d, drop) })
	})
}

func place(t *testing.T, d transport.Device) {
	p := d.Place()
	if p.Serial == "" || !path.IsAbs(string(p.Folder)) {
		t.Fatalf("%+v", p)
	}
	out, err := transport.Script(t.Context(), d, `mkdir -p `+layout.Runs+` && cd `+layout.Runs+` && pwd`, nil)
	if err != nil || strings.TrimSpace(out) != p.Folder.Runs() {
		t.Errorf("working folder %q, error %v; want %q", out, err, p.Folder.Runs())
	}
}

func shell(t *testing.T, d transport.Device) {
	large := strings.Repeat("0123456789abcdef", 1<<16)
	for _, c := range []struct {
		name, command, stdin, out, errOut string
		code                              int
	}{
		{name: "apart", command: "echo out; echo err >&2; exit 3", out: "out\n", errOut: "err\n", code: 3},
		{name: "exit code of a client without a link", command: "echo err >&2; exit 255", errOut: "err\n", code: 255},
		{name: "input to its end", command: "cat; echo over", stdin: "in\n", out: "in\nover\n"},
		{name: "no input", command: "cat; echo over", out: "over\n"},
		{name: "input that is not read", command: "echo x", stdin: large, out: "x\n"},
		{name: "a lot", command: "cat", stdin: large, out: large},
		{name: "bytes", command: `printf 'a\000b\377\r\n'`, out: "a\x00b\xff\r\n"},
		{name: "lines", command: "x=1\ny=2\necho $x$y", out: "12\n"},
		{name: "quoting", command: "printf %s " + transport.Quote("it's $HOME \"`\n\\"), out: "it's $HOME \"`\n\\"},
		{name: "a signal", command: "kill -9 $$", code: 137},
		{name: "its own group", command: `read -r stat </proc/$$/stat && set -- ${stat##*)} && [ "$3" = $$ ] && echo leads`, out: "leads\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code, err := d.Shell(t.Context(), c.command, transport.Streams{Stdin: strings.NewReader(c.stdin), Stdout: &out, Stderr: &errOut})
			if err != nil || code != c.code || out.String() != c.out || errOut.String() != c.errOut {
				t.Errorf("exit code %d, error %v, stdout %.80q, stderr %.80q; want %d, %.80q, %.80q", code, err, out.String(),
					errOut.String(), c.code, c.out, c.errOut)
			}
		})
	}
	broken := errors.New("broken")
	if _, err := d.Shell(t.Context(), "echo x", transport.Streams{Stdout: failing{broken}}); !errors.Is(err, broken) || transport.Retryable(err) {
		t.Errorf("Shell did not return the error of its writer: %v", err)
	}
	if _, err := d.Shell(t.Context(), "cat", transport.Streams{Stdin: failing{broken}}); !errors.Is(err, broken) || transport.Retryable(err) {
		t.Errorf("Shell did not return the error of its reader: %v", err)
	}
}

// failing is a reader and writer that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }

func output(t *testing.T, d transport.Device) {
	if out, err := transport.Output(t.Context(), d, "tr a-z A-Z", strings.NewReader("hexagon")); err != nil || out != "HEXAGON" {
		t.Errorf("%q, %v", out, err)
	}
	_, err := transport.Output(t.Context(), d, "echo why >&2; exit 7", nil)
	exit, ok := errors.AsType[*transport.ExitError](err)
	if !ok || exit.Code != 7 || exit.Said != "why" || transport.Retryable(err) || !strings.Contains(err.Error(), d.Place().Serial) {
		t.Errorf("%v", err)
	}
}

func files(t *testing.T, d transport.Device) {
	dir := d.Place().Folder.Runs() + "/link test's " + layout.NewID()
	defer func() {
		_, _ = transport.Output(context.WithoutCancel(t.Context()), d, "rm -rf "+transport.Quote(dir), nil)
	}()
	content := bytes.Repeat([]byte("a line of it\n\x00"), 20_000)
	if _, err := transport.Output(t.Context(), d, "mkdir -p "+transport.Quote(dir+"/a")+" && cd "+transport.Quote(dir)+
		" && cat >a/x.bin && chmod 755 a/x.bin && : >-empty && ln -s a/x.bin l && ln -s nowhere dangling",
		bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]fs.FileMode{"a/x.bin": 0o755, "l": 0o755, ".": fs.ModeDir} {
		st, err := transport.Stat(t.Context(), d, dir+"/"+name)
		if err != nil || st.Mode.Type() != mode.Type() || mode != fs.ModeDir && (st.Mode != mode || st.Size != int64(len(content))) {
			t.Errorf("%s: %+v, %v", name, st, err)
		}
	}
	for _, name := range []string{"nowhere", "dangling"} {
		if _, err := transport.Stat(t.Context(), d, dir+"/"+name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	all, err := transport.Find(t.Context(), d, dir, ".")
	got := map[string]fs.FileMode{}
	for _, f := range all {
		got[f.Name] = f.Mode.Type()
	}
	want := map[string]fs.FileMode{".": fs.ModeDir, "a": fs.ModeDir, "a/x.bin": 0, "-empty": 0, "l": fs.ModeSymlink, "dangling": fs.ModeSymlink}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%+v, %v", all, err)
	}
	for _, name := range []string{"-empty", "l", "a/x.bin"} {
		if all, err := transport.Find(t.Context(), d, dir, name); err != nil || len(all) != 1 || all[0].Name != name {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
	}
	if _, err := transport.Find(t.Context(), d, dir, "nowhere"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Find with a missing file: %v; want fs.ErrNotExist", err)
	}
	if _, err := transport.Find(t.Context(), d, dir+"/nowhere", "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Find with a missing folder: %v; want fs.ErrNotExist", err)
	}
	var b bytes.Buffer
	last := int64(0)
	err = transport.Pull(t.Context(), d, dir+"/a/x.bin", &b, func(n int64) { last = n })
	if err != nil || !bytes.Equal(b.Bytes(), content) || last != int64(len(content)) {
		t.Errorf("pulled %d of %d bytes, reported %d: %v", b.Len(), len(content), last, err)
	}
	if err = transport.Pull(t.Context(), d, dir+"/nowhere", io.Discard, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Pull of a missing file: %v; want fs.ErrNotExist", err)
	}
}

func ends(t *testing.T, d transport.Device) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(200*time.Millisecond, func() { cancel(why) })
	begun := time.Now()
	if _, err := d.Shell(ctx, "sleep 30", transport.Streams{}); !errors.Is(err, why) || time.Since(begun) > 10*time.Second {
		t.Errorf("after %v: %v", time.Since(begun), err)
	}
	if _, err := transport.Output(t.Context(), d, "true", nil); err != nil {
		t.Errorf("after that: %v", err)
	}
}

func dropped(t *testing.T, d transport.Device, drop func()) {
	begun := make(chan struct{})
	go func() {
		<-begun
		drop()
	}()
	_, err := d.Shell(t.Context(), "echo begun; sleep 30", transport.Streams{Stdout: first{begun}})
	if !errors.Is(err, transport.ErrDropped) || !transport.Retryable(err) {
		t.Fatalf("a link that broke: %v", err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if err = d.Reconnect(t.Context()); err == nil {
			_, err = transport.Output(t.Context(), d, "true", nil)
		}
		if err == nil {
			return
		}
		if !transport.Retryable(err) || time.Now().After(end) {
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
