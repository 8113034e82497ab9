package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/transport"
)

// DebugSocket is the name of the debug server's socket in the run's folder.
const DebugSocket = ".hexmage.debug"

// serverStart is the time limit for a debug server to listen. hexmage polls every serverPoll.
const (
	serverStart = 30 * time.Second
	serverPoll  = 50 * time.Millisecond
)

// Server is a debug server. It stops a program before the first instruction, and waits at DebugSocket for a debugger
// with GDB's protocol.
type Server struct {
	Files map[string]push.File // files added to the request's files
	Args  []string             // arguments before the command, as in Request.Args
	Env   map[string]string    // variables added to the request's environment
}

// LLDBServer returns a Server for lldb-server, with the arguments of AOSP's scripts.
func LLDBServer(program push.File) Server {
	const name = ".hexmage.lldb-server"
	program.Executable = true
	return Server{Files: map[string]push.File{name: program}, Args: []string{"./" + name, "gdbserver", "unix://$HEXMAGE_ROOT/" + DebugSocket, "--"}}
}

// Debug pushes files and starts the command as Run does, but under a debug server. When the server listens, Debug calls
// with(ctx, socket, ended): socket is adb's name for the server's socket, and ended closes when the command ends. After
// this call, Debug kills the command, removes its folder, and returns the call's error. Debug pulls no files.
func (s *Session) Debug(ctx context.Context, q Request, server Server, with func(ctx context.Context, socket string, ended <-chan struct{}) error) error {
	if err := q.check(); err != nil {
		return err
	}
	program := q.Args[0]
	q = q.servedBy(server)
	st := push.New(s.Device, s.Lease, s.Sums, s.Wait, q.reporter("push"))
	sums, err := st.Ensure(ctx, q.Files)
	if err != nil {
		return err
	}
	dir := s.Device.Place().Folder.Runs() + "/" + layout.NewID()
	defer s.after(ctx, cleanScript, dir)
	if err := st.Place(ctx, dir, q.placement(sums)); err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	defer func() { stop(); <-ended }()
	var how error // of the end; written before ended is closed
	go func() {
		defer close(ended)
		res, err := s.command(running, dir, q)
		if how = err; err == nil {
			how = fmt.Errorf("exit code %d", res.ExitCode)
		}
	}()
	socket := path.Join(dir, DebugSocket)
	if err := s.listens(ctx, socket, ended); err != nil {
		if errors.Is(err, errEnded) {
			err = how
		}
		return fmt.Errorf("cannot start %s under the debug server: %w", program, err)
	}
	return with(ctx, "localfilesystem:"+socket, ended)
}

// errEnded means that the command ended before its server listened.
var errEnded = errors.New("it ended")

// servedBy returns the request with its command started by the server. It takes no samples, because the program is
// stopped most of the time.
func (q Request) servedBy(server Server) Request {
	program := q.Args[0]
	files, env := map[string]push.File{}, map[string]string{}
	maps.Copy(files, q.Files)
	if f, pushed := files[path.Clean(program)]; pushed {
		f.Executable = true
		files[path.Clean(program)] = f
		if !strings.Contains(program, "/") {
			program = "./" + program
		}
	}
	maps.Copy(files, server.Files)
	maps.Copy(env, q.Env)
	maps.Copy(env, server.Env)
	q.Files, q.Env, q.Args = files, env, slices.Concat(server.Args, []string{program}, q.Args[1:])
	q.SampleEvery, q.Log = 0, NoLog
	return q
}

// listens waits until the debug server listens at the socket.
func (s *Session) listens(ctx context.Context, socket string, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeoutCause(ctx, serverStart, fmt.Errorf("the debug server did not listen at %s "+
		"within %v", socket, serverStart))
	defer cancel()
	for {
		code, err := s.Device.Shell(ctx, "[ -S "+transport.Quote(socket)+" ]", transport.Streams{})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case code == 0:
			return nil
		}
		select {
		case <-ended:
			return errEnded
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(serverPoll):
		}
	}
}
