package lease

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/atomicfile"
	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/link"
)

const (
	poll         = 500 * time.Millisecond
	sayWait      = 20 * time.Second // for the device to say who has it
	endWait      = 5 * time.Second  // for a hold to be given back
	defaultGrace = 5 * time.Second  // for one whose link broke to come back
	beatEvery    = 10 * time.Second // a holder says that it is there: a link that is dead without an end looks as one that is quiet
	beatWait     = time.Minute      // a holder that says nothing for so long counts as one whose link broke
)

// ErrLost says that another host had the device while the link of the one that held it was broken. It wraps link.ErrDropped: all of what
// was to be done may be tried again, from the start.
var ErrLost = fmt.Errorf("another host used the device while its link was broken: nothing more was done to it: %w", link.ErrDropped)

// Options say who wants a device.
type Options struct {
	Who     string             // for people
	Host    string             // the same for all who take turns by Process: what one of them left when it died is taken over at once
	Grace   time.Duration      // how long another's link may be broken before its hold is taken over; 0: five seconds
	Waiting func(owner string) // told once who has the device, if somebody does; may be nil

	beatEvery, beatWait time.Duration // 0: the constants; tests wait less
}

// Lease is a device that one host has for itself. The nil one is of a device that nobody else knows. Safe for concurrent use.
type Lease struct {
	dev     link.Device
	token   string
	options Options
	over    chan struct{} // closed by Release
	local   func()        // given back, too; may be nil

	mu      sync.Mutex // guards what follows
	process *deviceProcess
	lost    error
	ended   bool
}

// OnDevice makes this the only user of a device among hosts: a process on the device has it until Release, or until this process or its link is
// gone for longer than the others' Grace. It waits until ctx ends.
func OnDevice(ctx context.Context, dev link.Device, o Options) (*Lease, error) {
	token := layout.NewID()
	if o.Grace <= 0 {
		o.Grace = defaultGrace
	}
	h := &Lease{dev: dev, token: token, options: o, over: make(chan struct{})}
	mode, stale, since, told := "new", "", time.Time{}, false
	for {
		p, said, err := h.start(ctx, mode)
		if err != nil {
			return nil, fmt.Errorf("lease of %s on the device: %w", dev.Place().Serial, err)
		}
		word, owner, _ := strings.Cut(said, " ")
		if word == "got" {
			h.process = p
			go h.keep()
			return h, nil
		}
		p.end()
		mode = "new"
		if word == "stale" {
			var whose string
			whose, owner, _ = strings.Cut(owner, " ")
			if whose != stale {
				stale, since = whose, time.Now()
			} else if time.Since(since) >= o.Grace {
				mode = stale
			}
		} else if !told && o.Waiting != nil && owner != "" {
			told = true
			o.Waiting(owner)
		}
		select {
		case <-time.After(min(poll, o.Grace)):
		case <-ctx.Done():
			return nil, fmt.Errorf("lease of %s: %s uses it: %w", dev.Place().Serial, owner, context.Cause(ctx))
		}
	}
}

// Check returns nil if the device still is held. Where the link broke it is taken again, unless another had it meanwhile: that is
// ErrLost, for ever.
func (h *Lease) Check(ctx context.Context) error {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lost != nil || h.ended {
		return h.lost
	}
	select {
	case <-h.process.over:
	default:
		return nil
	}
	p, said, err := h.start(ctx, "again")
	if err != nil {
		return fmt.Errorf("take the lease of %s on the device again: %w", h.dev.Place().Serial, err)
	}
	word, owner, _ := strings.Cut(said, " ")
	if word == "got" {
		h.process = p
		return nil
	}
	p.end()
	if owner == "" {
		owner = "it is gone again"
	}
	h.lost = fmt.Errorf("lease of %s: %w (%s)", h.dev.Place().Serial, ErrLost, owner)
	return h.lost
}

// Lost tells whether another had the device since.
func (h *Lease) Lost() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost != nil
}

// keep takes the hold again when its link broke and comes back by itself.
func (h *Lease) keep() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for {
		h.mu.Lock()
		p, done := h.process, h.lost != nil || h.ended
		h.mu.Unlock()
		if done {
			return
		}
		select {
		case <-h.over:
			return
		case <-p.over:
		}
		select {
		case <-h.over:
			return
		case <-time.After(poll):
		}
		bounded, stop := context.WithTimeout(ctx, endWait)
		_ = h.Check(bounded) // whoever uses the device hears of it
		stop()
	}
}

