// Package lease makes a process the only user of a device.
//
// The way in is OnDevice: a process on the device stands for its holder, and ends with the holder's link. The package
// knows links; it does not know what a device is used for, nor pools.
package lease

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/link"
)

const (
	poll    = 500 * time.Millisecond
	sayWait = 20 * time.Second // for the device to say who has it
	endWait = 5 * time.Second  // for a lease to be given back
)

// ErrLost says that another process had the device while the link of its holder was broken. It wraps link.ErrDropped:
// all of what was to be done may be tried again, from the start.
var ErrLost = fmt.Errorf("another process used the device while its link was broken: nothing more was done to it: %w",
	link.ErrDropped)

// InUse says that another process has the device.
type InUse struct{ Owner string }

func (e *InUse) Error() string { return "in use by " + e.Owner }

// Lease is a device that one process has for itself. The nil one is of a device that no other process can use. Safe
// for concurrent use.
type Lease struct {
	dev   link.Device
	token string

	mu     sync.Mutex // guards what follows
	holder *holder    // nil: Release was called
	lost   error
}

// OnDevice makes this process the only user of a device, among goroutines, processes and hosts, until Release or the
// end of the link. If another process has the device, OnDevice calls waiting once and waits until ctx ends. If
// waiting is nil, the error is an InUse instead.
func OnDevice(ctx context.Context, dev link.Device, waiting func(owner string)) (*Lease, error) {
	l := &Lease{dev: dev, token: layout.NewID()}
	fail := func(err error) (*Lease, error) {
		return nil, fmt.Errorf("lease of %s: %w", dev.Place().Serial, err)
	}
	for told := false; ; {
		h, word, owner, err := l.start(ctx, "new")
		if err != nil {
			return fail(err)
		}
		if word == "got" {
			l.holder = h
			return l, nil
		}
		h.end()
		if owner != "" && waiting == nil {
			return fail(&InUse{owner})
		}
		if owner != "" && !told {
			told = true
			waiting(owner)
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			return fail(fmt.Errorf("%w: %w", &InUse{owner}, context.Cause(ctx)))
		}
	}
}

// Check returns nil if this process still has the device. If the link broke, Check takes the lease again, unless
// another process had the device meanwhile: that is ErrLost, for ever.
func (l *Lease) Check(ctx context.Context) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil || l.holder == nil {
		return l.lost
	}
	select {
	case <-l.holder.over:
	default:
		return nil
	}
	h, word, owner, err := l.start(ctx, "again")
	if err != nil {
		return fmt.Errorf("take the lease of %s again: %w", l.dev.Place().Serial, err)
	}
	if word == "got" {
		l.holder = h
		return nil
	}
	h.end()
	l.lost = fmt.Errorf("lease of %s: %w (%s)", l.dev.Place().Serial, ErrLost, owner)
	return l.lost
}

// Lost reports whether another process had the device since.
func (l *Lease) Lost() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost != nil
}

// Release gives the device back. A second call does nothing.
func (l *Lease) Release() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holder != nil {
		l.holder.end()
	}
	l.holder = nil
}

// Fence is the start of a script that may run only while the lease lasts: between the break of a link and its notice.
func (l *Lease) Fence() string {
	if l == nil {
		return ""
	}
	return `[ -d ` + layout.Lease + `/` + l.token + ` ] || { echo ` + fenced + ` >&2; exit 98; }
`
}

const fenced = "hexmage-hold-lost"

// Noticed returns ErrLost for the failure of a script that its fence ended, else the failure.
func (l *Lease) Noticed(err error) error {
	var exit *link.ExitError // its words alone: the error also shows the script, with the fence in it
	if l == nil || !errors.As(err, &exit) || !strings.Contains(exit.Said, fenced) {
		return err
	}
	return fmt.Errorf("lease of %s: %w", l.dev.Place().Serial, ErrLost)
}

// holder is a process on the device.
type holder struct {
	input *io.PipeWriter
	stop  func()
	over  chan struct{} // closed when the process or its link has ended
}

// end has the process remove its lease.
func (h *holder) end() {
	go func() {
		_, _ = io.WriteString(h.input, "done\n") // in vain if the link is gone
		h.input.Close()
	}()
	select {
	case <-h.over:
	case <-time.After(endWait):
	}
	h.stop()
}

