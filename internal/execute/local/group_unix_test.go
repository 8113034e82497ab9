//go:build unix

package local_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
)

// A pipe that all processes of the command have open is at its end when the last of them has gone.
func TestTimeoutEndsTheWholeGroup(t *testing.T) {
	f := newFixture(t)
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	a := &action.Action{
		Command: action.Command{Args: []string{"sh", "-c",
			"exec 9>" + name + "; sleep 60 & echo started >&9; sleep 60"}},
		InputRoot: f.root(t, nil),
		Limit:     100 * time.Millisecond,
	}
	for said := ""; said == ""; a.Limit *= 2 { // a busy machine has not come that far by then
		if _, err := f.x.Execute(t.Context(), &execute.Request{Action: a}); err == nil ||
			!strings.Contains(err.Error(), "timeout") {
			t.Fatalf("err = %v, want the timeout", err)
		}
		if err := pipe.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(pipe)
		if err != nil {
			t.Fatalf("a child of the command outlived it: %v", err)
		}
		said = string(b)
	}
}
