package front

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
)

// ErrInterrupted is the cause of a context that Ctrl-C ended.
var ErrInterrupted = errors.New("interrupted")

// Interrupts decides what Ctrl-C does: the first one ends a context, so that children end and state is kept; the second
// ends this process and its children at once.
type Interrupts struct {
	mu   sync.Mutex
	say  func(text string) // nil: say nothing
	kill []*func()         // end the children
}

// NewInterrupts returns one that shows texts by say, if that is not nil.
func NewInterrupts(say func(string)) *Interrupts { return &Interrupts{say: say} }

// Notify has texts shown by say from now on, as on a display whose last lines are rewritten. It returns a function that
// goes back to what was before.
func (i *Interrupts) Notify(say func(string)) func() {
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

// Say shows a text as others are, now.
func (i *Interrupts) Say(text string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.say != nil {
		i.say(text)
	}
}

// OnKill adds to what ends the children, and returns what takes it off again.
func (i *Interrupts) OnKill(kill func()) func() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.kill = append(i.kill, &kill)
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.kill = slices.DeleteFunc(i.kill, func(k *func()) bool { return k == &kill })
	}
}

func (i *Interrupts) first() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.say != nil {
		i.say("hexmage: stopping; once more to stop at once\n")
	}
}

func (i *Interrupts) second() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, kill := range i.kill {
		(*kill)()
	}
	os.Exit(ExitInterrupted)
}

// Watch returns a context that ends with the first interrupt, or when the terminal goes away, and a function that stops
// watching.
func (i *Interrupts) Watch(parent context.Context) (context.Context, func()) {
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
		cancel(ErrInterrupted)
		i.first()
		if _, ok := <-ch; ok {
			i.second()
		}
	}()
	return ctx, func() { signal.Stop(ch); close(ch); cancel(nil) }
}

// SurvivePipes makes a reader that goes away, such as `head`, an error of writing rather than the end of the process: a
// build goes on.
func SurvivePipes() func() {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGPIPE)
	return func() { signal.Stop(ch) }
}
