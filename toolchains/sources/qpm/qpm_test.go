package qpm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hexmage/hexmage/toolchains/sources/qpm"
)

// qpmScript imitates what is known of Qualcomm's qpm-cli: a relative path gives an "unexpected error" and a log, some accounts
// get a 401, a license has to be activated before, and errors may come with exit code 0. It sees no standard input.
const qpmScript = `#!/bin/sh
echo "$*" >> "$HOME/calls"
[ "$(cat)" = "" ] || exit 9
fail() { mkdir -p "$HOME/logs/today"; printf '2026-01-01 start\n2026-01-01 ERROR %s\n2026-01-01 end\n' "$1" > "$HOME/logs/today/qik.log"; }
mode=$(cat "$HOME/mode")
case $1 in
--license-activate)
	[ "$mode" != active ] || { echo "error: already activated"; exit 4; }
	[ "$mode" != unlicensed ] || { echo "License activation failed for $2"; exit 1; }
	echo "$2" >> "$HOME/active"; echo "License activated"; exit 0 ;;
--install)
	verb=$1 product=$2 version= path=
	shift 2
	while [ $# -gt 0 ]; do case $1 in --version) version=$2; shift ;; --path) path=$2; shift ;; esac; shift; done
	case $path in /*) ;; *) echo "[Error] unexpected error"; fail "path must be absolute: $path"; exit 1 ;; esac
	case $mode in
	401) echo "[Error] : Request failed"; fail "HTTP status code 401 from qpm.example"; exit 1 ;;
	login) echo "You are not logged in. Username: "; exit 1 ;;
	agree) echo "Login Failed"; exit 0 ;;
	nothing) echo "done"; exit 0 ;;
	silent) fail "extraction of package failed: disk quota"; exit 3 ;;
	hang) exec sleep 60 ;;
	esac
	printf 'Downloading 10%%\rDownloading 90%%\r\033[31mExtracting\033[0m\n'
	echo "$verb $product $version" > "$path/made" ;;
*) echo "unknown option $1"; exit 2 ;;
esac
`

const qscScript = `#!/bin/sh
echo "$*" >> "$HOME/calls"
mode=$(cat "$HOME/mode")
[ "$1 $2" = "sdk download" ] || exit 2
shift 2
while [ $# -gt 0 ]; do case $1 in --required-version) version=$2; shift ;; --path) path=$2; shift ;; esac; shift; done
case $mode in
401) echo "error: 401 Unauthorized" >&2; exit 0 ;;
two) echo a > "$path/a.zip"; echo b > "$path/b.zip"; exit 0 ;;
esac
mkdir -p "$path/sdk" && echo zip > "$path/sdk/v$version.zip"
`

// client makes a machine with both clients, in a mode of theirs.
func client(t *testing.T, mode string) (qpm.Client, string) {
	t.Helper()
	home := t.TempDir()
	for name, text := range map[string]string{"bin/qpm-cli": qpmScript, "bin/qsc-cli": qscScript, "mode": mode} {
		p := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		syscall.ForkLock.RLock() // a child of another test must not inherit the open file: "text file busy"
		err := os.WriteFile(p, []byte(text), 0o755)
		syscall.ForkLock.RUnlock()
		if err != nil {
			t.Fatal(err)
		}
	}
	return qpm.Client{Search: []string{filepath.Join(home, "bin"), "/usr/bin", "/bin"}, Home: home, Logs: []string{filepath.Join(home, "logs")}}, home
}

func TestInstall(t *testing.T) {
	c, home := client(t, "")
	var said []string
	c.Progress = func(text string) { said = append(said, text) }
	dir := filepath.Join(t.TempDir(), "sdk")
	p := qpm.Product{Name: "hexagonsdk6.x", Version: "6.2.0.1"}
	if err := c.Install(t.Context(), p, dir); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"made": "--install hexagonsdk6.x 6.2.0.1\n"} {
		if b, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", file, b, err)
		}
	}
	calls, _ := os.ReadFile(filepath.Join(home, "calls"))
	if !strings.HasPrefix(string(calls), "--license-activate hexagonsdk6.x\n--install hexagonsdk6.x --version 6.2.0.1 --path "+dir+" --silent\n") {
		t.Errorf("calls:\n%s", calls)
	}
	if !slices.Contains(said, "qpm-cli: Downloading 90%") || !slices.Contains(said, "qpm-cli: [31mExtracting[0m") {
		t.Errorf("said %q", said)
	}
	if err := c.Install(t.Context(), p, "sdk"); err == nil || !strings.Contains(err.Error(), "absolute") {
		t.Errorf("a relative path: %v", err)
	}
}

func TestActiveAlready(t *testing.T) {
	c, _ := client(t, "active")
	if err := c.Install(t.Context(), qpm.Product{Name: "x", Version: "1"}, filepath.Join(t.TempDir(), "sdk")); err != nil {
		t.Error(err)
	}
}

func TestInstallFails(t *testing.T) {
	for mode, says := range map[string][]string{
		"401":        {"exit status 1", "Request failed", "logs/today/qik.log", "ERROR HTTP status code 401", "agreements", `source = "archive"`},
		"login":      {"no valid login", "qpm-cli --login"},
		"agree":      {"the client reported an error, although its exit code is 0", "https://www.qualcomm.com/agreements"},
		"nothing":    {"wrote nothing into"},
		"silent":     {"exit status 3", "log: 2026-01-01 ERROR extraction of package failed: disk quota"},
		"unlicensed": {"--license-activate hexagonsdk6.x", "license"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			cl, _ := client(t, mode)
			err := cl.Install(t.Context(), qpm.Product{Name: "hexagonsdk6.x", Version: "6.2.0.1"}, filepath.Join(t.TempDir(), "sdk"))
			for _, s := range says {
				if err == nil || !strings.Contains(err.Error(), s) {
					t.Errorf("%v\ndoes not say %q", err, s)
				}
			}
		})
	}
	cl, home := client(t, "hang")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := cl.Install(ctx, qpm.Product{Name: "x", Version: "1"}, filepath.Join(t.TempDir(), "sdk")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if err := os.RemoveAll(filepath.Join(home, "bin")); err != nil {
		t.Fatal(err)
	}
	if err := cl.Install(t.Context(), qpm.Product{Name: "x", Version: "1"}, filepath.Join(t.TempDir(), "sdk")); err == nil || !strings.Contains(err.Error(), "Package Manager") {
		t.Errorf("error %v", err)
	}
}

func TestDownload(t *testing.T) {
	p := qpm.Product{Name: "Qualcomm_AI_Runtime_Community", Version: "2.42.0.251225"}
	for mode, want := range map[string]string{"": "", "401": "401", "two": "left 2 archives"} {
		c, home := client(t, mode)
		dir := filepath.Join(t.TempDir(), "d")
		file, err := c.Download(t.Context(), p, dir)
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: error %v", mode, err)
			}
			continue
		}
		if err != nil || file != filepath.Join(dir, "sdk", "v2.42.0.251225.zip") {
			t.Errorf("%q, %v", file, err)
		}
		calls, _ := os.ReadFile(filepath.Join(home, "calls"))
		if want := "sdk download --name Qualcomm_AI_Runtime_Community --required-version 2.42.0.251225 --path " + dir + " --force\n"; string(calls) != want {
			t.Errorf("calls %q, want %q", calls, want)
		}
	}
}
