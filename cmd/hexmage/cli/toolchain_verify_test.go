package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerifyRootOff: an SDK below the folder is named, also if the folder has the name of a toolchain of the catalog.
// Exit code 0 is for the SDK itself only.
func TestVerifyRootOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := filepath.Join(dir, "qairt", "2.41.0.251128")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "sdk.yaml"), []byte("version: 2.41.0\nbuild_id: 251128145156_191518\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		what string
		code int
		says string
	}{
		{"qairt", ExitUsage, "name qairt is ambiguous: the catalog has a toolchain qairt, and a " +
			"folder has an SDK (qairt 2.41.0.251128 in " + at},
		{"./qairt", ExitUsage, "use the folder of qairt 2.41.0.251128 in " + at + " instead"},
		{".", ExitUsage, "use the folder of qairt 2.41.0.251128 in " + at + " instead"},
		{"qairt/2.41.0.251128", ExitFailed, "lib/"},
	} {
		var stdout, stderr bytes.Buffer
		code := Main([]string{"hexmage", "toolchain", "verify", x.what}, Env{Stdin: strings.NewReader(""),
			Stdout: &stdout, Stderr: &stderr, Dir: dir,
			Vars: []string{"HEXMAGE_CACHE=" + dir + "/cache", "HOME=" + dir}, Width: 4000})
		if text := stdout.String() + stderr.String(); code != x.code || !strings.Contains(text, x.says) {
			t.Errorf("%s: exit code %d, want %d with %q\n%s", x.what, code, x.code, x.says, text)
		}
	}
}
