package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/runner/check"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
	"github.com/hexmage/hexmage/runner/thermal"
	"github.com/hexmage/hexmage/runner/transport"
)

// session checks the request against the device in use, and returns a session there.
func (d *Device) session(ctx context.Context, a *execute.Request, q session.Request, u *inUse) (*session.Session,
	error) {
	want := wanted(a.Command.Platform)
	if err := errors.Join(devinfo.CheckDevice(u.info, want), check.Files(ctx, q, want, u.native())); err != nil {
		passing := transport.Retryable(err)
		return nil, &execute.Error{Op: "check before pushing to " + u.info.String(), Err: err, Refused: !passing,
			Retryable: passing}
	}
	return &session.Session{Device: u.dev, Lease: u.held, Wait: u.wait,
		Sums: push.Sums{Dir: filepath.Join(d.o.State, "sums")}}, nil
}

// runOn runs the request on the device in use.
func (d *Device) runOn(ctx context.Context, a *execute.Request, q session.Request, u *inUse) (*action.Result, error) {
	s, err := d.session(ctx, a, q, u)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	limit := a.Limit
	watch := newStopwatch(limit, func() { stop(&execute.TimeoutError{Limit: limit}) })
	defer watch.pause()
	var printed execute.HeadTailBuffer
	u.log.divert(&printed)
	defer u.log.divert(nil)
	if u.log == nil {
		q.Log = session.LogOfFailure // the log of a simulated phone has more details
	}
	r, err := d.run(ctx, a, q, s, u.info, watch)
	if err == nil && r.ExitCode != 0 {
		r.Stderr = withLog(r.Stderr, printed.Bytes())
	}
	if late := (*execute.TimeoutError)(nil); errors.As(err, &late) && late.Result != nil {
		late.Result.Stderr = withLog(late.Result.Stderr, printed.Bytes())
	}
	return r, err
}

// run runs the request and stores its outputs.
func (d *Device) run(ctx context.Context, a *execute.Request, q session.Request, s *session.Session, info devinfo.Info, watch *stopwatch) (*action.Result, error) {
	var err error
	if q.PullDir, err = d.newFolder("pull"); err != nil {
		return nil, &execute.Error{Op: "make a folder for the outputs", Err: err}
	}
	defer os.RemoveAll(q.PullDir)
	bringLog := q.Log != session.NoLog
	cooled, err := measure(a, &q, s, watch)
	if err != nil {
		return nil, &execute.Error{Op: "read the action", Err: err}
	}
	streams, err := openStreams(ctx, d.o.Store, a, q.PullDir)
	if err != nil {
		return nil, &execute.Error{Op: "open the standard streams", Err: err}
	}
	defer streams.close()
	q.Stdin, q.Stdout, q.Stderr = streams.stdin, streams.stdout, streams.stderr
	last := time.Time{}
	q.Report = func(done, total int64, op string) {
		if now := time.Now(); now.Sub(last) > 50*time.Millisecond {
			last = now
			a.Report(done, total, op)
		}
	}
	end := a.Span("run")
	res, err := s.Run(ctx, q)
	end()
	if n := len(res.Warmups); n > 0 && res.ExitCode != 0 && res.Started.IsZero() {
		fmt.Fprintf(streams.stderr, "[warm-up run %d of %d failed]\n", n, q.Warmup)
	}
	result := func(failed bool) *action.Result {
		r := &action.Result{ExitCode: res.ExitCode, Duration: res.Duration, Worker: info.String(), Stdout: streams.outHead.Bytes(), Stderr: streams.errHead.Bytes()}
		if failed && bringLog {
			r.Stderr = withLog(r.Stderr, res.Log)
		}
		return r
	}
	if ctx.Err() != nil {
		if late := (*execute.TimeoutError)(nil); errors.As(context.Cause(ctx), &late) {
			return nil, &execute.TimeoutError{Limit: late.Limit, Result: result(true)}
		}
		return nil, context.Cause(ctx)
	}
	if hot, ok := errors.AsType[*thermal.CooldownError](err); ok {
		return nil, &execute.Error{Op: "measure on " + info.String(), Err: hot, Refused: true,
			Remedy: "unplug the charger, or set a longer time or a higher temperature in `cooldown`"}
	}
	if err != nil {
		return nil, failed("run on "+info.String(), err)
	}
	if err := streams.close(); err != nil {
		return nil, &execute.Error{Op: "write the standard output", Err: err}
	}
	if name := a.Command.Platform[PropertyRecord]; name != "" {
		if err := session.RecordOf(info, res, cooled).Write(q.PullDir, name); err != nil {
			return nil, &execute.Error{Op: "write the run record", Err: err}
		}
	}
	if slices.Contains(a.Command.Outputs, session.PhoneJSON) {
		if err := (session.Phone{SoC: info.SoC, Simulated: info.Simulated}).Write(q.PullDir); err != nil {
			return nil, &execute.Error{Op: "write the phone's description", Err: err}
		}
	}
	if name := a.Command.Platform[PropertyLog]; name != "" {
		if err := session.WriteBelow(q.PullDir, name, res.Log); err != nil {
			return nil, &execute.Error{Op: "write the device's log", Err: err}
		}
	}
	if q.SampleEvery > 0 {
		if err := session.WriteSamples(q.PullDir, res.Samples); err != nil {
			return nil, &execute.Error{Op: "write the samples", Err: err}
		}
	}
	r := result(res.ExitCode != 0)
	if r.Files, r.Dirs, err = merkle.Capture(ctx, d.o.Store, d.o.Fn, q.PullDir, a.Command.Outputs); err != nil {
		return nil, &execute.Error{Op: "store the outputs", Err: err}
	}
	if text := res.Pushed.Notice(); text != "" {
		r = notes{text}.warn(r)
	}
	return r, nil
}

// measure sets up the request for the measurements that the action's platform asks for. The time limit of the command
// does not run during a cool-down. cooled is nil without a cool-down, and is filled in while the request runs.
func measure(a *execute.Request, q *session.Request, s *session.Session, watch *stopwatch) (cooled *thermal.Cooled, err error) {
	p := a.Command.Platform
	q.Thermal = p[PropertyRecord] != ""
	if p[PropertyLog] != "" {
		q.Log = session.LogAlways
	}
	if w := p[PropertyWarmup]; w != "" {
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 || n > MaxWarmup {
			return nil, fmt.Errorf("invalid number of warm-up runs: %s; use a number from 0 to %d", w, MaxWarmup)
		}
		q.Warmup = n
	}
	if q.SampleEvery, err = session.SampleEvery(p); err != nil {
		return nil, err
	}
	if v := p[PropertyCooldown]; v != "" {
		c, err := thermal.ParseCooldown(v)
		if err != nil {
			return nil, err
		}
		cooled = new(thermal.Cooled)
		q.Prepare = func(ctx context.Context) (err error) {
			watch.pause()
			defer watch.resume()
			*cooled, err = thermal.CoolDown(ctx, s.Device, c, func(text string) { a.Report(0, 0, text) })
			return err
		}
	}
	return cooled, nil
}

// MaxWarmup is the maximum number of warm-up runs.
const MaxWarmup = 1000
