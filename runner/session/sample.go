package session

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/runner/agent"
	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/link"
	"github.com/hexmage/hexmage/runner/push"
)

// PropertySampleMS is how many milliseconds there are between two samples of an action's command; without it none are taken. The action has
// the outputs SamplesCSV and SamplesJSON then.
const PropertySampleMS = "sample_ms"

// Paths of the outputs that hold samples: an agent.Series. Where a device gave none, they say why.
const (
	SamplesCSV  = ".hexmage/samples.csv"
	SamplesJSON = ".hexmage/samples.json"
)

const (
	agentFile  = ".hexmage.agent" // in the run's folder
	agentStart = 2 * time.Second  // a device that takes longer to start the agent is not waited for
	agentEnd   = 2 * time.Second
)

// SampleEvery reads PropertySampleMS.
func SampleEvery(p map[string]string) (time.Duration, error) {
	v, ok := p[PropertySampleMS]
	if !ok {
		return 0, nil
	}
	ms, err := strconv.Atoi(v)
	every := time.Duration(ms) * time.Millisecond
	if err != nil || every < agent.MinInterval || every > agent.MaxInterval {
		return 0, fmt.Errorf("samples every %s ms: want a number from %d to %d", v, agent.MinInterval.Milliseconds(), agent.MaxInterval.Milliseconds())
	}
	return every, nil
}

// withAgent has the agent pushed with the request's files, if samples are wanted.
func (q Request) withAgent() Request {
	if q.SampleEvery <= 0 {
		return q
	}
	program, sum := agent.Program()
	q.Files = maps.Clone(q.Files)
	if q.Files == nil {
		q.Files = map[string]push.File{}
	}
	q.Files[agentFile] = push.File{
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(program)), nil },
		Size: int64(len(program)), Key: "agent:" + sum, Executable: true,
	}
	return q
}

// sample begins to take samples of the command that is about to start in the run's folder. It returns when the device is ready for that, or
// cannot do it. The function it returns ends the samples and gives them; it is to be called once. Nothing of this is a reason for a run
// to fail: what went wrong is told by the Series.
func (s *Session) sample(ctx context.Context, dir string, q Request) (end func() *agent.Series) {
	if q.SampleEvery <= 0 {
		return func() *agent.Series { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	stdin, hold := io.Pipe() // the agent lives as long as it is open
	out := &sampleStream{begun: make(chan struct{})}
	var errOut execute.Capped
	done := make(chan error, 1)
	go func() {
		command := "cd " + link.Quote(dir) + " && exec ./" + agentFile
		for _, a := range agent.SampleArgs(layout.PID, q.SampleEvery) {
			command += " " + link.Quote(a)
		}
		code, err := s.Device.Shell(ctx, command, link.Streams{Stdin: stdin, Stdout: out, Stderr: &errOut})
		if err == nil && code != 0 {
			err = fmt.Errorf("exit code %d: %s", code, strings.TrimSpace(string(errOut.Bytes())))
		}
		done <- err
	}()
	var ended error
	over := false
	select {
	case <-out.begun:
	case ended = <-done:
		over = true
	case <-time.After(agentStart):
	case <-ctx.Done():
	}
	return func() *agent.Series {
		defer cancel()
		defer stdin.Close()
		hold.Close()
		if !over {
			select {
			case ended = <-done:
			case <-time.After(agentEnd):
				cancel()
				ended = <-done
			}
		}
		series := out.series()
		if series.Interval == 0 {
			series.Interval = q.SampleEvery
		}
		if ended != nil {
			if len(series.Rows) == 0 {
				series.Note = fmt.Sprintf("no samples: %s does not run on this device: %v", agent.Name, ended)
			} else {
				series.Note = fmt.Sprintf("the samples are not complete: %v", ended)
			}
		}
		return &series
	}
}

// sampleStream reads what the agent says. It is written to by one goroutine and read by another.
type sampleStream struct {
	begun chan struct{} // closed when rows may come

	mu     sync.Mutex
	parser agent.Parser
	closed bool // begun is
}

// Write implements io.Writer.
func (s *sampleStream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.parser.Write(b)
	if s.parser.Begun() && !s.closed {
		s.closed = true
		close(s.begun)
	}
	return n, err
}

func (s *sampleStream) series() agent.Series {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parser.Series()
}

// WriteSamples writes SamplesCSV and SamplesJSON below the folder dir.
func WriteSamples(dir string, s *agent.Series) error {
	if s == nil {
		s = &agent.Series{Note: "no samples: the command did not start"}
	}
	for name, write := range map[string]func(io.Writer) error{SamplesCSV: s.WriteCSV, SamplesJSON: s.WriteJSON} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return err
		}
		if err := WriteBelow(dir, name, b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
