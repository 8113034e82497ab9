//go:build linux

package adb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/link"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// TestTransfers moves files of all kinds in every version of the protocol that device and server agree on, through the real server.
func TestTransfers(t *testing.T) {
	t.Parallel()
	s := phonetest.Server(t)
	e := phonetest.Start(t, phonetest.Image(t, nil), nil)
	if err := s.Connect(t.Context(), e.Addr()); err != nil {
		t.Fatal(err)
	}
	device, err := s.Device(e.Addr()).Features(t.Context())
	if err != nil || !slices.Contains(device, "sendrecv_v2_zstd") || !slices.Contains(device, "stat_v2") {
		t.Fatalf("the server hands through of the device's features: %q, %v", device, err)
	}
	host, err := s.HostFeatures(t.Context())
	if err != nil || !slices.Contains(host, "shell_v2") {
		t.Fatalf("features of the server: %q, %v", host, err)
	}
	t.Logf("the server announces %q", host)
	noise := make([]byte, 3<<20+7)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise)
	text := []byte(strings.Repeat("a model's tokenizer has many words\n", 60000))
	at := time.Unix(1700000000, 0)
	for _, c := range []struct {
		name   string
		client *adb.Client
		packs  bool // compressible files shrink
	}{
		{"the server as it is", s.Client, slices.Contains(host, "sendrecv_v2_zstd")},
		{"a newer server", phonetest.Newer(t, s, "shell_v2,sendrecv_v2,sendrecv_v2_brotli,sendrecv_v2_lz4,sendrecv_v2_zstd"), true},
	} {
		for _, f := range []struct {
			name    string
			content []byte
			shrinks bool
		}{{"empty", nil, false}, {"tiny", []byte("x"), false}, {"text", text, true}, {"noise", noise, false}, {"both", append(bytes.Clone(text), noise...), true}} {
			t.Run(c.name+"/"+f.name, func(t *testing.T) {
				y, err := c.client.Device(e.Addr()).Sync(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer y.Close()
				const path = "/data/local/tmp/f/x"
				var last int64
				if err := y.Push(t.Context(), path, 0o755, at, bytes.NewReader(f.content), func(n int64) { last = n }); err != nil {
					t.Fatal(err)
				}
				size := int64(len(f.content))
				if last != size || y.Sent() > size || (y.Sent() < size) != (c.packs && f.shrinks) {
					t.Errorf("%d bytes: progress ended at %d, %d travelled", size, last, y.Sent())
				}
				if st, err := y.Stat(t.Context(), path); err != nil || st.Size != size || st.Mode != 0o755 || !st.Modified.Equal(at) {
					t.Errorf("stat: %+v, %v", st, err)
				}
				var back bytes.Buffer
				if err := y.Pull(t.Context(), path, &back, nil); err != nil || !bytes.Equal(back.Bytes(), f.content) {
					t.Errorf("%d bytes came back, %v", back.Len(), err)
				}
				var denied *link.FileError
				if err := y.Pull(t.Context(), "/nowhere", io.Discard, nil); !errors.As(err, &denied) {
					t.Errorf("pull of nothing: %v", err)
				}
				if err := y.Push(t.Context(), "/system/x", 0o644, at, bytes.NewReader(f.content), nil); !errors.As(err, &denied) {
					t.Errorf("push to a read-only file system: %v", err)
				}
			})
		}
	}
}

func TestLinksOnTheDevice(t *testing.T) {
	t.Parallel()
	d := phonetest.Device(t, phonetest.Image(t, nil), nil)
	if _, err := link.Output(t.Context(), d, "cd /data/local/tmp && mkdir d && echo abc >d/f && ln -s d/f l && ln -s nowhere x", nil); err != nil {
		t.Fatal(err)
	}
	y, err := d.Sync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer y.Close()
	const dir = "/data/local/tmp/"
	if st, err := y.Stat(t.Context(), dir+"l"); err != nil || !st.Mode.IsRegular() || st.Size != 4 {
		t.Errorf("stat: %+v, %v", st, err)
	}
	if st, err := y.Lstat(t.Context(), dir+"l"); err != nil || st.Mode&fs.ModeSymlink == 0 {
		t.Errorf("lstat: %+v, %v", st, err)
	}
	if _, err := y.Stat(t.Context(), dir+"x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stat of a link to nothing: %v", err)
	}
	if _, err := y.Lstat(t.Context(), dir+"x"); err != nil {
		t.Errorf("lstat of a link to nothing: %v", err)
	}
}