// Release gives the device back. It may be called again.
func (h *Lease) Release() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		return
	}
	h.ended = true
	close(h.over)
	h.process.end()
	if h.local != nil {
		h.local()
	}
}

// Fence is the start of a script that may run only while the device is held, for the moment between the break of a link and its notice.
func (h *Lease) Fence() string {
	if h == nil {
		return ""
	}
	return `[ -d ` + layout.Lease + `/` + h.token + ` ] || { echo ` + fenced + ` >&2; exit 98; }
`
}

const fenced = "hexmage-hold-lost"

// Noticed makes of a script's failure what it means.
func (h *Lease) Noticed(err error) error {
	var exit *link.ExitError // its words alone: the error also shows the script, with the fence in it
	if h == nil || !errors.As(err, &exit) || !strings.Contains(exit.Said, fenced) {
		return err
	}
	return fmt.Errorf("lease of %s: %w", h.dev.Place().Serial, ErrLost)
}

// deviceProcess is a process on the device.
type deviceProcess struct {
	end  func()        // tells it that the hold is given back
	over chan struct{} // closed when it ended, or its link
}

// start starts the process and returns what it says.
func (h *Lease) start(ctx context.Context, mode string) (*deviceProcess, string, error) {
	ctx, heard := context.WithTimeoutCause(ctx, sayWait, fmt.Errorf("%w: nothing was heard of it for %v", link.ErrDropped, sayWait))
	defer heard()
	in, input := io.Pipe()
	output, out := io.Pipe()
	over, ending := make(chan struct{}), make(chan struct{})
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var failed error
	go func() {
		defer close(over)
		line := strings.NewReplacer("\n", " ", "\r", " ")
		wait := cmp.Or(h.options.beatWait, beatWait)
		head := line.Replace(h.options.Who) + "\n" + h.token + "\n" + line.Replace(h.options.Host) + "\n" + mode + "\n" + strconv.Itoa(int(wait.Seconds())) + "\n"
		_, failed = h.dev.Shell(running, h.dev.Place().Folder.Script(script), link.Streams{Stdin: io.MultiReader(strings.NewReader(head), in), Stdout: out})
		out.Close()
		in.Close()
	}()
	var saying sync.WaitGroup // the beats, which end before the last word
	saying.Go(func() {
		for {
			select {
			case <-running.Done():
				return
			case <-ending:
				return
			case <-over:
				return
			case <-time.After(cmp.Or(h.options.beatEvery, beatEvery)):
			}
			if _, err := io.WriteString(input, "here\n"); err != nil {
				return
			}
		}
	})
	end := sync.OnceFunc(func() {
		close(ending)
		go func() {
			saying.Wait()
			_, _ = io.WriteString(input, "done\n")
			input.Close()
		}()
		select {
		case <-over:
		case <-time.After(endWait):
		}
		cancel()
		output.Close()
	})
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	said, err := bufio.NewReader(io.LimitReader(output, 4096)).ReadString('\n')
	said = strings.TrimSpace(said)
	word, _, _ := strings.Cut(said, " ")
	if err == nil && (word == "got" || word == "busy" || word == "stale" || word == "lost") {
		return &deviceProcess{end, over}, said, nil
	}
	cancel()
	end()
	<-over
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case failed != nil:
		err = failed
	case errors.Is(err, io.EOF) && said == "":
		err = link.ErrDropped
	default:
		err = fmt.Errorf("the device says %.60q", said)
	}
	return nil, "", err
}

// processName names this process to the users of other hosts.
func processName() string {
	host, _ := os.Hostname() // only for people
	return fmt.Sprintf("hexmage on %s, process %d", host, os.Getpid())
}

// Acquire is Process, and then OnDevice: the only user among this machine's processes and among hosts. Release gives both back.
func Acquire(ctx context.Context, state string, dev link.Device, waiting func(owner string)) (*Lease, error) {
	here, err := Process(ctx, filepath.Join(state, "leases"), dev.Place().Serial, waiting)
	if err != nil {
		return nil, err
	}
	held, err := OfHost(ctx, state, dev, dev.Place().Serial, waiting)
	if err != nil {
		here()
		return nil, err
	}
	held.local = here
	return held, nil
}

