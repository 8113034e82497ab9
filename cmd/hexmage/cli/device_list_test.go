//go:build linux

package cli_test

import (
	"bufio"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// TestDeviceListWatch connects, disconnects and switches off a phone while its server is watched.
func TestDeviceListWatch(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := phonetest.Server(t)
	e := phonetest.Start(t, phonetest.Image(t, nil),
		func(o *phone.Options) { o.Self = []string{self, "tool", "phone-init"} })
	if err := server.Connect(t.Context(), e.Addr()); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	out, in := io.Pipe()
	var errs strings.Builder
	code := make(chan int, 1)
	go func() {
		env := cli.Env{Stdin: strings.NewReader(""), Stdout: in, Stderr: &errs, Dir: t.TempDir(), Self: self,
			Vars: []string{"HOME=" + cache, "HEXMAGE_CACHE=" + cache,
				"ADB_SERVER_SOCKET=localfilesystem:" + server.Address()}}
		code <- cli.Main([]string{"hexmage", "device", "list", "--watch"}, env)
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	await := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), e.Addr()+"  "+want) {
				return
			}
		}
		t.Fatalf("%s was never said; %s", want, errs.String())
	}
	await("device  hexmage simulated phone SM8750 v79")
	if err := server.Disconnect(t.Context(), e.Addr()); err != nil {
		t.Fatal(err)
	}
	await("gone")
	if err := server.Connect(t.Context(), e.Addr()); err != nil {
		t.Fatal(err)
	}
	await("device")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	await("offline")
	server.Close()
	for lines.Scan() {
	}
	if got := <-code; got != cli.ExitEngine || !strings.Contains(errs.String(), "lost") {
		t.Errorf("after the end of the server: exit code %d, %q", got, errs.String())
	}
}
