package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// program is a command line that is measured.
type program struct {
	argv []string
	dir  string
	env  []string
}

func (p program) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Env = p.dir, p.env
	return cmd
}

// measure runs the program with its output to /dev/null.
func (p program) measure(ctx context.Context) (Sample, error) {
	cmd := p.command(ctx)
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return Sample{}, err
	}
	read, written := awaitEnd(cmd.Process.Pid)
	s := Sample{Wall: time.Since(begin), Read: read, Written: written}
	if err := cmd.Wait(); err != nil {
		return Sample{}, p.explain(ctx, err)
	}
	s.CPU = cmd.ProcessState.SystemTime() + cmd.ProcessState.UserTime()
	s.MaxRSS = maxRSS(cmd.ProcessState)
	return s, nil
}

// explain runs the program again, where it can be heard.
func (p program) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out, again := p.command(ctx).CombinedOutput()
	if again == nil {
		out = []byte("(a second run did not fail)")
	}
	var said strings.Builder
	for line := range bytes.Lines(out) {
		if len(line) > 200 {
			line = append(line[:200:200], "…\n"...)
		}
		said.Write(line)
	}
	text := said.String()
	return fmt.Errorf("%s: %w\n%s", strings.Join(p.argv, " "), err, text[max(0, len(text)-4096):])
}

// remove removes files and folders.
func remove(paths ...string) error {
	var errs []error
	for _, p := range paths {
		errs = append(errs, os.RemoveAll(p))
	}
	return errors.Join(errs...)
}

// describe says on what was measured, without naming the machine.
func describe(dir string) string {
	s := fmt.Sprintf("%d cores (%s), %s", runtime.NumCPU(), runtime.GOARCH, runtime.GOOS)
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		v, _, _ := strings.Cut(strings.TrimSpace(string(b)), "-") // what follows may name who built it
		s += " " + v
	}
	if fs := fileSystem(dir); fs != "" {
		s += ", " + fs
	}
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ := strings.Cut(string(b), " ")
		s += ", load before " + load
	}
	return s
}

// fileSystem is the type of the file system that a folder is on, or "".
func fileSystem(dir string) string {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	best, kind := -1, ""
	for line := range bytes.Lines(b) {
		f := strings.Fields(string(line))
		_, after, ok := strings.Cut(string(line), " - ")
		if len(f) < 5 || !ok {
			continue
		}
		at := f[4]
		if (at == "/" || dir == at || strings.HasPrefix(dir, at+"/")) && len(at) >= best {
			best, kind = len(at), strings.Fields(after)[0]
		}
	}
	return kind
}
