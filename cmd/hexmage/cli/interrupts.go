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

// interrupts handles Ctrl-C. The first ends a context, so that children end and state is saved. The second kills this
// process and its children.
type interrupts struct {
	mu   sync.Mutex
	say  func(text string) // nil: silent
	kill []*func()         // kill the children
}

// newInterrupts returns interrupts that print by say, which may be nil.
func newInterrupts(say func(string)) *interrupts { return &interrupts{say: say} }

// notify sets the function that prints messages, such as a display with updated lines. The returned function restores
// the earlier one.
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

// show prints a text now. It returns false if no print function is set.
func (i *interrupts) show(text string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.say != nil {
		i.say(text)
	}
	return i.say != nil
}

// onKill registers a function that kills children. The returned function removes it.
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

func (i *interrupts) second() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, kill := range i.kill {
		(*kill)()
	}
	os.Exit(ExitInterrupted)
}

// watch returns a context that ends with the first interrupt or hangup of the terminal, and a function that stops
// watching.
func (i *interrupts) watch(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup stays in effect
		signal.Notify(ch, syscall.SIGHUP)
	}
	go func() {
		if _, ok := <-ch; !ok {
			return
		}
		cancel(errInterrupted)
		i.show("\nhexmage: stopping; press Ctrl-C again to stop at once\n")
		if _, ok := <-ch; ok {
			i.second()
		}
	}()
	return ctx, func() { signal.Stop(ch); close(ch); cancel(nil) }
}

// survivePipes turns a closed pipe, as after `head`, into a write error, so that it does not end the process.
func survivePipes() func() {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGPIPE)
	return func() { signal.Stop(ch) }
}
