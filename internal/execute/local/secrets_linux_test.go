package local_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/secret"
)

// testSecrets has two actions at the same time, of which one has a secret: where commands are restricted, the other
// does not find it in files, folders and /proc.
func testSecrets(t *testing.T, r room) {
	const value = "hunter2-7f3a9c"
	set, err := secret.NewSet(map[string]secret.Text{"TOKEN": {{Ref: "var.token"}}},
		map[string]secret.Text{"FILE": {{Ref: "var.token"}}}, secret.Values{"var.token": value})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	over := errors.New("over")
	at, ended := make(chan string, 1), make(chan error, 1)
	a := &action.Action{Command: action.Command{Args: []string{"sh", "-c", `echo "progress 1 2 $FILE" >&2; sleep 60`},
		Outputs: []string{"out/o"}}, InputRoot: r.root(t, nil)}
	go func() {
		_, err := r.x.Execute(ctx,
			&execute.Request{Action: a, Secrets: set, Progress: func(_, _ int64, text string) { at <- text }})
		ended <- err
	}()
	file := <-at
	if b, err := os.ReadFile(file); err != nil || string(b) != value {
		t.Errorf("the file has %q, %v", b, err)
	}
	for _, script := range []string{"cat " + file, "ls " + filepath.Dir(file),
		"cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep TOKEN=" + value[:4]} {
		res := r.sh(t, "("+script+") > out/o", nil)
		if found := res.ExitCode == 0; found && r.strict {
			t.Errorf("%s: another action finds the secret", script)
		} else if !found && !r.strict {
			t.Errorf("%s: %s; the test looks in the wrong place", script, res.Stderr)
		}
	}
	stop(over)
	if err := <-ended; !errors.Is(err, over) {
		t.Error(err)
	}
	if _, err := os.Lstat(file); err == nil || !strings.HasSuffix(file, "/FILE") {
		t.Errorf("%s is still there when its action was stopped", file)
	}
}
