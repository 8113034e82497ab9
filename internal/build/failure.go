package build

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/event"
	"github.com/hexmage/hexmage/internal/execute"
)

// failure describes what went wrong. The whole kept output goes to a log file, its end into the report.
func (w *worker) failure(u *unit, summary string, res *action.Result) *event.Failure {
	n := u.instance.plan
	f := &event.Failure{Summary: summary, Where: n.Where, Source: n.Source}
	if u.spec != nil {
		f.Command = u.spec.Args
	}
	if res == nil {
		return f
	}
	f.ExitCode = res.ExitCode
	all := bytes.Join([][]byte{res.Stdout, res.Stderr}, nil)
	f.Output = tail(all, 40)
	if n.Explain != nil {
		f.Hints = n.Explain(u.spec.Name, all)
	}
	f.Hints = append(f.Hints, res.Hints...)
	if w.o.LogDir != "" && len(all) > 0 {
		path := filepath.Join(w.o.LogDir, w.logName(n.At.Short()+"-"+u.spec.Name))
		if w.log(path, u, res) == nil {
			f.Log = path
		}
	}
	return f
}

// log writes all that the unit's command printed to a file, or the end of it that the result has.
func (w *worker) log(path string, u *unit, res *action.Result) error {
	if err := os.MkdirAll(w.o.LogDir, 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	printed := u.printed
	if printed == nil {
		printed = &execute.Printed{}
	}
	return errors.Join(printed.CopyTo(f, res), f.Close())
}

// logName makes a file name of an action's name. A long one is cut and gets a part of its digest.
func (w *worker) logName(s string) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\"[]`, r) {
			return '-'
		}
		return r
	}, s)
	if len(name) > 200 {
		name = strings.ToValidUTF8(name[:180], "") + "-" + w.fn.Bytes([]byte(s)).Hex()[:16]
	}
	return name + ".log"
}

// maxTail is how many bytes of a failed action's output a report has at most.
const maxTail = 16 << 10

// tail returns the last lines.
func tail(b []byte, lines int) string {
	s := strings.TrimRight(string(b), "\n")
	parts := strings.Split(s, "\n")
	if len(parts) > lines {
		s = fmt.Sprintf("… %d lines before …\n", len(parts)-lines) + strings.Join(parts[len(parts)-lines:], "\n")
	}
	if over := len(s) - maxTail; over > 0 {
		s = fmt.Sprintf("… %d bytes before …\n", over) + strings.ToValidUTF8(s[over:], "")
	}
	return s
}
