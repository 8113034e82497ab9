package verify

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const runLimit = 60 * time.Second // for a program that prints its version, on a busy machine

func (t *tree) run(ctx context.Context) {
	for _, r := range t.checks.Run {
		for _, p := range t.patterns(r.Path) {
			t.runOne(ctx, p, r)
		}
	}
}

func (t *tree) runOne(ctx context.Context, p string, r Run) {
	t.report.Checked.Programs++
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(t.root, filepath.FromSlash(p)), r.Args...)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=/nonexistent"}
	for k, v := range r.Env {
		cmd.Env = append(cmd.Env, k+"="+strings.ReplaceAll(v, "${root}", t.root))
	}
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	line, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n"))
	if err != nil {
		t.add(p, fmt.Sprintf("a program that does not run (%v: %.200s)", err, line), "exit code 0",
			"the machine lacks a library that it needs, or is of another kind: `hexmage doctor` tells")
		return
	}
	if r.Match == "" {
		return
	}
	re, err := regexp.Compile(r.Match)
	if err != nil || !re.Match(out) {
		t.add(p, fmt.Sprintf("%.200q", line), "output like "+r.Match, "the program is another one, or of another version")
	}
}
