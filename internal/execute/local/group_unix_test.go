//go:build unix

package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
)

// A pipe that all processes of the command have open is at its end when the last of them has gone.
func TestTimeoutEndsTheWholeGroup(t *testing.T) {
	f := newFixture(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(pipe)
		ended <- err
	}()
	a := &action.Action{
		Command:   action.Command{Args: []string{"sh", "-c", "exec 9>" + pipe + "; sleep 60 & sleep 60"}},
		InputRoot: f.root(t, nil),
		Timeout:   500 * time.Millisecond,
	}
	if _, err := f.x.Execute(t.Context(), a); err == nil || !strings.Contains(err.Error(), "timeout") {
		t.Errorf("err = %v, want the timeout", err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("a child of the command outlived it")
	}
}
