//go:build linux

package phone_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// parentArg makes the test binary start a device, print its address, and wait to be killed.
const parentArg = "phone-parent"

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == parentArg {
		e, err := phone.Start(context.Background(), phone.Options{Self: []string{os.Args[0], "phone-init"}, Image: os.Args[2], Dir: os.Args[3]})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(e.Addr())
		time.Sleep(time.Minute)
	}
	os.Exit(phonetest.Main(m))
}

func TestDeviceDiesWithItsParent(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], parentArg, phonetest.Image(t, nil), t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	addr = strings.TrimSpace(addr)
	if err != nil || !strings.HasPrefix(addr, "127.0.0.1:") {
		t.Fatalf("the device's parent said %q, %v", addr, err)
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			break
		}
		c.Close()
		if time.Now().After(deadline) {
			t.Fatal("the device outlived its parent")
		}
	}
}

// official returns a function that runs the official client with a server, in a folder.
func official(t *testing.T, s *adb.Server, o adb.Options, dir string) func(args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return func(args ...string) (stdout, stderr string, code int) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // a wrong answer of the daemon makes adb wait forever
		defer cancel()
		cmd := exec.CommandContext(ctx, o.Path, append([]string{"-L", "localfilesystem:" + s.Address()}, args...)...)
		cmd.Env = []string{"LD_LIBRARY_PATH=" + o.LibraryPath, "HOME=" + o.Dir}
		cmd.Dir = dir
		var out, errOut bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errOut
		err := cmd.Run()
		if ctx.Err() != nil {
			t.Fatalf("adb %q hangs: %s%s", args, out.String(), errOut.String())
		}
		if err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
	}
}

// TestOfficialClient runs the commands of the official client.
func TestOfficialClient(t *testing.T) {
	t.Parallel()
	e, s := phonetest.Start(t, phonetest.Image(t, nil), nil), phonetest.Server(t)
	dir := t.TempDir()
	adb := official(t, s, phonetest.ServerOptions(t), dir)
	write := func(name, content string) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(p, time.Unix(1600000000, 0), time.Unix(1600000000, 0)); err != nil {
			t.Fatal(err)
		}
	}
	write("folder/a.txt", "first\n")
	write("folder/sub/b.txt", "second\n")
	write("big", strings.Repeat("0123456789abcdef", 1<<17))
	for _, c := range []struct {
		args string
		want string // part of the output
		code int
	}{
		{"connect " + e.Addr(), "connected to " + e.Addr(), 0},
		{"get-state", "device", 0},
		{"devices -l", "model:hexmage_simulated_phone_SM8750_v79", 0},
		{"push folder /data/local/tmp/", "2 files pushed", 0},
		{"push --sync folder /data/local/tmp/", "0 files pushed, 2 skipped", 0},
		{"push big /data/local/tmp/big", "1 file pushed", 0},
		{"push big /system/big", "read-only file system", 1},
		{"push nothing /data", "cannot stat", 1},
		{"ls /data/local/tmp/folder", "a.txt", 0},
		{"ls /nowhere", "", 0},
		{"shell cat /data/local/tmp/folder/sub/b.txt", "second\n", 0},
		{"shell stat -c %Y /data/local/tmp/folder/a.txt", "1600000000", 0},
		{"shell exit 3", "", 3},
		{"shell ls /nowhere", "No such file or directory", 1},
		{"pull -a /data/local/tmp/folder back", "2 files pulled", 0},
		{"pull /nowhere", "No such file or directory", 1},
		{"root", "unable to connect for root: closed", 1},
		{"features", "shell_v2", 0},
	} {
		out, errOut, code := adb(strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(out+errOut, c.want) {
			t.Errorf("adb %s: exit code %d, stdout %q, stderr %q; want %d, %q", c.args, code, out, errOut, c.code, c.want)
		}
	}
	fi, err := os.Stat(filepath.Join(dir, "back/sub/b.txt"))
	if err != nil || fi.ModTime().Unix() != 1600000000 {
		t.Errorf("pull -a: %v, %v", fi, err)
	}
}