func TestTrack(t *testing.T) {
	t.Parallel()
	s := phonetest.Server(t)
	e := phonetest.Start(t, phonetest.Image(t, nil), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	lists := make(chan []adb.Info, 100)
	ended := make(chan error, 1)
	go func() {
		var last error
		for all, err := range s.Track(ctx) {
			if last = err; err == nil {
				lists <- all
			}
		}
		ended <- last
	}()
	await := func(what string, ok func([]adb.Info) bool) {
		t.Helper()
		for {
			select {
			case all := <-lists:
				if ok(all) {
					return
				}
			case <-ctx.Done():
				t.Fatalf("%s: never seen", what)
			}
		}
	}
	await("no device", func(all []adb.Info) bool { return len(all) == 0 })
	if err := s.Connect(ctx, e.Addr()); err != nil {
		t.Fatal(err)
	}
	await("a device", func(all []adb.Info) bool {
		return len(all) == 1 && all[0].Usable() && all[0].Serial == e.Addr() && all[0].Props["model"] != ""
	})
	if err := s.Disconnect(ctx, e.Addr()); err != nil {
		t.Fatal(err)
	}
	await("a device that went away", func(all []adb.Info) bool { return len(all) == 0 })
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("at the end: %v", err)
	}
	// A server that goes away is an error, told once.
	n := 0
	var last error
	time.AfterFunc(100*time.Millisecond, func() { s.Close() })
	for all, err := range s.Track(t.Context()) {
		if err == nil && len(all) > 1 {
			t.Errorf("%v", all)
		}
		n, last = n+1, err
	}
	if n < 2 || !errors.Is(last, link.ErrDropped) {
		t.Errorf("%d lists, the last with %v", n, last)
	}
}

func TestForward(t *testing.T) {
	t.Parallel()
	d := phonetest.Device(t, phonetest.Image(t, nil), nil)
	if _, err := link.Output(t.Context(), d, "ifconfig lo up; nc -ll -p 4000 -e /system/bin/sh -c 'read -r x; echo got $x' >/dev/null 2>&1 </dev/null &", nil); err != nil {
		t.Fatal(err)
	}
	at, err := d.Forward(t.Context(), "tcp:0", "tcp:4000")
	if err != nil || !strings.HasPrefix(at, "tcp:") || at == "tcp:0" {
		t.Fatalf("%q, %v", at, err)
	}
	if all, err := d.Forwards(t.Context()); err != nil || !slices.Equal(all, []adb.Forwarded{{Serial: d.Place().Serial, Local: at, Remote: "tcp:4000"}}) {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := d.Forward(t.Context(), at, "tcp:4001"); err == nil || link.Retryable(err) {
		t.Errorf("over one that is there: %v", err)
	}
	said := ""
	for end := time.Now().Add(10 * time.Second); said == "" && time.Now().Before(end); { // until nc listens
		nc, err := net.Dial("tcp", "127.0.0.1:"+strings.TrimPrefix(at, "tcp:"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(nc, "hello")
		b, _ := io.ReadAll(nc)
		nc.Close()
		said = string(b)
	}
	if said != "got hello\n" {
		t.Errorf("through it came %q", said)
	}
	if err := d.KillForward(t.Context(), at); err != nil {
		t.Error(err)
	}
	if again, err := d.Forward(t.Context(), at, "tcp:4000"); err != nil || again != at {
		t.Errorf("of a port that is named: %q, %v", again, err)
	}
	if err := d.KillForward(t.Context(), at); err != nil {
		t.Error(err)
	}
	if err := d.KillForward(t.Context(), at); err == nil {
		t.Error("it was there after its end")
	}
	if all, err := d.Forwards(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("at the end: %v, %v", all, err)
	}
	for _, end := range []string{"", "tcp", "tcp:", "tcp:1;tcp:2"} {
		if _, err := d.Forward(t.Context(), end, "tcp:1"); err == nil {
			t.Errorf("%q was taken for a socket", end)
		}
	}
}
