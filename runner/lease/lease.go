// Package lease makes a process the only user of a device.
//
// OnDevice is the entry point. It starts a process on the device that ends with the link of this process. The package
// does not know pools, or what runs on a device.
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

// ErrLost tells that another process had the device while the link of this process was broken. It wraps
// link.ErrDropped: the caller may start the work again.
var ErrLost = fmt.Errorf("another process used the device while its link was broken: nothing more was done to it: %w",
	link.ErrDropped)

// InUse tells that another process has the device.
type InUse struct{ Owner string }

func (e *InUse) Error() string { return "in use by " + e.Owner }

// Lease makes this process the only user of a device. A nil Lease is for a device that no other process knows. Safe for
// concurrent use.
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

// Fence returns the first lines of a script. They end the script if another process took the lease, which Check may not
// have noticed yet.
func (l *Lease) Fence() string {
	if l == nil {
		return ""
	}
	return `[ -d ` + layout.Lease + `/` + l.token + ` ] || { echo ` + fenced + ` >&2; exit 98; }
`
}

// fenced is the output of a script that its fence ended.
const fenced = "hexmage-lease-lost"

// Noticed returns an ErrLost if the fence of a script ended it, else err.
func (l *Lease) Noticed(err error) error {
	var exit *link.ExitError // the whole message also has the script, with the fence in it
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

// Input: "MODE TOKEN OWNER", where MODE is "new", or "again" for a holder whose link broke; then the line "done", which
// gives the device back. Output: "got", "busy OWNER", or "lost OWNER" if another holder came first.
//
// A lease is the folder lease/TOKEN. Renaming makes it complete from the start. Its process has the word hexmage-lease
// in its command line: without such a process anyone may take the lease over. The script makes its own lease, and then
// looks for others. If it finds one, it removes its own. So at most one of several processes finds no other, and later
// ones find its lease. The script renames a lease before it removes it, so two scripts never remove the same one. A new
// holder ends programs that earlier holders left on the device.
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
