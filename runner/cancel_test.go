//go:build linux

package runner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/simulated/phone"
)

// quiet waits until the device runs only the earlier processes, and returns the processes that do not end.
func quiet(t *testing.T, s *session.Session, before string) (left string) {
	t.Helper()
	known := map[string]bool{}
	for line := range strings.Lines(before) {
		known[line] = true
	}
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		left = ""
		for line := range strings.Lines(processes(t, s)) {
			if !known[line] {
				left += line
			}
		}
		if left == "" {
			return ""
		}
	}
	return left
}

// processes returns the device's processes, without the one that lists them.
func processes(t *testing.T, s *session.Session) string {
	t.Helper()
	var all strings.Builder
	for line := range strings.Lines(onDevice(t, s, "ps -o pid,args")) {
		if !strings.Contains(line, "ps -o pid,args") {
			all.WriteString(line)
		}
	}
	return all.String()
}

// TestCanceledPush cancels pushes at many points. No process stays on the device, no file has a wrong content, and
// the next push works.
func TestCanceledPush(t *testing.T) {
	t.Parallel()
	s := newSession(t, func(o *phone.Options) { o.SlowBytesPerSecond = 60 << 20 })
	s.Sums = push.Sums{Dir: t.TempDir()}
	before := processes(t, s)
	name, second := randomFile(t, 20<<20), randomFile(t, 20<<20)
	files := map[string]push.File{}
	var small int64
	for i := range 12 {
		f := file(strings.Repeat(fmt.Sprintf("%05d\n", i), 60000), false)
		files[fmt.Sprintf("small%d", i)] = f
		small += f.Size
	}
	big := onDisk(t, name)
	files["big"] = big
	total := small + big.Size
	send := func(ctx context.Context, files map[string]push.File, report func(done, total int64)) error {
		_, err := s.Push(ctx, "/data/local/tmp/x", files, report)
		return err
	}
	check := func(when string) {
		t.Helper()
		if left := quiet(t, s, before); left != "" {
			t.Errorf("%s: left running:\n%s", when, left)
		}
		bad := onDevice(t, s, "cd "+cas+" 2>/dev/null || exit 0; for f in *; do [ -f $f ] || continue; s=$(sha256sum $f); [ \"${s%% *}\" = $f ] || echo $f; done; ls -A | grep '^[.]' | grep -v '[.]part$'; exit 0")
		if bad != "" {
			t.Errorf("%s: in the store is %q", when, bad)
		}
	}
	for _, at := range []struct {
		name string
		done int64 // bytes after which the push is canceled
		wait time.Duration
	}{
		{"the first small file", 1, 0},
		{"among the small files", small / 2, 0},
		{"the last small file", small, 0},
		{"between small and large", small + 1, 0},
		{"amid the large file", small + big.Size/2, 0},
		{"near its end", total - 1<<20, 0},
		{"all has arrived", total, 0},
		{"while it is verified", total, 15 * time.Millisecond},
	} {
		if _, err := push.Clear(t.Context(), s.Device); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		err := send(ctx, files, func(done, _ int64) {
			if done >= at.done {
				time.AfterFunc(at.wait, cancel)
				if at.wait == 0 {
					cancel()
				}
			}
		})
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) || err == nil && at.done < total {
			t.Errorf("%s: %v", at.name, err)
		}
		check(at.name)
	}
	if err := send(t.Context(), files, nil); err != nil {
		t.Fatal(err)
	}
	if got := onDevice(t, s, "sha256sum </data/local/tmp/x/big"); !strings.HasPrefix(got, sumOf(t, name)) {
		t.Errorf("the large file is %q", got)
	}

	// The device assembles this content from stored parts.
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(second, append([]byte("changed"), b[7:]...), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, wait := range []time.Duration{0, 5 * time.Millisecond, 20 * time.Millisecond} {
		ctx, cancel := context.WithCancel(t.Context())
		_ = send(ctx, map[string]push.File{"big": onDisk(t, second)}, func(int64, int64) { time.AfterFunc(wait, cancel) })
		cancel()
		check(fmt.Sprintf("%v after a copy began", wait))
	}
	if err := send(t.Context(), map[string]push.File{"big": onDisk(t, second)}, nil); err != nil {
		t.Fatal(err)
	}
	if got := onDevice(t, s, "sha256sum </data/local/tmp/x/big"); !strings.HasPrefix(got, sumOf(t, second)) {
		t.Errorf("the changed file is %q", got)
	}
}

// TestCanceledRun cancels runs at every stage.
func TestCanceledRun(t *testing.T) {
	t.Parallel()
	s := newSession(t, func(o *phone.Options) { o.SlowBytesPerSecond = 20 << 20 })
	before := processes(t, s)
	for _, stage := range []string{"push", "prepare", "output", "pull"} {
		t.Run(stage, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out := writerFunc(func(b []byte) (int, error) {
				if stage == "output" {
					cancel()
				}
				return len(b), nil
			})
			command := "echo started; head -c 8000000 /dev/zero >big"
			if stage == "output" {
				command = "sleep 1000 & (trap '' HUP TERM INT; sleep 2000) & echo started; cat /dev/zero | sleep 3000"
			}
			_, err := s.Run(ctx, session.Request{
				Files: map[string]push.File{"in": file(strings.Repeat(stage, 1<<20), false)},
				Args:  []string{"sh", "-c", command}, Stdout: out, Pull: []string{"big"}, PullDir: t.TempDir(),
				Report: func(done, _ int64, op string) {
					if op == stage && done > 0 {
						cancel()
					}
				},
				Prepare: func(context.Context) error {
					if stage == "prepare" {
						cancel()
					}
					return nil
				},
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if left := quiet(t, s, before); left != "" {
				t.Errorf("left running:\n%s", left)
			}
			if left := onDevice(t, s, "ls -A /data/local/tmp/hexmage/run"); left != "" {
				t.Errorf("left there: %q", left)
			}
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
