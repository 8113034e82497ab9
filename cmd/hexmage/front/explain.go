package front

import (
	"encoding/json"
	"io"
	"os/exec"

	"github.com/hexmage/hexmage/internal/event"
)

// FailuresTool is the built-in tool that says more of failures: it reads and writes a FailedAction at a time, until there are no more, for the workspace
// that is its argument. What is known of failures is a catalogue, which the program hexmage does without until an action fails.
const FailuresTool = "failures"

// FailedAction is an action that failed, as FailuresTool takes it, and gives it back with more hints.
type FailedAction struct {
	Step, Name string
	Failure    *event.Failure
}

// explainer passes on a build's events, those of actions that failed with what FailuresTool says.
type explainer struct {
	app       *App
	workspace string
	open      func() event.Sink // to where they go: there is nobody before there is something to tell

	next event.Sink // nil before

	tool *exec.Cmd // nil until an action failed
	to   io.WriteCloser
	in   *json.Encoder // nil where the tool cannot be had
	out  *json.Decoder
}

// Send implements event.Sink.
func (x *explainer) Send(e event.Event) {
	if x.next == nil {
		x.next = x.open()
	}
	if n, ok := e.(event.ActionFinished); ok && n.Failure != nil {
		n.Failure = x.explained(FailedAction{n.Step, n.Name, n.Failure})
		e = n
	}
	x.next.Send(e)
}

// explained returns the failure as the tool gives it back, or as it is where the tool does not.
func (x *explainer) explained(f FailedAction) *event.Failure {
	if x.tool == nil {
		x.start()
	}
	if x.in == nil {
		return f.Failure
	}
	var more FailedAction
	if x.in.Encode(f) != nil || x.out.Decode(&more) != nil || more.Failure == nil {
		x.in = nil
		return f.Failure
	}
	return more.Failure
}

func (x *explainer) start() {
	x.tool = exec.Command(x.app.Env.Self, "tool", FailuresTool, x.workspace)
	x.tool.Env, x.tool.Dir, x.tool.Stderr = x.app.Env.Vars, x.app.Env.Dir, x.app.Env.Stderr
	to, err := x.tool.StdinPipe()
	if err != nil {
		return
	}
	from, err := x.tool.StdoutPipe()
	if err != nil || x.tool.Start() != nil {
		return
	}
	x.to, x.in, x.out = to, json.NewEncoder(to), json.NewDecoder(from)
}

// end is to be called when there are no more events.
func (x *explainer) end() {
	if x.to != nil {
		_ = x.to.Close()
		_ = x.tool.Wait()
	}
}
