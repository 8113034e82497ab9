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
	"github.com/hexmage/hexmage/runner/link"
	"github.com/hexmage/hexmage/runner/push"
)

// DebugSocket is where a debug server listens, in the run's folder.
const DebugSocket = ".hexmage.debug"

// serverStart is how long a debug server may take until it listens, and serverPoll how often it is asked for.
const (
	serverStart = 30 * time.Second
	serverPoll  = 50 * time.Millisecond
)

// Server says how a program is started so that it stands before its first instruction until somebody comes to DebugSocket who speaks GDB's protocol.
type Server struct {
	Files map[string]push.File // what is pushed for it, beside the request's files
	Args  []string             // what stands before the command; as Request.Args
	Env   map[string]string    // beside the request's
}

// LLDBServer is Android's own: the program lldb-server, started as AOSP's scripts do.
func LLDBServer(program push.File) Server {
	const name = ".hexmage.lldb-server"
	program.Executable = true
	return Server{Files: map[string]push.File{name: program}, Args: []string{"./" + name, "gdbserver", "unix://$HEXMAGE_ROOT/" + DebugSocket, "--"}}
}

// Debug pushes what the device lacks, as Run does, and starts the command under the debug server, in the same folder, with the same environment and input. with is called
// when the server listens, with its socket as adb's server calls it, and a channel that is closed when the command has ended. When with returns, the command is ended, and its
// folder goes; what with returned is returned. Nothing is pulled.
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
	var how error // it ended; to be read when ended is closed
	go func() {
		defer close(ended)
		res, err := s.command(running, dir, q)
		if how = err; err == nil {
			how = fmt.Errorf("it ended with exit code %d", res.ExitCode)
		}
	}()
	socket := path.Join(dir, DebugSocket)
	if err := s.listens(ctx, socket, ended); err != nil {
		if errors.Is(err, errEnded) {
			err = how
		}
		return fmt.Errorf("start %s under the debug server: %w", program, err)
	}
	return with(ctx, "localfilesystem:"+socket, ended)
}

// errEnded is what listens returns for a command that ended first.
var errEnded = errors.New("it ended")

// servedBy is the request with its command started by the server. It takes no samples: the program is not running most of the time.
func (q Request) servedBy(server Server) Request {
	program := q.Args[0]
	files := maps.Clone(q.Files)
	if f, pushed := files[path.Clean(program)]; pushed {
		f.Executable = true
		files[path.Clean(program)] = f
		if !strings.Contains(program, "/") {
			program = "./" + program
		}
	}
	if files == nil {
		files = map[string]push.File{}
	}
	maps.Copy(files, server.Files)
	env := maps.Clone(q.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, server.Env)
	q.Files, q.Env, q.Args = files, env, slices.Concat(server.Args, []string{program}, q.Args[1:])
	q.SampleEvery, q.Log = 0, NoLog
	return q
}

// listens waits until the socket is there.
func (s *Session) listens(ctx context.Context, socket string, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeoutCause(ctx, serverStart, fmt.Errorf("nobody listens at %s after %v", socket, serverStart))
	defer cancel()
	for {
		code, err := s.Device.Shell(ctx, "[ -S "+link.Quote(socket)+" ]", link.Streams{})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return link.Explain(ctx, s.Device, err)
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
