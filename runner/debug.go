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

// Debugging configures a debug session for an action's command.
type Debugging struct {
	// Server returns the debug server for a device.
	Server func(devinfo.Info) (session.Server, error)
	Port   int       // port of this machine that the debugger connects to; 0: a free port
	Output io.Writer // receives the program's standard output and standard error
	// The function With runs while the program waits before its first instruction. When With returns, hexmage ends the
	// program.
	With func(context.Context, Stopped) error
}

// Stopped is a program on a device, stopped before its first instruction.
type Stopped struct {
	Device  devinfo.Info
	Address string          // address of the debug server on this machine, such as "127.0.0.1:5039"
	Ended   <-chan struct{} // closed when the program ends
}

// Debug starts the action's command under a debug server, on a device that fits the action's platform. Files,
// environment and arguments are the same as in Execute. Debug measures nothing, returns no result, and ignores the
// command's time limit.
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
		return &execute.Error{Op: "debug on " + u.info.String(), Err: errors.New("hexmage debugs programs only on " +
			"phones, through adb"), Refused: true,
			Remedy: "run a debugger on the board; `hexmage device push` copies the files to the board"}
	}
	server, err := g.Server(u.info)
	if err != nil {
		return &execute.Error{Op: "debug on " + u.info.String(), Err: err, Refused: true}
	}
	var with error // error of the debugger; its text needs no prefix
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
