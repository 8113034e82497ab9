// Package front is what there is of the command line before the engine: what the process was given, the flags of `hexmage run`, where things are, how a
// run is shown. With that and the snapshot of the last run it tells that there is nothing to do (Run), which is most of what hexmage is asked.
//
// The program hexmage is this package; the program hexmage-engine has all commands, in package cli, and takes the same parts from here. What is
// linked is run at every start, so this package imports nothing that a run without work can do without (docs/design/0018-front.md): no language, no
// kinds, no toolchains. A test holds it to that.
package front

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/hexmage/hexmage/internal/ansi"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/report"
)

// Exit codes are API: programs may rely on them.
const (
	ExitOK          = 0
	ExitFailed      = 1   // a step failed
	ExitUsage       = 2   // usage or configuration
	ExitEngine      = 3   // engine or infrastructure
	ExitLocked      = 4   // another process holds what this one needs
	ExitCheck       = 5   // all steps are done, and a check of severity error failed
	ExitInterrupted = 130 // by Ctrl-C
)

// Env is what the process was given: everything the command line takes from outside its arguments.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Vars           []string // KEY=value
	Dir            string   // working directory
	Self           string   // path of the engine, which runs again as a built-in tool
	Front          string   // path of the program hexmage that belongs to it
	Terminal       bool     // Stderr is a terminal
	Width          int      // its columns
	CPULevel       string   // level of the processor's instruction set

	Heap int64 // of a child of a hexmage that has little memory: about how far the heap may grow; else 0
}

// System returns the environment of a process that is the engine.
func System() Env {
	dir, _ := os.Getwd()
	self := program(EngineName)
	e := Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Vars: os.Environ(), Dir: dir, Self: self, Front: sibling(self, Name), CPULevel: cpuLevel()}
	if fd := int(os.Stderr.Fd()); term.IsTerminal(fd) {
		e.Terminal = true
		e.Width, _, _ = term.GetSize(fd)
	}
	return e
}

// program is the path of this process's program, which has the name. Where the system does not tell, as one without /proc, it is beside what was called: the
// program hexmage becomes the engine under its own name.
func program(name string) string {
	self, err := os.Executable()
	if err == nil {
		return self
	}
	called, err := exec.LookPath(os.Args[0])
	if err == nil {
		called, err = filepath.Abs(called)
	}
	if err != nil {
		return ""
	}
	return sibling(called, name)
}

// TakeStack has the caller's stack grow at once to what a run without work needs. Each time that it grows by and by, the runtime looks through all frames,
// with tables that are nowhere in memory yet: that took 0.10 to 0.15 of 3 ms.
func TakeStack() { largeFrame(false) }

//go:noinline
func largeFrame(used bool) byte {
	if !used {
		return 0 // what is not used is not cleared
	}
	var frame [24 << 10]byte
	for i := range frame {
		frame[i] = frame[i/2] + 1
	}
	return frame[len(frame)-1]
}

