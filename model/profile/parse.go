package profile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Bounds of a profile: what a device or a file may say.
const (
	maxLine   = 64 << 10 // bytes
	maxEvents = 4 << 20  // a graph of 10,000 nodes some hundred times
	maxIntro  = 100      // lines before the table
)

// Event is a line of a profile.
type Event struct {
	Phase  string  // INIT, EXECUTE, NODE, BACKEND and such: what the runtime calls the kind of event
	Value  float64 // of Unit
	Unit   string  // US, CYCLES, COUNT, BYTES
	Source string  // BACKEND, or NETRUN: who took the time
	Root   bool    // it is of the whole; otherwise a part of the root event before it
	Name   string  // "Accelerator (execute) time (cycles)", "conv:OpId_17 (cycles)"
}

// Parse reads a profile as a CSV: of ONNX Runtime's QNN provider, or of qnn-profile-viewer, which has lines before the table. Neither quotes: names may have
// commas, the columns before them have none. The error names the line.
func Parse(r io.Reader) ([]Event, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var events []Event
	begun, sources := false, false
	for n := 1; lines.Scan(); n++ {
		line := string(bytes.TrimRight(lines.Bytes(), "\r \t"))
		switch {
		case begun && line == "":
		case begun && len(events) == maxEvents:
			return nil, fmt.Errorf("line %d: more than %d events: profile fewer runs", n, maxEvents)
		case begun:
			e, ok, err := event(line, sources)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			if ok {
				events = append(events, e)
			}
		default:
			if begun, sources = header(line); !begun && n == maxIntro {
				return nil, errNoProfile
			}
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("a line has more than %d bytes", maxLine)
	case err != nil:
		return nil, err
	case !begun:
		return nil, errNoProfile
	}
	return events, nil
}

var errNoProfile = errors.New(`no line "Msg Timestamp,Message,Time,…": this is no profile as a CSV. A log (*.log) becomes one by qnn-profile-viewer --input_log LOG --output CSV`)

// columns are what a table begins with; a column with nodes of the ONNX graph may follow, which the provider fills where it finds a trace of them.
const (
	columns = 7
	onnxOps = "ONNX Source Ops"
)

// header tells whether the line is the table's head, and whether it has the column onnxOps.
func header(line string) (is, sources bool) {
	names := strings.Split(line, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	if len(names) < columns || names[0] != "Msg Timestamp" || names[columns-1] != "Event Identifier" {
		return false, false
	}
	return true, len(names) > columns && names[columns] == onnxOps
}

// event reads a line; ok is false where its value is no number, such as that of an object.
func event(line string, sources bool) (e Event, ok bool, err error) {
	f := strings.SplitN(line, ",", columns)
	if len(f) < columns {
		return Event{}, false, fmt.Errorf("%d columns where %d are wanted: is the file whole?", len(f), columns)
	}
	for i := range f {
		f[i] = strings.TrimSpace(f[i])
	}
	e = Event{Phase: f[1], Unit: f[3], Source: f[4], Name: printable(f[6])}
	switch f[5] {
	case "ROOT":
		e.Root = true
	case "SUB-EVENT":
	default:
		return Event{}, false, fmt.Errorf("the event's level is %.40q, not ROOT or SUB-EVENT", f[5])
	}
	if sources {
		if i := strings.LastIndexByte(e.Name, ','); i >= 0 {
			e.Name = e.Name[:i]
		}
	}
	if e.Unit == "OBJECT" {
		return Event{}, false, nil
	}
	e.Value, err = strconv.ParseFloat(f[2], 64)
	if err != nil || math.IsNaN(e.Value) || math.IsInf(e.Value, 0) || e.Value < 0 {
		return Event{}, false, fmt.Errorf("the value of %.80q is %.40q, no number", e.Name, f[2])
	}
	return e, true, nil
}

// printable makes a name one that may be shown: a graph may name its nodes as it likes.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, name)
}