// OfHost is OnDevice for one that has the Process lease of that key; state is the folder that those who take turns by Process share.
func OfHost(ctx context.Context, state string, dev link.Device, key string, waiting func(owner string)) (*Lease, error) {
	host, err := hostName(filepath.Join(state, "leases", "host"))
	if err != nil {
		return nil, err
	}
	return OnDevice(ctx, dev, Options{Who: processName(), Host: host + " " + key, Waiting: waiting})
}

// hostName is the same for all processes that share a folder of leases, and for no others.
func hostName(file string) (string, error) {
	for {
		if b, err := os.ReadFile(file); err == nil && len(b) == 16 {
			return string(b), nil
		}
		id := layout.NewID()
		if err := atomicfile.PlaceFile(file, []byte(id), 0o644); err != nil {
			return "", fmt.Errorf("name this machine to others: %w", err)
		}
	}
}

// Input: who it is for; a token of that holder; its host; then "new", "again" for a holder whose link broke, or the token of a hold that is
// to be taken over; then for how many seconds a holder may say nothing; then "here" again and again until the line "done", which gives the device back.
// An input that ends without it is a link that broke: the hold stays for its holder. Output: "got"; "busy OWNER"; "stale TOKEN OWNER" of one whose process
// is gone, or that says nothing; "lost OWNER" to a holder that came too late. The word hexmage-lease is in the command line of those that are there. Times
// are seconds since the device began: nobody sets that clock.
//
// A hold is a folder lease/TOKEN, which is there whole or not at all. Who has put his there looks whether it is alone: if not, he takes it away. So of several
// at most one finds that it is alone, and who comes later finds that one. A hold that is taken over is moved away by its name: nobody moves another's. Who has
// the device ends what was left running on it.
const script = layout.Guard + `: hexmage-lease
read -r who && read -r me && read -r host && read -r mode && read -r most && mkdir -p ` + layout.Root + `/lease && cd ` + layout.Root + ` || exit 1
alive() { # sets p, there if the process of a hold is there, and here if it also says so
	p= b= now= there= here=
	read -r p <"$1/pid" && grep -q hexmage-lease "/proc/$p/cmdline" && there=yes here=yes
	read -r b _ <"$1/beat" && read -r now _ </proc/uptime && [ "$((${now%%.*} - ${b%%.*}))" -gt "$most" ] && here=
} 2>/dev/null
away() { mv "$1" "lease/.old.$me.$$" 2>/dev/null && rm -rf "lease/.old.$me.$$"; }
others() { # names one, and who it is
	for e in lease/*; do
		[ -d "$e" ] && [ "$e" != "lease/$me" ] || continue
		o=$(cat "$e/owner" 2>/dev/null)
		return 0
	done
	return 1
}
if [ -d "lease/$me" ]; then
	alive "lease/$me"
	[ -n "$there" ] && kill -9 "$p" 2>/dev/null
	{ echo $$ >"lease/$me/pid" && cat /proc/uptime >"lease/$me/beat" && [ -d "lease/$me" ]; } 2>/dev/null || { others; echo "lost $o"; exit 0; }
elif [ "$mode" = again ]; then
	o=
	others
	rmdir lease 2>/dev/null
	echo "lost $o"
	exit 0
else
	n=0
	while others; do
		alive "$e"
		n=$((n + 1))
		[ $n -gt 9 ] && here=yes # it cannot be moved
		t=${e#lease/}
		if [ -n "$here" ]; then echo "busy $o"; exit 0; fi
		if [ "$mode" != "$t" ] && [ "$(cat "$e/host" 2>/dev/null)" != "$host" ]; then echo "stale $t $o"; exit 0; fi
		away "$e" && [ -n "$there" ] && kill -9 "$p" 2>/dev/null
	done
	new=lease/.new.$me
	{ mkdir -p "$new" && echo $$ >"$new/pid" && echo "$host" >"$new/host" && echo "$who" >"$new/owner" && cat /proc/uptime >"$new/beat" && mv "$new" "lease/$me"; } 2>/dev/null ||
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
while read -r bye && [ "$bye" = here ]; do
	cat /proc/uptime >"lease/$me/beat" 2>/dev/null
done
[ "$bye" = done ] && away "lease/$me" && rmdir lease 2>/dev/null
exit 0`