// Var returns a variable of the environment, or "".
func (e Env) Var(name string) string {
	for i := len(e.Vars) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e.Vars[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// When garbage is collected.
const (
	littleHeap = 39 << 20 // bytes that the heap may have without being looked through: most commands end before
	growLittle = 13       // percent that a larger one may grow by, of what was in use, until it is looked through again: with its program, and what is lost between objects, a process has 80 MB then
	largeHeap  = 60 << 20 // in use: a process has much more than that in any case, and it takes long to look through
	growLarge  = 50       // percent that it may grow by

	// growFirst is the most that a little heap may grow by that was looked through: how much is in use is learnt some time after garbage was
	// collected, and may be several times as much then. Up to smallHeap it may be growSmall: a graph of a thousand actions needs no more.
	growFirst = 60
	smallHeap = 28 << 20
	growSmall = 150
)

// EngineHeap is how many bytes the heap of the engine may have until it is looked through first. Its program is large: what only the start needed of that goes then.
const EngineHeap = 24 << 20

// TuneHeap says when garbage is collected, from now on: first when the heap has so many bytes, or littleHeap for 0. Go would begin at 4 MB, or look through a small heap as often as through a large one, in
// proportion; what is large here is read in streams, and the graph of a large pipeline should not cost several times its size. A limit in bytes is set only
// where the machine lets the process have little (limits_linux.go): a heap that is held near what it needs is looked through all the time.
//
// When garbage is collected, pages of the program itself are given back, too, now and then: more than half of them only its start needed.
func TuneHeap(first uint64) {
	const least = 4 << 20 // Go counts no less
	tune(int(100*cmp.Or(first, littleHeap)/least)-100, time.Time{})
}

// freeEvery is how long the program's pages are left alone once they were given back: those that are needed have to come back.
const freeEvery = 20 * time.Millisecond

// tune lets the heap grow by so many percent, and has the next time that garbage is collected say what comes after it, with when the program's pages were given
// back last. (Package runtime/metrics, which tells what is in use, has maps that are made at each start.)
func tune(percent int, freed time.Time) {
	debug.SetGCPercent(percent)
	runtime.SetFinalizer(new([16]byte), func(any) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if now := time.Now(); now.Sub(freed) >= freeEvery {
			freeProgram()
			freed = now
		}
		tune(growth(m.NextGC*100/uint64(100+percent)), freed)
	})
}

// OneMore lets as many goroutines run at once as there are processors, and one more, if Go was not told otherwise. What carries out small actions is in system
// calls most of the time, and each keeps a processor of Go's that has nothing to do: one more makes up for it. It is for when planning has ended, which
// computes, and at whose peak of memory there is little room.
func OneMore() {
	if n := runtime.NumCPU(); runtime.GOMAXPROCS(0) == n {
		runtime.GOMAXPROCS(n + 1)
	}
}

// growth is how much the heap may grow by, in percent, with so many bytes in use.
func growth(live uint64) int {
	if live >= largeHeap {
		return growLarge
	}
	to := func(heap uint64) int { return int(100*heap/max(1, live)) - 100 }
	return max(growLittle, min(to(littleHeap), max(growFirst, min(to(smallHeap), growSmall))))
}

// ExitError carries an exit code and what to say with it.
type ExitError struct {
	Code int
	Err  error // nil: it was said already
}

// Error implements error.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns what there is to say.
func (e *ExitError) Unwrap() error { return e.Err }

// Usage is the error for what the user got wrong.
func Usage(format string, args ...any) error {
	return &ExitError{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// Engine is the error for what went wrong below.
func Engine(err error) error { return &ExitError{Code: ExitEngine, Err: err} }

// Ended says what a command that returned err ends with. There is no message where all has been said.
func Ended(ctx context.Context, err error) event.Error {
	var exit *ExitError
	switch {
	case err == nil:
		return event.Error{ExitCode: ExitOK}
	case errors.As(err, &exit) && exit.Err == nil:
		return event.Error{ExitCode: exit.Code}
	case exit != nil:
		return event.Error{Message: exit.Err.Error(), ExitCode: exit.Code}
	case ctx.Err() != nil:
		return event.Error{Message: "interrupted", ExitCode: ExitInterrupted}
	}
	return event.Error{Message: err.Error(), ExitCode: ExitEngine}
}

// ExitWith prints what has not been said, for programs as JSON too, and chooses the exit code.
func ExitWith(ctx context.Context, err error, env Env, json bool) int {
	end := Ended(ctx, err)
	if end.Message != "" {
		fmt.Fprintln(env.Stderr, "hexmage:", ansi.Visible(end.Message, false))
		if json {
			report.JSON(env.Stdout, time.Now).Send(end)
		}
	}
	return end.ExitCode
}

// Absolute returns path seen from dir.
func Absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// prefix begins the name of each variable that is hexmage's. Beside those of variables are there HEXMAGE_VAR_NAME, and those that it sets for others.
const prefix = "HEXMAGE_"

// variables are the names, without prefix, of variables that people set.
var variables = []string{"CACHE", "CPUPROFILE", "DEVICES", "DIGEST", "MEMPROFILE", "MIRRORS", "PROFILE", "REMOTE", "SANDBOX"}

// Variables with which developers look into a run of hexmage itself (docs/performance.md). Each names the file to write.
const (
	EnvCPUProfile = "HEXMAGE_CPUPROFILE"
	EnvMemProfile = "HEXMAGE_MEMPROFILE" // what was allocated, and what is still in use, at the end of the run
)
