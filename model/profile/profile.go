// Package profile reads the CSV of a QNN profile, as ONNX Runtime's QNN provider or qnn-profile-viewer writes it. It
// reports a graph's total times and the cycles of each node.
//
// Run is the entry point. The package does not know where the graph ran. It does not read Qualcomm's logs, whose format
// is not documented.
package profile

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// Emulated is the note in a profile from Qualcomm's emulator.
const Emulated = "From Qualcomm's x86 emulator: cycles and times are those of this machine, not of a device."

// Profile holds a graph's times and cycles. Each number is the median of the runs.
type Profile struct {
	Emulator bool    `json:"emulator"`
	Note     string  `json:"note,omitempty"`
	Runs     int     `json:"runs"`
	Cycles   float64 `json:"cycles"` // of the whole graph; 0 if the profile lacks them
	Totals   []Total `json:"totals"` // in the profile's order
	Nodes    []Node  `json:"nodes"`  // most cycles first
}

// Total is one number for the whole graph, such as its load time.
type Total struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"` // us, cycles, count, bytes
	Value float64 `json:"value"`
}

// Node is a node of the compiled graph.
type Node struct {
	Name   string   `json:"name"`
	Op     string   `json:"op"`     // QNN's operation, "" if unknown
	ONNX   []string `json:"onnx"`   // ONNX nodes that the compiler made this node from
	Cycles float64  `json:"cycles"` // 0 if another node does its work
	Share  float64  `json:"share"`  // share of the sum of all nodes' cycles, 0 to 1
}

// Bounds of a profile.
const (
	maxBytes = 64 << 10 // of a line
	maxLines = 4 << 20
	maxIntro = 100 // lines before the table
	columns  = 7
)

// wholeCycles is the event whose parts are the nodes.
const wholeCycles = "Accelerator (execute) time (cycles)"

// node matches the name of a node's event: "conv:OpId_17 (cycles)", "Input OpId_2 (cycles)"; "OpId_25 (cycles)" has only a number.
var node = lazyregexp.New(`^(?:(.+?)[: ])?(OpId_\d+) \(cycles\)$`)

var errNoProfile = errors.New(`no line "Msg Timestamp,Message,Time,…": not a profile as CSV. Convert a log: qnn-profile-viewer --input_log LOG --output CSV`)

// event is a line of the table.
type event struct {
	name, unit string
	value      float64
	root       bool
}

// Parse reads a profile as CSV, in which names are not quoted and may contain commas. The map made, if not nil,
// contains the compiled graph's nodes by name. An error names the line.
func Parse(r io.Reader, made map[string]Node) (Profile, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxBytes)
	order, totals, nodes := []Total{}, values{}, values{}
	begun, sources := false, false
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimRight(lines.Text(), "\r \t")
		switch {
		case !begun:
			if begun, sources = header(line); !begun && n == maxIntro {
				return Profile{}, errNoProfile
			}
		case line == "":
		case n > maxLines:
			return Profile{}, fmt.Errorf("more than %d lines: profile fewer runs", maxLines)
		default:
			e, err := parse(line, sources)
			if err != nil {
				return Profile{}, fmt.Errorf("line %d: %w", n, err)
			}
			switch {
			case e.unit == "OBJECT": // no number
			case e.root:
				if totals[e.name] == nil {
					order = append(order, Total{Name: e.name, Unit: strings.ToLower(e.unit)})
				}
				totals[e.name] = append(totals[e.name], e.value)
			case e.unit == "CYCLES" && node.MatchString(e.name):
				nodes[e.name] = append(nodes[e.name], e.value) // with the number: two nodes may have one name
			}
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return Profile{}, fmt.Errorf("a line has more than %d bytes", maxBytes)
	case err != nil:
		return Profile{}, err
	case !begun:
		return Profile{}, errNoProfile
	case len(order) == 0:
		return Profile{}, errors.New("no events: the graph did not run")
	}
	return profile(order, totals, nodes, made), nil
}

// header tells whether a line is the table's head, and whether it has a column with ONNX nodes at its end.
func header(line string) (is, sources bool) {
	names := strings.Split(strings.ReplaceAll(line, ", ", ","), ",")
	if len(names) < columns || names[0] != "Msg Timestamp" || names[columns-1] != "Event Identifier" {
		return false, false
	}
	return true, len(names) > columns && names[columns] == "ONNX Source Ops"
}

func parse(line string, sources bool) (event, error) {
	f := strings.SplitN(line, ",", columns)
	if len(f) < columns {
		return event{}, fmt.Errorf("found %d columns, expected %d: the file may be truncated", len(f), columns)
	}
	name := strings.TrimSpace(f[6])
	if i := strings.LastIndexByte(name, ','); sources && i >= 0 {
		name = name[:i]
	}
	e := event{name: name, unit: f[3], root: f[5] == "ROOT"}
	if !e.root && f[5] != "SUB-EVENT" {
		return event{}, fmt.Errorf("event level %.40q is not ROOT or SUB-EVENT", f[5])
	}
	if e.unit == "OBJECT" {
		return e, nil
	}
	var err error
	if e.value, err = strconv.ParseFloat(f[2], 64); err != nil || math.IsNaN(e.value) || math.IsInf(e.value, 0) || e.value < 0 {
		return event{}, fmt.Errorf("value %.40q of event %.80q is not a number", f[2], e.name)
	}
	return e, nil
}

// values are those of an event, run by run.
type values map[string][]float64

// profile makes a Profile of totals, by name in order, and of nodes.
func profile(order []Total, totals, nodes values, made map[string]Node) Profile {
	p := Profile{Totals: order, Nodes: []Node{}}
	for i, t := range order {
		p.Totals[i].Value = totals.median(t.Name)
		if strings.Contains(t.Name, "(execute") {
			p.Runs = max(p.Runs, len(totals[t.Name]))
		}
		if t.Name == wholeCycles {
			p.Cycles = p.Totals[i].Value
		}
	}
	sum := 0.0
	for event := range nodes {
		m := node.FindStringSubmatch(event)
		n := made[cmp.Or(m[1], m[2])]
		n.Name, n.Cycles, n.ONNX = cmp.Or(m[1], m[2]), nodes.median(event), append([]string{}, n.ONNX...)
		p.Nodes = append(p.Nodes, n)
		sum += n.Cycles
	}
	for i := range p.Nodes {
		if sum > 0 {
			p.Nodes[i].Share = p.Nodes[i].Cycles / sum
		}
	}
	slices.SortFunc(p.Nodes, func(a, b Node) int { return cmp.Or(cmp.Compare(b.Cycles, a.Cycles), strings.Compare(a.Name, b.Name)) })
	return p
}

// median returns the lower one of an even number of values: a value that was measured.
func (v values) median(of string) float64 {
	return slices.Sorted(slices.Values(v[of]))[(len(v[of])-1)/2]
}
