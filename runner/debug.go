package runner

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/runner/adb"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/session"
)

// Debugging says how the command of an action is debugged.
type Debugging struct {
	// Server says how that device starts a program under a debug server.
	Server func(devinfo.Info) (session.Server, error)
	Port   int       // of this machine, for the debugger to connect to; 0: a free one
	Output io.Writer // what the program prints, also to its standard error
	// With is called while the program stands before its first instruction. When it returns, the program is ended.
	With func(context.Context, Stopped) error
}

// Stopped is a program that stands before its first instruction on a device.
type Stopped struct {
	Device  devinfo.Info
	Address string          // of the debug server on this machine: "127.0.0.1:5039"
	Ended   <-chan struct{} // closed when the program has ended
}

// Debug has the action's command started under a debug server, on a device that fits its platform, with what Execute would push, set and give it. Nothing of it is
// measured, and there is no result. The time limit of the command does not hold.
func (d *Device) Debug(ctx context.Context, a *execute.Request, g Debugging) (err error) {
	q, err := d.request(ctx, a.Action)
	if err != nil {
		return &execute.Error{Op: "read the action's inputs", Err: err}
	}
	if q.Stdin, err = standardInput(ctx, d.o.Store, a); err != nil {
		return &execute.Error{Op: "read the action's inputs", Err: err}
	}
	q.Stdout, q.Stderr = g.Output, g.Output
	q.Report = a.Report
	u, err := d.use(ctx, a, &notes{})
	if err != nil {
		return failed("use a device", err)
	}
	defer u.release()
	s, err := d.session(ctx, a, q, u)
	if err != nil {
		return err
	}
	phone, ok := u.dev.(*adb.Device)
	if !ok {
		return &execute.Error{Op: "debug on " + u.info.String(), Err: errors.New("hexmage debugs programs on phones only, through adb"), Refused: true,
			Remedy: "use a debugger on the board itself: hexmage device push brings the files there"}
	}
	server, err := g.Server(u.info)
	if err != nil {
		return &execute.Error{Op: "debug on " + u.info.String(), Err: err, Refused: true}
	}
	var with error // what came of the debugger, which says itself what it was
	err = s.Debug(ctx, q, server, func(ctx context.Context, socket string, ended <-chan struct{}) error {
		local, err := phone.Forward(ctx, "tcp:"+strconv.Itoa(g.Port), socket)
		if err != nil {
			return err
		}
		defer func() { _ = phone.KillForward(context.WithoutCancel(ctx), local) }()
		with = g.With(ctx, Stopped{u.info, "127.0.0.1:" + strings.TrimPrefix(local, "tcp:"), ended})
		return with
	})
	if err == nil || with != nil {
		return with
	}
	return failed("debug on "+u.info.String(), err)
}
