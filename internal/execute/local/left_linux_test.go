package local_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
)

// While other commands run, too, everything that a command started ends with it, whatever it threw away: its
// environment, group, session, parents. Else it would be in the next action's exec root.
func TestNothingIsLeftBesideOthers(t *testing.T) {
	p := newPlace(t, supervised(t), 1)
	other := occupied(t, p)
	defer other()
	for _, marks := range []string{"env -i", "env -i HEXMAGE_ROOT=/elsewhere", ""} {
		res, err := p.run(t, "out/o", `cp "$HEXMAGE_SELF" $TMPDIR/p 2>/dev/null
			`+marks+` setsid -f setsid -f sh -c 'while :; do echo WRONG > out/w; mv -f out/w out/o; done' </dev/null >/dev/null 2>&1
			until test -e out/o; do :; done`)
		if err != nil || res.ExitCode != 0 {
			t.Fatalf("%+v, %v", res, err)
		}
		for range 20 {
			res, err = p.run(t, "out/o", "rm -f out/o; echo right > out/o; sleep 0.01; cat out/o")
			if err != nil || strings.TrimSpace(string(res.Stdout)) != "right" {
				t.Fatalf("%q: %+v, %v", marks, res, err)
			}
		}
	}
}

// occupied has a command run beside until the function that it returns is called.
func occupied(t *testing.T, p *place) func() {
	t.Helper()
	running, ended := make(chan struct{}), make(chan struct{})
	other := &action.Action{Command: action.Command{Args: []string{"sh", "-c", "echo progress 1 2 x >&2; sleep 60"}},
		InputRoot: p.room.root(t, nil)}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		var begin sync.Once
		_, _ = p.x.Execute(ctx, &execute.Request{Action: other,
			Progress: func(int64, int64, string) { begin.Do(func() { close(running) }) }})
	}()
	<-running
	return func() { stop(); <-ended }
}
