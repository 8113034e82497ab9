package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

type program struct {
	argv []string
	dir  string
	env  []string
}

// sample is one run of a program.
type sample struct {
	wall, cpu float64 // seconds; cpu includes child processes
	memory    float64 // MB: the peak of the process itself; 0 if unknown
	output    string
}

// run runs the program to its end. Output goes to a file, since a server that the program starts would keep a pipe
// open.
func (p program) run(ctx context.Context) (s sample, err error) {
	out, err := os.CreateTemp("", "hexmage-bench-")
	if err != nil {
		return s, err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, p.env, out, out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	begin, ended := time.Now(), make(chan error, 1)
	if err := cmd.Start(); err != nil {
		return s, err
	}
	go func() { ended <- cmd.Wait() }()
	for running := true; running; {
		s.memory = max(s.memory, peakMemory(cmd.Process.Pid))
		select {
		case err = <-ended:
			running = false
		case <-time.After(10 * time.Millisecond):
		}
	}
	s.wall = time.Since(begin).Seconds()
	s.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	text, _ := os.ReadFile(out.Name())
	s.output = string(text)
	if err != nil {
		err = fmt.Errorf("%q: %w\n%s", p.argv, err, text[max(0, len(text)-4096):])
	}
	return s, err
}

// peakMemory reads the kernel's high-water mark of a process without its children.
func peakMemory(pid int) float64 {
	status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kb, _ := strconv.ParseFloat(strings.Fields(after + " 0")[0], 64)
	return kb * 1024 / 1e6
}

// contestant is hexmage or a peer, with its measurements.
type contestant struct {
	name    string
	program program
	prepare program // runs before each measurement
	prints  string  // text in the output of each run
	out     string  // file that must equal hexmage's
	missing error   // why a peer cannot run
	budget  float64 // of a peer: largest ratio of hexmage's time to the peer's; 0: no budget
	walls   []float64
	cpus    []float64
	memory  []float64
}

// compete runs hexmage and peers in turn, so that a slow minute of the machine affects all. The first contestant
// rotates.
func (b *bench) compete(ctx context.Context, rounds int, all ...*contestant) {
	for i := range rounds * len(all) {
		c := all[(i+i/len(all))%len(all)]
		if c.missing != nil {
			continue
		}
		b.must(ctx, c.prepare)
		b.must(ctx, program{argv: []string{"sync"}}) // no run waits for the writes of another
		s := b.must(ctx, c.program)
		if !strings.Contains(strings.ReplaceAll(s.output, ",", ""), c.prints) {
			b.fail(fmt.Errorf("command %q: text %q is missing in the output:\n%s", c.program.argv, c.prints, s.output))
		}
		c.walls, c.cpus, c.memory = append(c.walls, s.wall), append(c.cpus, s.cpu), append(c.memory, s.memory)
	}
}

// result is one line of the report.
type result struct {
	What       string  `json:"what"`
	Unit       string  `json:"unit"`
	Median     float64 `json:"median"`
	Spread     float64 `json:"spread"` // half the range of the values, divided by the median
	Runs       int     `json:"runs"`
	Peer       string  `json:"peer,omitempty"`
	PeerMedian float64 `json:"peer_median,omitempty"`
	Ratio      float64 `json:"ratio,omitempty"`  // median of the ratios to the peer, one per round
	Budget     float64 `json:"budget,omitempty"` // limit of Ratio if there is a peer, else of Median
	Verdict    string  `json:"verdict"`          // within, OVER, no budget, or the reason why the peer is missing
}

// compare runs hexmage and peers in turn, and reports hexmage's time beside each peer's.
func (b *bench) compare(ctx context.Context, what string, rounds int, hexmage *contestant, peers ...*contestant) {
	b.compete(ctx, rounds, append([]*contestant{hexmage}, peers...)...)
	for _, peer := range peers {
		r := result{What: what, Unit: "s", Peer: peer.name, PeerMedian: median(peer.walls), Budget: peer.budget}
		var ratios []float64
		for i, s := range peer.walls {
			ratios = append(ratios, hexmage.walls[i]/s)
		}
		if r.Ratio = median(ratios); peer.missing != nil {
			r.Verdict = "MISSING: " + peer.missing.Error()
		} else if peer.out != "" {
			b.must(ctx, b.plain("", "", "cmp", hexmage.out, peer.out))
		}
		b.report(r, hexmage.walls, r.Ratio)
	}
}

// value reports numbers with an absolute budget; 0: no budget.
func (b *bench) value(what, unit string, budget float64, values []float64) {
	b.report(result{What: what, Unit: unit, Budget: budget}, values, median(values))
}

// report completes a result, compares its median or ratio with the budget, and prints it.
func (b *bench) report(r result, values []float64, judged float64) {
	if b.err != nil {
		return
	}
	if r.Runs, r.Median = len(values), median(values); r.Median > 0 {
		r.Spread = (slices.Max(values) - slices.Min(values)) / 2 / r.Median
	}
	switch {
	case r.Verdict != "":
	case r.Budget == 0:
		r.Verdict = "no budget"
	case judged > r.Budget:
		r.Verdict, b.over = "OVER", true
	default:
		r.Verdict = "within"
	}
	if b.json {
		b.fail(json.NewEncoder(b.out).Encode(r))
		return
	}
	ratio, unit, budget := "", r.Unit, ""
	if r.Peer != "" {
		ratio, unit = fmt.Sprintf("%.2f × %s (%.3g s)", r.Ratio, r.Peer, r.PeerMedian), "×"
	}
	measured := fmt.Sprintf("%.3g %s ± %.0f %%", r.Median, r.Unit, 100*r.Spread)
	if r.Budget > 0 {
		budget = fmt.Sprintf("budget %g %s", r.Budget, unit)
	}
	_, err := fmt.Fprintf(b.out, "%-52s %18s  %-34s %-12s  %s\n", r.What, measured, ratio, budget, r.Verdict)
	b.fail(err)
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	return (s[len(s)/2] + s[(len(s)-1)/2]) / 2
}
