//go:build linux

package adb_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/transport"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

func TestDevices(t *testing.T) {
	t.Parallel()
	s := phonetest.Server(t)
	e := phonetest.Start(t, phonetest.Image(t, nil), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	await := func(what string, ok func([]adb.Info) bool) {
		t.Helper()
		for {
			all, err := s.Devices(ctx)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if ok(all) {
				return
			}
			time.Sleep(10 * time.Millisecond)
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
	s.Close()
	if _, err := s.Devices(ctx); !errors.Is(err, transport.ErrDropped) {
		t.Errorf("a server that went away: %v", err)
	}
}

func TestForward(t *testing.T) {
	t.Parallel()
	d := phonetest.Device(t, phonetest.Image(t, nil), nil)
	if _, err := transport.Output(t.Context(), d, "ifconfig lo up; nc -ll -p 4000 -e /system/bin/sh -c 'read -r x; echo got $x' >/dev/null 2>&1 </dev/null &", nil); err != nil {
		t.Fatal(err)
	}
	at, err := d.Forward(t.Context(), "tcp:0", "tcp:4000")
	if err != nil || !strings.HasPrefix(at, "tcp:") || at == "tcp:0" {
		t.Fatalf("%q, %v", at, err)
	}
	if _, err := d.Forward(t.Context(), at, "tcp:4001"); err == nil || transport.Retryable(err) {
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
}

// TestServerThatCrashes kills a private server twice. The server restarts, and its device works after Reconnect.
func TestServerThatCrashes(t *testing.T) {
	t.Parallel()
	s, e := phonetest.Server(t), phonetest.Start(t, phonetest.Image(t, nil), nil)
	if err := s.Connect(t.Context(), e.Addr()); err != nil {
		t.Fatal(err)
	}
	d := s.Device(e.Addr())
	for range 2 {
		crash(t, filepath.Dir(s.Address()))
		err := errors.New("not asked yet")
		for end := time.Now().Add(10 * time.Second); err != nil && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if err = d.Reconnect(t.Context()); err != nil && !transport.Retryable(err) {
				t.Fatal(err)
			}
		}
		if out, err := transport.Output(t.Context(), d, "echo here", nil); err != nil || out != "here\n" {
			t.Fatalf("%q, %v\n%s", out, err, s.Log())
		}
	}
}

// crash kills the server whose working directory is the folder.
func crash(t *testing.T, dir string) {
	t.Helper()
	found, _ := filepath.Glob("/proc/[0-9]*/cwd") // the pattern is valid
	for _, cwd := range found {
		if at, err := os.Readlink(cwd); err == nil && at == dir {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(cwd)))
			if err := syscall.Kill(pid, syscall.SIGSEGV); err != nil {
				t.Error(err)
			}
			return
		}
	}
	t.Error("no server runs")
}
