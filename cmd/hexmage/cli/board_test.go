//go:build linux

package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
	"github.com/hexmage/hexmage/runner/ssh/sshtest"
)

// boardUser is somebody with a home folder who runs hexmage beside a board.
type boardUser struct {
	dir  string
	vars []string
}

func newBoardUser(t *testing.T) *boardUser {
	t.Helper()
	home := t.TempDir()
	// There is no adb here, and none is started.
	return &boardUser{dir: t.TempDir(),
		vars: []string{"HOME=" + home, "HEXMAGE_CACHE=" + t.TempDir(),
			"ADB_SERVER_SOCKET=localfilesystem:" + filepath.Join(home, "none.sock"), "PATH=/nowhere"}}
}

func (u *boardUser) run(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = cli.Main(append([]string{"hexmage", "device"}, args...),
		cli.Env{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Dir: u.dir, Vars: u.vars})
	return code, out.String(), errs.String()
}

func (u *boardUser) ok(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := u.run("", args...)
	if code != 0 {
		t.Fatalf("hexmage device %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

// TestBoardCommands has hexmage device do to a board over ssh what it does to phones, without adb.
func TestBoardCommands(t *testing.T) {
	t.Parallel()
	s, u := sshtest.Start(t, sshtest.Options{}), newBoardUser(t)
	at := s.Address()
	u.vars = append(u.vars, "PATH="+s.Client(t, ""))
	if code, _, errs := u.run("", "info", "-s", at); code != cli.ExitEngine ||
		!strings.Contains(errs, "Host key verification failed") || !strings.Contains(errs, "run `ssh "+at+"`") {
		t.Errorf("a board that nobody knows: exit code %d, %q", code, errs)
	}
	u.vars = append(u.vars, "PATH="+s.Program(t))
	out := u.ok(t, "info", "-s", at)
	for _, want := range []string{"serial       " + at + "\n", "system       ", "Linux ", "disk         ",
		" free, 0 B used by hexmage"} {
		if !strings.Contains(out, want) {
			t.Errorf("info lacks %q:\n%s", want, out)
		}
	}
	var info struct{ Machine, System string }
	if err := json.Unmarshal([]byte(u.ok(t, "info", "--json", "-s", at)), &info); err != nil || info.Machine == "" ||
		!strings.Contains(info.System, "Linux ") {
		t.Errorf("%+v, %v", info, err)
	}
	if code, out, errs := u.run("in", "shell", "-s", at, "cat; echo err >&2; exit 5"); code != 5 || out != "in" ||
		errs != "err\n" {
		t.Errorf("shell: exit code %d, %q, %q", code, out, errs)
	}
	if err := os.WriteFile(filepath.Join(u.dir, "x"), []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := u.ok(t, "push", "-s", at, "x", s.Home+"/some/"); !strings.HasPrefix(out, "1 file, 7 B: 7 B sent in ") {
		t.Errorf("push: %q", out)
	}
	if out := u.ok(t, "push", "-s", at, "x", s.Home+"/some/"); !strings.HasPrefix(out, "1 file, 7 B: 0 B sent in ") {
		t.Errorf("push again: %q", out)
	}
	if b, err := os.ReadFile(filepath.Join(s.Home, "some/x")); err != nil || string(b) != "content" {
		t.Errorf("%q, %v", b, err)
	}
	u.ok(t, "pull", "-s", at, s.Home+"/some", "back")
	if b, err := os.ReadFile(filepath.Join(u.dir, "back/x")); err != nil || string(b) != "content" {
		t.Errorf("pulled: %q, %v", b, err)
	}
	if code, _, errs := u.run("", "log", "-s", at); code != cli.ExitEngine ||
		!strings.Contains(errs, "hexmage device shell dmesg") {
		t.Errorf("log: exit code %d, %q", code, errs)
	}
	if code, _, errs := u.run("", "connect", at); code != cli.ExitUsage || !strings.Contains(errs, "--serial "+at) {
		t.Errorf("connect: exit code %d, %q", code, errs)
	}
	if code, _, errs := u.run("", "info", "-s", "ssh://u:secret@host"); code == 0 ||
		strings.Contains(errs, "secret") || !strings.Contains(errs, "use an SSH key") {
		t.Errorf("a password: exit code %d, %q", code, errs)
	}

	// By a name.
	file := filepath.Join(u.dir, "devices.hcl")
	if err := os.WriteFile(file, []byte("device \"bench\" { serial = \""+at+"\" }\n"+
		"device \"gone\" { serial = \"ssh://u@127.0.0.1:1\" }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	u.vars = append(u.vars, "HEXMAGE_DEVICES="+file)
	if out := u.ok(t, "shell", "-s", "bench", "echo $USER"); out != sshtest.User+"\n" {
		t.Errorf("by its name: %q", out)
	}
	var rows []map[string]string
	if err := json.Unmarshal([]byte(u.ok(t, "list", "--json")), &rows); err != nil || len(rows) != 2 ||
		rows[0]["state"] != "device" || rows[0]["serial"] != at ||
		rows[1]["state"] != "unusable" || !strings.Contains(rows[1]["detail"], "Connection refused") {
		t.Errorf("list: %v, %v", rows, err)
	}
	u.ok(t, "clean", "-s", "bench")
	if _, err := os.Stat(filepath.Join(s.Home, ".hexmage-device")); !os.IsNotExist(err) {
		t.Errorf("after clean: %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(s.Home, "some/x")); err != nil || string(b) != "content" {
		t.Errorf("clean took what push put there: %q, %v", b, err)
	}
}
