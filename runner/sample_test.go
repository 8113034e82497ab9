//go:build linux

package runner_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/sample"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/runner/transport"
	"github.com/hexmage/hexmage/simulated/phone"
)

// peak returns a value of the summary, or 0.
func peak(s *sample.Series, name string) float64 {
	for _, v := range s.Summary() {
		if v.Name == name {
			return v.Value
		}
	}
	return 0
}

func TestSamples(t *testing.T) {
	t.Parallel()
	s := newSession(t, nil)
	run := func(every time.Duration, command string) session.Result {
		t.Helper()
		res, err := s.Run(t.Context(), session.Request{Args: []string{"sh", "-c", command}, SampleEvery: every})
		if err != nil || res.ExitCode != 3 {
			t.Fatal(res.ExitCode, err)
		}
		return res
	}
	// The loop keeps a core busy as long as samples are taken. On a busy machine it still runs between two of them.
	res := run(50*time.Millisecond, `(while :; do :; done) & x=$(head -c 8000000 /dev/zero | tr '\0' x); sleep 0.7; kill $!; exit 3`)
	got := res.Samples
	if got == nil || len(got.Rows) < 8 || got.Note != "" || got.Interval != 50*time.Millisecond {
		t.Fatalf("samples: %+v", got)
	}
	// PSS and RSS are read at different times. While the shell forks, each of the two processes has half of the
	// shared pages.
	if rss, pss := peak(got, "peak_rss"), peak(got, "peak_pss"); rss < 8 || rss > 100 || pss < 4 || pss > rss*5/4 {
		t.Errorf("a shell with 8 MB in a variable had RSS %v MB, PSS %v MB", rss, pss)
	}
	if n := got.Column("processes"); !slices.Contains(n, 3) { // the shell, the loop and sleep
		t.Errorf("processes: %v", n)
	}
	if cpu := peak(got, "mean_cpu"); cpu <= 0 || cpu > 4 {
		t.Errorf("it kept %v cores busy", cpu)
	}
	if res.Pushed.Blobs != 0 {
		t.Errorf("nothing has to be pushed: %+v", res.Pushed)
	}
	if res = run(time.Second, "exit 3"); res.Samples == nil || peak(res.Samples, "mean_cpu") != 0 {
		t.Errorf("a command that is over at once: %+v", res.Samples)
	}
	if res = run(0, "exit 3"); res.Pushed.Blobs != 0 || res.Samples != nil {
		t.Errorf("without samples: %+v, samples %v", res.Pushed, res.Samples)
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := s.Run(ctx, session.Request{Args: []string{"sleep", "1000"}, SampleEvery: 100 * time.Millisecond}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	left := onDevice(t, s, "sleep 0.3; ps -o args | grep -E 'hexmage-sample[s]|sleep 100[0]'; ls /data/local/tmp/hexmage/run")
	if left != "" {
		t.Errorf("left on the device: %q", left)
	}
}

// Sampling works on a device that cannot execute pushed programs.
func TestSamplesWithoutAProgram(t *testing.T) {
	t.Parallel()
	s := newSession(t, nil)
	onDevice(t, s, "mkdir -p /data/local/tmp/hexmage && mount -t tmpfs -o noexec none /data/local/tmp/hexmage")
	res, err := s.Run(t.Context(), session.Request{
		Args: []string{"sh", "-c", "sleep 0.5; exit 3"}, SampleEvery: 50 * time.Millisecond,
	})
	if err != nil || res.ExitCode != 3 {
		t.Fatal(res.ExitCode, err)
	}
	if res.Samples == nil || len(res.Samples.Rows) < 3 || res.Samples.Note != "" {
		t.Errorf("samples: %+v", res.Samples)
	}
}

// The sampler ends with its link.
func TestSamplesOverALinkThatBreaks(t *testing.T) {
	t.Parallel()
	s := newSession(t, func(o *phone.Options) { o.DropAfterBytes = 256 << 10 })
	in, input := io.Pipe()
	go func() { // after the first samples
		for range 100 {
			out, err := transport.Output(t.Context(), s.Device, "ps -o args | grep -c 'hexmage-sample[s]'", nil)
			if err == nil && strings.TrimSpace(out) != "0" {
				break
			}
		}
		_, err := input.Write(make([]byte, 1<<20))
		input.CloseWithError(err)
	}()
	_, err := s.Run(t.Context(), session.Request{
		Args:  []string{"sh", "-c", "cat >/dev/null; sleep 1000"},
		Stdin: func() (io.ReadCloser, error) { return in, nil }, SampleEvery: sample.MinInterval,
	})
	if !transport.Retryable(err) {
		t.Fatalf("the link was to break: %v", err)
	}
	// The device may need a moment to notice that the link broke.
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left := onDevice(t, s, "ps -o args | grep -E 'hexmage-sample[s]|sleep 100[0]'; ls /data/local/tmp/hexmage/run")
		if left == "" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("left on the device: %q", left)
		}
	}
}
