package runner

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hexmage/hexmage/runner/adb"
)

const (
	holdPoll = 500 * time.Millisecond
	holdEnd  = 5 * time.Second // for a hold to be given back
)

// Hold makes this the only user of a device among hosts: a process on the device has it until it is given back, or this process or its
// link ends. It waits until ctx ends; waiting, if not nil, is told once who has the device. who names this user to others.
func Hold(ctx context.Context, dev *adb.Device, who string, waiting func(owner string)) (release func(), err error) {
	for first := true; ; first = false {
		h, said, err := hold(ctx, dev, who)
		if err != nil {
			return nil, fmt.Errorf("lease of %s on the device: %w", dev.Serial(), err)
		}
		owner, busy := strings.CutPrefix(said, "busy")
		if !busy {
			return h, nil
		}
		owner = strings.TrimSpace(owner)
		h()
		if first && waiting != nil {
			waiting(owner)
		}
		select {
		case <-time.After(holdPoll):
		case <-ctx.Done():
			return nil, fmt.Errorf("lease of %s: %s uses it: %w", dev.Serial(), owner, context.Cause(ctx))
		}
	}
}

// hold starts the process on the device and returns what it says, and what ends it.
func hold(ctx context.Context, dev *adb.Device, who string) (end func(), said string, err error) {
	in, input := io.Pipe()
	output, out := io.Pipe()
	over := make(chan struct{})
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var failed error
	go func() {
		defer close(over)
		line := strings.NewReplacer("\n", " ", "\r", " ").Replace(who) + "\n"
		_, failed = dev.Shell(running, holdScript, adb.Streams{Stdin: io.MultiReader(strings.NewReader(line), in), Stdout: out})
		out.Close()
	}()
	end = func() {
		input.Close()
		select {
		case <-over:
		case <-time.After(holdEnd):
		}
		cancel()
		output.Close()
	}
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	said, err = bufio.NewReader(io.LimitReader(output, 4096)).ReadString('\n')
	said = strings.TrimSpace(said)
	if err == nil && (said == "got" || strings.HasPrefix(said, "busy")) {
		return end, said, nil
	}
	end()
	<-over
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case failed != nil:
		err = failed
	default:
		err = fmt.Errorf("the device says %q", said)
	}
	return nil, "", err
}

// who names this process to the users of other hosts.
func who() string {
	host, _ := os.Hostname() // only for people
	return fmt.Sprintf("hexmage on %s, process %d", host, os.Getpid())
}

// LeaseAll is Lease, and then Hold: the only user among this machine's processes and among hosts.
func LeaseAll(ctx context.Context, state string, dev *adb.Device, waiting func(owner string)) (release func(), err error) {
	here, err := Lease(ctx, filepath.Join(state, "leases"), dev.Serial(), func() {
		if waiting != nil {
			waiting("another process")
		}
	})
	if err != nil {
		return nil, err
	}
	there, err := Hold(ctx, dev, who(), waiting)
	if err != nil {
		here()
		return nil, err
	}
	return func() { there(); here() }, nil
}

// Input: who it is for, then nothing until the lease is given back. Output: "got", or "busy" and who has it. Whose process is gone has it no
// more; the word hexmage-lease is in the command line of those that are there.
const holdScript = ours + `: hexmage-lease
read -r who && mkdir -p ` + deviceRoot + ` && cd ` + deviceRoot + ` || exit 1
if ! mkdir lease 2>/dev/null; then
	p=
	read -r p 2>/dev/null <lease/pid || { sleep 1; read -r p 2>/dev/null <lease/pid; }
	if [ -n "$p" ] && grep -q hexmage-lease "/proc/$p/cmdline" 2>/dev/null; then echo "busy $(cat lease/owner 2>/dev/null)"; exit 0; fi
	mv lease "lease.$$" 2>/dev/null && rm -rf "lease.$$"
	mkdir lease 2>/dev/null || { echo busy; exit 0; }
fi
echo "$who" >lease/owner
echo $$ >lease/pid
echo got
cat >/dev/null
[ "$(cat lease/pid 2>/dev/null)" = $$ ] && rm -rf lease
exit 0`
