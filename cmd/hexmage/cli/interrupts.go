package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
)

// errInterrupted is the cause of a context that Ctrl-C ended.
var errInterrupted = errors.New("interrupted")

// interrupts decides what Ctrl-C does: the first one ends a context, so that children end and state is kept; the
// second ends this process and its children at once.
type interrupts struct {
	mu   sync.Mutex
	say  func(text string) // nil: say nothing
	kill []*func()         // end the children
}

// newInterrupts returns one that shows texts by say, if that is not nil.
func newInterrupts(say func(string)) *interrupts { return &interrupts{say: say} }

// notify has texts shown by say from now on, as on a display whose last lines are rewritten. It returns a function
// that goes back to what was before.
func (i *interrupts) notify(say func(string)) func() {
	i.mu.Lock()
	defer i.mu.Unlock()
	before := i.say
	i.say = say
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.say = before
	}
}

// show shows a text as others are, now.
func (i *interrupts) show(text string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.say != nil {
		i.say(text)
	}
}

// onKill adds to what ends the children, and returns what takes it off again.
func (i *interrupts) onKill(kill func()) func() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.kill = append(i.kill, &kill)
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.kill = slices.DeleteFunc(i.kill, func(k *func()) bool { return k == &kill })
	}
}

func (i *interrupts) first() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.say != nil {
		i.say("hexmage: stopping; once more to stop at once\n")
	}
}

func (i *interrupts) second() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, kill := range i.kill {
		(*kill)()
	}
	os.Exit(ExitInterrupted)
}

// watch returns a context that ends with the first interrupt, or when the terminal goes away, and a function that
// stops watching.
func (i *interrupts) watch(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup stays what it is
		signal.Notify(ch, syscall.SIGHUP)
	}
	go func() {
		if _, ok := <-ch; !ok {
			return
		}
		cancel(errInterrupted)
		i.first()
		if _, ok := <-ch; ok {
			i.second()
		}
	}()
	return ctx, func() { signal.Stop(ch); close(ch); cancel(nil) }
}

// survivePipes makes a reader that goes away, such as `head`, an error of writing rather than the end of the process:
// a build goes on.
func survivePipes() func() {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGPIPE)
	return func() { signal.Stop(ch) }
}
