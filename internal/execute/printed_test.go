package execute_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
)

// stream writes n bytes of numbered lines in chunks to the streams of a request and returns them with what was kept.
func stream(p *execute.OutputLog, n, chunk int) (all []byte, r *action.Result) {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		b.WriteString(strings.Repeat("x", i%50) + " line\n")
	}
	b.Truncate(n)
	stdout, stderr := (&execute.Request{Printed: p}).Streams()
	for left := b.Bytes(); len(left) > 0; {
		k := min(chunk, len(left))
		stdout.Write(left[:k])
		left = left[k:]
	}
	stderr.Write([]byte("error\n"))
	stdout.Close()
	stderr.Close()
	return b.Bytes(), &action.Result{Stdout: stdout.Bytes(), Stderr: stderr.Bytes()}
}

// TestProgressLines: each line is reported, so that the end is.
func TestProgressLines(t *testing.T) {
	var got []int64
	a := &execute.Request{Printed: execute.NewOutputLog(filepath.Join(t.TempDir(), "a")),
		Progress: func(done, _ int64, _ string) { got = append(got, done) }}
	stdout, stderr := a.Streams()
	defer stdout.Close()
	defer stderr.Close()
	lines := a.ProgressLines(stderr)
	_, _ = lines.Write([]byte("progress 99 100 almost\nprogress 100 100 done\nan error\n"))
	lines.Flush()
	if len(got) != 2 || got[1] != 100 || string(stderr.Bytes()) != "an error\n" {
		t.Errorf("reported %v, standard error %q", got, stderr.Bytes())
	}
}

func TestPrinted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	p := execute.NewOutputLog(filepath.Join(dir, "a"))
	for _, n := range []int{0, 100, action.MaxInline - 200, action.MaxInline, 1 << 20, 10} {
		for _, chunk := range []int{13, 32 << 10, 2 << 20} {
			all, r := stream(p, n, chunk)
			var got bytes.Buffer
			if err := p.CopyTo(&got, r); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), append(all, "error\n"...)) {
				t.Errorf("%d bytes in chunks of %d: %d came back", n, chunk, got.Len())
			}
			files, _ := os.ReadDir(dir)
			if want := n > action.MaxInline-200; (len(files) > 0) != want || len(files) > 1 {
				t.Errorf("%d bytes: %d files, want some: %v", n, len(files), want)
			}
		}
	}
	p.Remove()
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
}

// A command that prints without end takes bounded room, and its end is there.
func TestPrintedIsBounded(t *testing.T) {
	p := execute.NewOutputLog(filepath.Join(t.TempDir(), "a"))
	all, r := stream(p, 66<<20, 1<<20)
	var got bytes.Buffer
	if err := p.CopyTo(&got, &action.Result{Stdout: r.Stdout}); err != nil {
		t.Fatal(err)
	}
	head, tail, _ := strings.Cut(got.String(), "\n… ")
	left, tail, ok := strings.Cut(tail, " bytes omitted …\n")
	if !ok || len(head) != 64<<20 || !bytes.HasPrefix(all, []byte(head)) || !bytes.HasSuffix(all, []byte(tail)) ||
		len(tail) < 1000 || !strings.HasPrefix(left, "2,06") {
		t.Errorf("%d bytes, then %q left out, then %d", len(head), left, len(tail))
	}
}

// Where the files cannot be written, what is kept has to do.
func TestPrintedNowhere(t *testing.T) {
	p := execute.NewOutputLog("/dev/null/nowhere/a")
	_, r := stream(p, 1<<20, 999)
	var got bytes.Buffer
	if err := p.CopyTo(&got, r); err != nil || !bytes.HasPrefix(got.Bytes(), r.Stdout) ||
		!strings.Contains(got.String(), "omitted") {
		t.Errorf("%v, %d bytes", err, got.Len())
	}
}
