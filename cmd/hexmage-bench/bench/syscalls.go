package bench

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Syscalls are those that hexmage's own process made for each action of a cold build, by name.
type Syscalls map[string]float64

// ofScheduler tells whether a call comes from Go's scheduler, which makes more of them the longer something takes:
// under strace, that is.
func ofScheduler(call string) bool {
	return slices.Contains([]string{"epoll_pwait", "futex", "getpid", "madvise", "nanosleep", "restart_syscall", "rt_sigreturn", "sched_yield", "tgkill"}, call)
}

// Total is how many there are, without those of Go's scheduler.
func (s Syscalls) Total() float64 {
	n := 0.0
	for call, v := range s {
		if !ofScheduler(call) {
			n += v
		}
	}
	return n
}

// most returns those of which there are most, with how many: "fcntl 24.4".
func (s Syscalls) most(n int) string {
	names := slices.DeleteFunc(slices.Collect(maps.Keys(s)), ofScheduler)
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(s[b], s[a]), cmp.Compare(a, b)) })
	var all []string
	for _, name := range names[:min(n, len(names))] {
		all = append(all, fmt.Sprintf("%s %.1f", name, s[name]))
	}
	return strings.Join(all, ", ")
}

// syscalls counts those of a cold build.
func (r *graphRun) syscalls(ctx context.Context) error {
	if !r.Traced || r.Strace == "" {
		return nil
	}
	if err := r.aside(r.hexmage.state...); err != nil {
		return err
	}
	log := filepath.Join(r.dir, "strace")
	p := r.hexmage.program
	// strace follows threads, and child processes until they call execve.
	p.argv = append([]string{r.Strace, "-f", "-b", "execve", "-qq", "-e", "signal=none", "-o", log}, p.argv...)
	if _, err := p.measure(ctx); err != nil {
		return err
	}
	f, err := os.Open(log)
	if err != nil {
		return err
	}
	defer f.Close()
	r.res.Syscalls, err = countSyscalls(bufio.NewScanner(f), len(r.Nodes))
	return err
}

// countSyscalls counts the calls in strace's log that the first process and its threads made, for each of so many
// actions. Who becomes another program later was no thread.
func countSyscalls(log *bufio.Scanner, actions int) (Syscalls, error) {
	first := ""
	calls, children := map[string]Syscalls{}, map[string]bool{}
	for log.Scan() {
		thread, rest, _ := strings.Cut(log.Text(), " ")
		call, _, ok := strings.Cut(strings.TrimLeft(rest, " "), "(")
		if !ok || strings.ContainsAny(call, " <") { // the end of a call that another line began
			continue
		}
		if calls[thread] == nil {
			calls[thread] = Syscalls{}
		}
		calls[thread][call] += 1 / float64(actions)
		first = cmp.Or(first, thread)
		if call == "execve" && thread != first {
			children[thread] = true
		}
	}
	all := Syscalls{}
	for thread, of := range calls {
		for call, n := range of {
			if !children[thread] {
				all[call] += n
			}
		}
	}
	return all, log.Err()
}
