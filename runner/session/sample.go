package session

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/sample"
	"github.com/hexmage/hexmage/runner/transport"
)

// PropertySampleMS is the property for the interval of samples in milliseconds. An action with this property produces
// the outputs SamplesCSV and SamplesJSON.
const PropertySampleMS = "sample_ms"

// Paths of the outputs for a sample.Series and its sample.File. The File's note explains missing samples.
const (
	SamplesCSV  = ".hexmage/samples.csv"
	SamplesJSON = ".hexmage/samples.json"
)

// Time limits for the sampler's first line, and for its last.
const (
	samplerStart = 2 * time.Second
	samplerEnd   = 2 * time.Second
)

// SampleEvery returns the interval in the properties p, or 0.
func SampleEvery(p map[string]string) (time.Duration, error) {
	v, ok := p[PropertySampleMS]
	if !ok {
		return 0, nil
	}
	ms, err := strconv.Atoi(v)
	every := time.Duration(ms) * time.Millisecond
	if err != nil || every < sample.MinInterval || every > sample.MaxInterval {
		return 0, fmt.Errorf("invalid sampling interval of %s ms; use a number from %d to %d", v,
			sample.MinInterval.Milliseconds(), sample.MaxInterval.Milliseconds())
	}
	return every, nil
}

// sample starts the sampler for the command that is about to start in the run's folder, and waits until it is ready or
// fails. Call end once: it stops the sampler and returns the samples. A failure of the sampler is in the Series' note,
// and does not fail the run.
func (s *Session) sample(ctx context.Context, dir string, q Request) (end func() *sample.Series) {
	if q.SampleEvery <= 0 {
		return func() *sample.Series { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	stdin, hold := io.Pipe() // closing it ends the sampler
	out := &sampleStream{begun: make(chan struct{})}
	var errOut execute.HeadTailBuffer
	done := make(chan error, 1)
	go func() {
		command := sample.Command(dir+"/"+layout.PID, q.SampleEvery)
		code, err := s.Device.Shell(ctx, command, transport.Streams{Stdin: stdin, Stdout: out, Stderr: &errOut})
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
	case <-time.After(samplerStart):
	case <-ctx.Done():
	}
	return func() *sample.Series {
		defer cancel()
		defer stdin.Close()
		hold.Close()
		if !over {
			select {
			case ended = <-done:
			case <-time.After(samplerEnd):
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
				series.Note = fmt.Sprintf("no samples: the device's shell cannot run the sampler: %v", ended)
			} else {
				series.Note = fmt.Sprintf("the samples are incomplete: %v", ended)
			}
		}
		return &series
	}
}

// sampleStream parses the output of the sampler. One goroutine writes, another reads.
type sampleStream struct {
	begun chan struct{} // closed after the header

	mu     sync.Mutex
	parser sample.Parser
	closed bool // begun is closed
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

func (s *sampleStream) series() sample.Series {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parser.Series()
}

// WriteSamples writes SamplesCSV and SamplesJSON below the folder dir.
func WriteSamples(dir string, s *sample.Series) error {
	if s == nil {
		s = &sample.Series{Note: "no samples: the command did not start"}
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
