package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hexmage/hexmage/runner/link"
)

// Shell implements link.Device. The command is run by /bin/sh, whatever shell the user has, which leads a session of its own.
func (b *Board) Shell(ctx context.Context, command string, s link.Streams) (int, error) {
	c, err := b.connection(ctx)
	if err != nil {
		return 0, err
	}
	code, err := c.run(ctx, "exec /bin/sh -c "+link.Quote(command), s)
	if err != nil {
		return 0, fmt.Errorf("ssh: %s: %w", b.serial, err)
	}
	return code, nil
}

// opened is a command that runs.
type opened struct {
	ch     ssh.Channel
	status chan ending // how it ended, once its session is closed
}

// patience is how long a board is asked again that opens no more sessions: those of commands that were just ended count until their processes are gone.
const patience = 3 * time.Second

// session opens a session.
func (c *connection) session(ctx context.Context) (ssh.Channel, <-chan *ssh.Request, error) {
	until := time.Now().Add(patience)
	for pause := 20 * time.Millisecond; ; pause *= 2 {
		ch, requests, err := c.client.OpenChannel("session", nil)
		var refused *ssh.OpenChannelError
		if !errors.As(err, &refused) || refused.Reason == ssh.Prohibited || refused.Reason == ssh.UnknownChannelType || time.Now().Add(pause).After(until) {
			return ch, requests, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, nil, err
		}
	}
}

// open has the board start a command.
func (c *connection) open(ctx context.Context, command string) (opened, error) {
	ch, requests, err := c.session(ctx)
	if err != nil {
		return opened{}, err
	}
	o := opened{ch, make(chan ending, 1)}
	go func() { o.status <- status(requests) }() // from now on: a board that sends many holds up all that comes
	taken, err := ch.SendRequest("exec", true, ssh.Marshal(struct{ Command string }{command}))
	if err == nil && !taken {
		err = errNoCommands
	}
	if err != nil {
		ch.Close()
		return opened{}, err
	}
	return o, nil
}

var errNoCommands = errors.New("the board runs no commands for this user: is it a forced command, or an account for files alone?")

// opening is what open gave.
type opening struct {
	opened
	err error
}

// run runs a command to its end.
func (c *connection) run(ctx context.Context, command string, s link.Streams) (int, error) {
	began := make(chan opening, 1)
	go func() {
		o, err := c.open(ctx, command)
		began <- opening{o, err}
	}()
	var o opening
	select {
	case o = <-began:
	case <-ctx.Done():
		go func() {
			if late := <-began; late.err == nil {
				late.ch.Close()
			}
		}()
		return 0, context.Cause(ctx)
	}
	var refused *ssh.OpenChannelError
	switch {
	case errors.As(o.err, &refused):
		return 0, fmt.Errorf("the board opens no more sessions: %w", o.err)
	case errors.Is(o.err, errNoCommands):
		return 0, o.err
	case o.err != nil:
		return 0, dropped(ctx, o.err)
	}
	g := &gate{}
	over := make(chan ending, 1)
	go func() { over <- o.finish(g, s) }()
	select {
	case e := <-over:
		if e.err != nil && !errors.Is(e.err, errLocal) {
			return 0, dropped(ctx, e.err)
		}
		return e.code, e.err
	case <-ctx.Done():
		g.shut()
		go o.ch.Close() // which writes to a link that may be dead
		return 0, context.Cause(ctx)
	}
}

// ending is how a command ended.
type ending struct {
	code int
	err  error
}

// errLocal marks what failed on this side: a reader or writer that the caller gave.
var errLocal = errors.New("local file")

// finish moves what goes to a command and comes from it, until it has ended and all that it printed is here.
func (o opened) finish(g *gate, s link.Streams) ending {
	fed := make(chan error, 1)
	go func() {
		err := feed(o.ch, s.Stdin)
		fed <- err
		if err != nil {
			o.ch.Close() // the command sees an end of its input, and cannot tell it from a real one
		}
	}()
	var wg sync.WaitGroup
	for from, to := range map[io.Reader]io.Writer{o.ch: s.Stdout, o.ch.Stderr(): s.Stderr} {
		wg.Go(func() {
			if _, err := io.Copy(gated{g, to}, from); err != nil {
				o.ch.Close()
			}
		})
	}
	end := <-o.status
	wg.Wait()
	o.ch.Close()
	select { // a local reader that failed is why the rest failed
	case err := <-fed:
		if err != nil {
			return ending{err: err}
		}
	default:
	}
	if err := g.failed(); err != nil {
		return ending{err: fmt.Errorf("%w: %w", errLocal, err)}
	}
	return end
}

// feed gives a command its input.
func feed(ch ssh.Channel, in io.Reader) error {
	buf := make([]byte, 64<<10)
	for in != nil {
		n, err := in.Read(buf)
		if n > 0 {
			if _, e := ch.Write(buf[:n]); e != nil {
				return nil // the command is over, or the link: who reads knows which
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errLocal, err)
		}
	}
	_ = ch.CloseWrite() // likewise
	return nil
}

// status reads how a command ended, until its session is closed.
func status(requests <-chan *ssh.Request) ending {
	end := ending{err: errors.New("it ended without saying how")}
	for r := range requests {
		switch r.Type {
		case "exit-status":
			var is struct{ Status uint32 }
			if ssh.Unmarshal(r.Payload, &is) == nil {
				end = ending{code: int(is.Status & 0xff)}
			}
		case "exit-signal":
			var is struct {
				Signal string
				Core   bool
				Text   string
				Lang   string
			}
			if ssh.Unmarshal(r.Payload, &is) == nil {
				end = ending{code: 128 + signal(is.Signal)}
			}
		}
		if r.WantReply {
			_ = r.Reply(false, nil) // there is nobody to tell
		}
	}
	return end
}

// signal is Linux's number of a signal by its name in RFC 4254; 0 of another.
func signal(name string) int {
	return map[string]int{"HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "TRAP": 5, "ABRT": 6, "BUS": 7, "FPE": 8, "KILL": 9, "USR1": 10, "SEGV": 11, "USR2": 12, "PIPE": 13, "ALRM": 14, "TERM": 15}[name]
}

// gate lets one goroutine at a time write, and none once it is shut.
type gate struct {
	mu     sync.Mutex
	closed bool
	err    error // of the first write that failed
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

func (g *gate) failed() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// gated is a writer behind a gate. A nil one discards.
type gated struct {
	g *gate
	w io.Writer
}

// Write implements io.Writer.
func (w gated) Write(b []byte) (int, error) {
	w.g.mu.Lock()
	defer w.g.mu.Unlock()
	if w.g.closed || w.w == nil {
		return len(b), nil
	}
	n, err := w.w.Write(b)
	if err != nil && w.g.err == nil {
		w.g.err = err
	}
	return n, err
}