// start starts the process and returns its answer: a word, and what follows it.
func (l *Lease) start(ctx context.Context, mode string) (h *holder, word, rest string, err error) {
	ctx, heard := context.WithTimeoutCause(ctx, sayWait,
		fmt.Errorf("%w: the device says nothing for %v", link.ErrDropped, sayWait))
	defer heard()
	in, input := io.Pipe()
	said, out := io.Pipe()
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	h = &holder{input, stop, make(chan struct{})}
	go func() {
		defer close(h.over)
		host, _ := os.Hostname() // only for people
		head := strings.NewReader(fmt.Sprintf("%s %s hexmage on %s, process %d\n", mode, l.token, host, os.Getpid()))
		_, failed := l.dev.Shell(running, l.dev.Place().Folder.Script(script),
			link.Streams{Stdin: io.MultiReader(head, in), Stdout: out})
		out.CloseWithError(failed)
		in.Close()
	}()
	defer context.AfterFunc(ctx, stop)()
	line, err := bufio.NewReader(io.LimitReader(said, 4096)).ReadString('\n')
	word, rest, _ = strings.Cut(strings.TrimSpace(line), " ")
	if err == nil && (word == "got" || word == "busy" || word == "lost") {
		go func() { _, _ = io.Copy(io.Discard, said) }() // a process that cannot print does not end
		return h, word, rest, nil
	}
	stop()
	said.Close()
	h.end()
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, io.EOF) && line == "":
		err = link.ErrDropped
	case err == nil || errors.Is(err, io.EOF):
		err = fmt.Errorf("the device says %.60q", line)
	}
	return nil, "", "", err
}

// Input: "new", or "again" for a holder whose link broke; a token of the holder; who it is; then the line "done",
// which gives the device back. Output: "got"; "busy OWNER"; "lost OWNER" to a holder that came too late. The word
// hexmage-lease is in the command line of those that are there: a lease whose process is gone is nobody's, until its
// holder comes back.
//
// A lease is a folder lease/TOKEN, which is there whole or not at all. A process that has put its own there looks
// whether it is alone: if not, it takes its own away. So of several at most one finds that it is alone, and one that
// comes later finds that one. A lease that is taken over is moved away by its name: nobody moves another's. A new
// holder ends what was left running on the device.
const script = layout.Guard + `: hexmage-lease
read -r mode me who && mkdir -p ` + layout.Lease + ` && cd ` + layout.Root + ` || exit 1
alive() { { read -r p <"$1/pid" && grep -q hexmage-lease "/proc/$p/cmdline"; } 2>/dev/null; }
away() { mv "$1" "lease/.old.$me.$$" 2>/dev/null && rm -rf "lease/.old.$me.$$"; }
others() { # names one, and who it is
	for e in lease/*; do
		[ -d "$e" ] && [ "$e" != "lease/$me" ] || continue
		o=$(cat "$e/owner" 2>/dev/null)
		return 0
	done
	return 1
}
if [ "$mode" = again ]; then
	alive "lease/$me" && kill -9 "$p" 2>/dev/null
	o=
	{ echo $$ >"lease/$me/pid" && [ -d "lease/$me" ]; } 2>/dev/null ||
		{ others; rmdir lease 2>/dev/null; echo "lost ${o:-which is done}"; exit 0; }
else
	n=0
	while others; do
		n=$((n + 1))
		if alive "$e" || [ $n -gt 9 ]; then echo "busy $o"; exit 0; fi # after nine tries it cannot be moved
		away "$e"
	done
	new=lease/.new.$me
	{ mkdir -p "$new" && echo $$ >"$new/pid" && echo "$who" >"$new/owner" && mv "$new" "lease/$me"; } 2>/dev/null ||
		{ rm -rf "$new"; echo busy; exit 0; }
	if others; then
		away "lease/$me"
		echo "busy $o"
		exit 0
	fi
	rm -rf lease/.old.* lease/.new.*
	for f in ` + layout.Runs + `/*/` + layout.PID + `; do
		[ -f "$f" ] && read -r g <"$f" && [ "$(readlink "/proc/$g/cwd")" = "${f%/*}" ] && kill -9 "-$g"
	done 2>/dev/null
fi
echo got
read -r bye && away "lease/$me" && rmdir lease 2>/dev/null
exit 0`
