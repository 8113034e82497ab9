// Package lease makes a process the only user of a device. For this, OnDevice starts a process on the device, which
// ends when the link from the calling process ends. The package does not know pools or commands.
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
	"github.com/hexmage/hexmage/runner/transport"
)

const (
	poll    = 500 * time.Millisecond
	sayWait = 20 * time.Second // for the device to name its user
	endWait = 5 * time.Second  // for the end of a lease
)

// ErrLost means that another process used the device while this process's link was broken. It wraps
// transport.ErrDropped, so the caller may restart the work.
var ErrLost = fmt.Errorf("another process used the device after the connection broke, so hexmage stopped: %w",
	transport.ErrDropped)

// InUse means that another process uses the device.
type InUse struct{ Owner string }

func (e *InUse) Error() string { return "in use by " + e.Owner }

// Lease makes this process the only user of a device. Use a nil Lease for a device that other processes do not know. A
// Lease is safe for concurrent use.
type Lease struct {
	dev   transport.Device
	token string

	mu     sync.Mutex // guards the fields below
	holder *holder    // nil: Release was called
	lost   error
}

// OnDevice makes the caller the only user of a device, among goroutines, processes and hosts. The lease ends with
// Release or when the link breaks. If another process uses the device, OnDevice calls waiting once, and waits for the
// device or the end of ctx. If waiting is nil, it returns an InUse error instead.
func OnDevice(ctx context.Context, dev transport.Device, waiting func(owner string)) (*Lease, error) {
	l := &Lease{dev: dev, token: layout.NewID()}
	fail := func(err error) (*Lease, error) {
		return nil, fmt.Errorf("cannot lock device %s: %w", dev.Place().Serial, err)
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

// Check returns nil if this process is still the only user of the device. If the link broke, Check takes the lease
// again. If another process used the device meanwhile, this and all later calls return ErrLost.
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
		return fmt.Errorf("cannot lock device %s again: %w", l.dev.Place().Serial, err)
	}
	if word == "got" {
		l.holder = h
		return nil
	}
	h.end()
	l.lost = fmt.Errorf("cannot lock device %s: %w (%s)", l.dev.Place().Serial, ErrLost, owner)
	return l.lost
}

// Release ends the lease. A second call does nothing.
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

// Fence returns the first lines of a script. They end the script if another process took the lease, even before Check
// notices it.
func (l *Lease) Fence() string {
	if l == nil {
		return ""
	}
	return `[ -d ` + layout.Lease + `/` + l.token + ` ] || { echo ` + fenced + ` >&2; exit 98; }
`
}

// fenced is the output of a script that its fence ended.
const fenced = "hexmage-lease-lost"

// Noticed returns an ErrLost if err means that the fence ended a script, and otherwise err.
func (l *Lease) Noticed(err error) error {
	var exit *transport.ExitError // the message also has the script with its fence
	if l == nil || !errors.As(err, &exit) || !strings.Contains(exit.Said, fenced) {
		return err
	}
	return fmt.Errorf("cannot lock device %s: %w", l.dev.Place().Serial, ErrLost)
}

// holder is a process on the device.
type holder struct {
	input *io.PipeWriter
	stop  func()
	over  chan struct{} // closed when the process or its link has ended
}

// end makes the process remove its lease.
func (h *holder) end() {
	go func() {
		_, _ = io.WriteString(h.input, "done\n") // fails if the link is gone
		h.input.Close()
	}()
	select {
	case <-h.over:
	case <-time.After(endWait):
	}
	h.stop()
}

// start starts the process and returns its answer: a word, and the rest of the line.
func (l *Lease) start(ctx context.Context, mode string) (h *holder, word, rest string, err error) {
	ctx, heard := context.WithTimeoutCause(ctx, sayWait,
		fmt.Errorf("%w: no answer from the device for %v", transport.ErrDropped, sayWait))
	defer heard()
	in, input := io.Pipe()
	said, out := io.Pipe()
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	h = &holder{input, stop, make(chan struct{})}
	go func() {
		defer close(h.over)
		host, _ := os.Hostname() // for messages only
		head := strings.NewReader(fmt.Sprintf("%s %s hexmage on %s, process %d\n", mode, l.token, host, os.Getpid()))
		_, failed := l.dev.Shell(running, l.dev.Place().Folder.Script(script),
			transport.Streams{Stdin: io.MultiReader(head, in), Stdout: out})
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
		err = transport.ErrDropped
	case err == nil || errors.Is(err, io.EOF):
		err = fmt.Errorf("unexpected answer from the device: %.60q", line)
	}
	return nil, "", "", err
}

// Input: "MODE TOKEN OWNER", where MODE is "new", or "again" for a holder whose link broke. Then the line "done" ends
// the lease. Output: "got", "busy OWNER", or "lost OWNER" if another holder came first.
//
// A lease is the folder lease/TOKEN. A rename makes it complete from the start. Its process has the word
// hexmage-lease in its command line: a lease without such a process is free to take. The script makes its own lease,
// then looks for others. If it finds one, it removes its own. So at most one of several processes finds no other, and
// later ones find its lease. The script renames a lease before it removes it, so two scripts never remove the same
// one. A new holder ends programs that earlier holders left on the device.
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
