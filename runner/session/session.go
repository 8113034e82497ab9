// Package session runs a command on a leased device. It pushes missing files, makes a folder for the run, streams the
// output, samples the device, pulls outputs, and removes the folder. Session.Run is the entry point. The package does
// not choose the device or know the purpose of the command.
package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/layout"
	"github.com/hexmage/hexmage/runner/lease"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/sample"
	"github.com/hexmage/hexmage/runner/thermal"
	"github.com/hexmage/hexmage/runner/transport"
)

// Request is a command to run on a device. Paths are slash paths in the run's folder, where the command starts.
type Request struct {
	Files   map[string]push.File
	Links   map[string]string             // maps a symbolic link's path to its target
	Args    []string                      // Args[0] is a path in the folder or a command of the device
	Env     map[string]string             // added to the shell's; "$HEXMAGE_ROOT" in a value is the run's folder
	Stdin   func() (io.ReadCloser, error) // opened for each run; nil: empty
	Stdout  io.Writer                     // receives output as it arrives; nil: discarded
	Stderr  io.Writer
	Pull    []string                           // files and folders that the command may write
	PullDir string                             // existing folder of this machine that receives Pull at the same paths
	Report  func(done, total int64, op string) // receives transferred bytes, from one goroutine; may be nil

	Prepare func(context.Context) error // called after the push, before the first run; may be nil
	Warmup  int                         // number of runs before the measured run, each in its own folder
	Thermal bool                        // whether to read temperatures before and after the run
	Log     LogWanted                   // when to read the device's log

	SampleEvery time.Duration // interval of samples of the measured run; 0: none
}

// LogWanted selects when to read the device's log.
type LogWanted int

// When to read the device's log.
const (
	NoLog LogWanted = iota
	LogOfFailure
	LogAlways
)

// Result describes a command that ran.
type Result struct {
	ExitCode int
	Pushed   push.Pushed   // summary of the push
	Duration time.Duration // duration of the command, including one round trip
	Started  time.Time
	Warmups  []time.Duration   // results of the warm-up runs; if Started is zero, the last one failed
	Before   []thermal.Reading // temperatures of the device
	After    []thermal.Reading
	Log      []byte         // the device's log, for a failed command
	Samples  *sample.Series // nil: no samples
}

// Session is a device in use. It is not safe for concurrent use.
type Session struct {
	Device transport.Device
	Lease  *lease.Lease // nil if other processes do not know the device
	Sums   push.Sums
	Wait   time.Duration // time to wait for a device that disconnects during a push; 0: 30 seconds
}

// Run pushes missing files, runs the command, pulls its outputs, and removes the run's folder. The pushed contents stay
// on the device. If the command fails, Run returns a Result, not an error. Errors are about the device, the push or the
// pull.
func (s *Session) Run(ctx context.Context, q Request) (Result, error) {
	if err := q.check(); err != nil {
		return Result{}, err
	}
	st := push.New(s.Device, s.Lease, s.Sums, s.Wait, q.reporter("push"))
	sums, err := st.Ensure(ctx, q.Files)
	if err != nil {
		return Result{}, err
	}
	if q.Prepare != nil {
		if err := q.Prepare(ctx); err != nil {
			return Result{}, err
		}
	}
	var warmups []time.Duration
	for range q.Warmup {
		var out, errOut execute.HeadTailBuffer
		w := q
		w.Stdout, w.Stderr, w.Thermal, w.SampleEvery = &out, &errOut, false, 0
		res, err := s.runOnce(ctx, st, w, sums, false)
		if err != nil {
			return res, fmt.Errorf("warm-up run failed: %w", err)
		}
		if warmups = append(warmups, res.Duration); res.ExitCode != 0 {
			res.Warmups, res.Started, res.Pushed = warmups, time.Time{}, st.Pushed()
			return res, errors.Join(giveTo(q.Stdout, out.Bytes()), giveTo(q.Stderr, errOut.Bytes()))
		}
	}
	res, err := s.runOnce(ctx, st, q, sums, true)
	res.Warmups, res.Pushed = warmups, st.Pushed()
	return res, err
}

func giveTo(w io.Writer, b []byte) error {
	if w == nil {
		return nil
	}
	_, err := w.Write(b)
	return err
}

// runOnce runs the command in its own folder, and pulls the outputs of the measured run.
func (s *Session) runOnce(ctx context.Context, st *push.Store, q Request, sums map[string]string, counts bool) (res Result, err error) {
	dir := s.Device.Place().Folder.Runs() + "/" + layout.NewID()
	defer s.after(ctx, cleanScript, dir)
	if err := st.Place(ctx, dir, q.placement(sums)); err != nil {
		return res, err
	}
	var before []thermal.Reading
	if q.Thermal {
		before, _ = thermal.Read(ctx, s.Device) // a device may hide its sensors
	}
	if res, err = s.command(ctx, dir, q); err != nil {
		if q.Log != NoLog && errors.As(context.Cause(ctx), new(*execute.TimeoutError)) {
			res.Log = s.logOf(ctx, dir)
		}
		return res, fmt.Errorf("cannot run %s: %w", q.Args[0], err)
	}
	if q.Thermal {
		res.Before = before
		res.After, _ = thermal.Read(ctx, s.Device)
	}
	if q.Log == LogAlways || q.Log == LogOfFailure && res.ExitCode != 0 {
		res.Log = s.logOf(ctx, dir)
	}
	if counts {
		if err = s.pull(ctx, dir, q); err != nil {
			return res, fmt.Errorf("pull: %w", err)
		}
	}
	return res, nil
}

func (q Request) reporter(op string) func(done, total int64) {
	if q.Report == nil {
		return nil
	}
	return func(done, total int64) { q.Report(done, total, op) }
}

// check rejects names that the device's shell or hexmage could misunderstand.
func (q Request) check() error {
	if len(q.Args) == 0 || q.Args[0] == "" {
		return errors.New("no command to run")
	}
	if err := push.CheckPaths(slices.Concat(slices.Collect(maps.Keys(q.Files)), slices.Collect(maps.Keys(q.Links)), q.Pull)...); err != nil {
		return err
	}
	for p, target := range q.Links {
		if target == "" || strings.ContainsAny(target, "\n\r") || strings.TrimSpace(target) != target {
			return fmt.Errorf("link %s: invalid target %q", p, target)
		}
	}
	for name := range q.Env {
		if name == "" || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") != "" {
			return fmt.Errorf("invalid name %q of an environment variable; use letters, digits and _", name)
		}
	}
	return nil
}

// placement lists the files of the run's folder, and the folders of outputs.
func (q Request) placement(sums map[string]string) *push.Placement {
	p := &push.Placement{}
	for _, name := range slices.Sorted(maps.Keys(q.Files)) {
		p.File(name, sums[name], q.Files[name].Executable || name == path.Clean(q.Args[0]))
	}
	for _, name := range slices.Sorted(maps.Keys(q.Links)) {
		p.Link(name, q.Links[name])
	}
	for _, name := range q.Pull {
		p.Folder(name)
	}
	return p
}

// stdin is the input of a command. It is locked because the link may still read after the command ended.
type stdin struct {
	mu sync.Mutex
	in io.ReadCloser // nil: closed
}

func (s *stdin) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.in == nil {
		return 0, os.ErrClosed
	}
	return s.in.Read(b)
}

func (s *stdin) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.in
	s.in = nil
	return in.Close()
}

// command runs the command in the run's folder. When ctx ends, it kills the command and its children.
func (s *Session) command(ctx context.Context, dir string, q Request) (Result, error) {
	line, err := q.commandLine(dir)
	if err != nil {
		return Result{}, err
	}
	if err := s.Lease.Check(ctx); err != nil {
		return Result{}, err
	}
	streams := transport.Streams{Stdout: q.Stdout, Stderr: q.Stderr}
	if q.Stdin != nil {
		in, err := q.Stdin()
		if err != nil {
			return Result{}, fmt.Errorf("standard input: %w", err)
		}
		input := &stdin{in: in}
		defer input.Close()
		streams.Stdin = input
	}
	samples := s.sample(ctx, dir, q)
	start := time.Now()
	code, err := s.Device.Shell(ctx, line, streams)
	took := time.Since(start)
	series := samples()
	if err != nil {
		return Result{}, errors.Join(err, s.after(ctx, killScript, dir))
	}
	if code == notFound {
		if absent, err := s.Device.Shell(ctx, q.settings(dir)+"command -v "+q.argument(dir, 0), transport.Streams{}); err == nil && absent != 0 {
			return Result{}, fmt.Errorf("program %s not found on the device", q.Args[0])
		}
	}
	return Result{ExitCode: code, Started: start, Duration: took, Samples: series}, nil
}

// notFound is a shell's exit code for a missing program. Programs may use it, too.
const notFound = 127

// settings returns the start of a script: it changes to the run's folder and sets the environment.
func (q Request) settings(dir string) string {
	env := map[string]string{
		"HEXMAGE_ROOT":    dir,
		"LD_LIBRARY_PATH": dir,
		// The DSP's loader splits at ';'. The pushed files come first, before libraries of another version on the
		// device.
		"ADSP_LIBRARY_PATH": dir + ";/vendor/dsp/cdsp;/vendor/lib/rfsa/adsp;/system/lib/rfsa/adsp;/dsp",
	}
	for name, value := range q.Env {
		env[name] = strings.ReplaceAll(value, "$HEXMAGE_ROOT", dir)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cd %s || exit 126\n", transport.Quote(dir))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		fmt.Fprintf(&b, "export %s=%s\n", name, transport.Quote(env[name]))
	}
	return b.String()
}

// argument returns one of Args, quoted for a shell.
func (q Request) argument(dir string, i int) string {
	arg := q.Args[i]
	if i == 0 && !strings.Contains(arg, "/") {
		if _, pushed := q.Files[arg]; pushed {
			arg = "./" + arg
		}
	}
	return transport.Quote(strings.ReplaceAll(arg, "$HEXMAGE_ROOT", dir))
}

// commandLine returns a script that sets the environment and becomes the command, which returns its exit code.
func (q Request) commandLine(dir string) (string, error) {
	var b strings.Builder
	b.WriteString(q.settings(dir))
	// cleanScript renames the folder before it reads the file. So it sees the id, or this command does not find its
	// folder.
	fmt.Fprintf(&b, "echo $$ >%s && [ -d %s ] || exit 126\n", layout.PID, transport.Quote(dir))
	if q.Log != NoLog {
		fmt.Fprintf(&b, "date '+%%m-%%d %%H:%%M:%%S.%%N' >%s\n", startedFile)
	}
	b.WriteString("exec")
	for i := range q.Args {
		b.WriteString(" " + q.argument(dir, i))
	}
	const most = 60000 // adb accepts 65535 bytes, a device's kernel more
	if b.Len() > most {
		return "", fmt.Errorf("command line and environment have %d bytes, more than the limit of %d; pass long "+
			"input through stdin or a file", b.Len(), most)
	}
	return b.String(), nil
}

// after runs a script even if ctx has ended. If the device is gone, a later session cleans up.
func (s *Session) after(ctx context.Context, script, dir string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterWait)
	defer cancel()
	_, err := transport.Script(ctx, s.Device, script, strings.NewReader(dir+"\n"))
	if transport.Retryable(err) {
		if err = s.Device.Reconnect(ctx); err == nil {
			_, err = transport.Script(ctx, s.Device, script, strings.NewReader(dir+"\n"))
		}
	}
	return err
}

const afterWait = 20 * time.Second

// Push puts files into a folder of the device: see push.Store.Folder. The function report, if not nil, receives the
// number of bytes sent.
func (s *Session) Push(ctx context.Context, dir string, files map[string]push.File, report func(done, total int64)) (push.Pushed, error) {
	return push.New(s.Device, s.Lease, s.Sums, s.Wait, report).Folder(ctx, dir, files)
}

// Record describes one run: its device, temperatures, warm-up runs and cool-down. The run's action writes the record as
// an output.
type Record struct {
	Started    string            `json:"started"` // start of the command, by this machine's clock: RFC 3339, UTC
	Serial     string            `json:"serial"`
	Name       string            `json:"name,omitempty"` // name in devices.hcl, or "simulated phone 2"
	Model      string            `json:"model,omitempty"`
	SoC        string            `json:"soc"`
	Simulated  bool              `json:"simulated,omitempty"`
	ExitCode   int               `json:"exit_code"`
	DurationUS int64             `json:"duration_us"` // duration of the command, including one round trip
	WarmupsUS  []int64           `json:"warmups_us,omitempty"`
	Cooldown   *thermal.Cooled   `json:"cooldown,omitempty"`
	Before     []thermal.Reading `json:"thermal_before,omitempty"` // temperatures right before the measured command
	After      []thermal.Reading `json:"thermal_after,omitempty"`  // temperatures right after the command
	SentBytes  int64             `json:"sent_bytes"`               // bytes sent by the push
}

// Phone returns the phone's name for messages.
func (r Record) Phone() string {
	if r.Name != "" {
		return r.Name
	}
	return r.Serial
}

// RecordOf returns the record of a run.
func RecordOf(i devinfo.Info, res Result, cooled *thermal.Cooled) Record {
	r := Record{
		Started: res.Started.UTC().Format("2006-01-02T15:04:05.000Z"), Serial: i.Serial, Name: i.Name, Model: i.Model, SoC: i.SoC, Simulated: i.Simulated,
		ExitCode: res.ExitCode, DurationUS: res.Duration.Microseconds(), Cooldown: cooled, Before: res.Before, After: res.After, SentBytes: res.Pushed.Sent,
	}
	for _, d := range res.Warmups {
		r.WarmupsUS = append(r.WarmupsUS, d.Microseconds())
	}
	return r
}

// Write writes the record to the slash path name below dir.
func (r Record) Write(dir, name string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return WriteBelow(dir, name, append(b, '\n'))
}

// PhoneJSON is the path of the output with a Phone.
const PhoneJSON = ".hexmage/phone.json"

// Phone holds the phone properties that affect measurements. Unlike a Record, it is the same for all runs, so actions
// that read it stay cached.
type Phone struct {
	SoC       string `json:"soc"`
	Simulated bool   `json:"simulated"`
}

// Write writes PhoneJSON below the folder dir.
func (p Phone) Write(dir string) error {
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return WriteBelow(dir, PhoneJSON, append(b, '\n'))
}

// WriteBelow writes a file at the slash path name below dir.
func WriteBelow(dir, name string, content []byte) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("path %s is outside the run's folder", name)
	}
	to := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}

// LogWords is a regular expression for grep -iE and for Go. It matches lines about the NPU or a crashed program in a
// device's log.
const LogWords = `adsprpc|fastrpc|cdsp|qnn|htp|hexagon|genie|mllm|tombstoned|DEBUG   |F libc|lowmemorykiller|avc: +denied`

// Maximum number of lines of the log and of a tombstone for a failure.
const (
	maxLogged    = "300"
	maxTombstone = "60"
)

// logScript prints log lines since the start of the command that match LogWords, and the start of the newest crash
// dump since then. Input: the run's folder. Some devices ignore logcat's -T.
const logScript = `read -r dir && cd "$dir" && read -r at <` + startedFile + ` || exit 0
echo "since $at"
logcat -d -v threadtime -b main,system,crash -T "${at%.*}.000" 2>/dev/null | grep -iE '` + LogWords + `' | tail -n ` + maxLogged + `
f=$(ls -t /data/tombstones/tombstone_?? 2>/dev/null | head -n 1)
[ -n "$f" ] && [ -r "$f" ] && [ ! ` + startedFile + ` -nt "$f" ] && echo "tombstone $f" && head -n ` + maxTombstone + ` "$f"
exit 0`

// logOf returns the device's log of the command in the folder, or nil.
func (s *Session) logOf(ctx context.Context, dir string) []byte {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterWait)
	defer cancel()
	out, err := transport.Script(ctx, s.Device, logScript, strings.NewReader(dir+"\n"))
	if err != nil {
		return nil
	}
	return since(out)
}

// since drops log lines older than the time in the first line. The date command of some devices does not print
// fractions of a second.
func since(out string) []byte {
	first, rest, _ := strings.Cut(out, "\n")
	at, ok := strings.CutPrefix(first, "since ")
	if !ok {
		return nil
	}
	const form = "01-02 15:04:05.000"
	at = at[:min(len(at), len(form))]
	var kept bytes.Buffer
	for line := range strings.Lines(rest) {
		t := line[:min(len(line), len(form))]
		if _, err := time.Parse(form, t); err != nil || t >= at || at > "12-31" && t < "01-02" {
			kept.WriteString(line)
		}
	}
	return kept.Bytes()
}

const (
	startedFile = ".hexmage.started" // in the run's folder: start of the command in the format of the device's log

	// Input: the run's folder. The shell of a link leads a process group.
	killScript = `read -r dir && read -r p <"$dir/` + layout.PID + `" && kill -9 "-$p" 2>/dev/null
exit 0`

	// Input: the run's folder. The script kills processes that the command left, and waits up to a second for their
	// end: they would disturb the next measurement. A command that starts now does not find its folder, which is
	// renamed. Files of the folder are links to the store, so only folders become writable.
	cleanScript = layout.Guard + `read -r dir || exit 1
case $dir in ` + layout.Runs + `/*/* | *..*) exit 1 ;; ` + layout.Runs + `/?*) ;; *) exit 1 ;; esac
mv "$dir" "$dir.gone" 2>/dev/null
[ -d "$dir.gone" ] && dir=$dir.gone
if [ -f "$dir/` + layout.PID + `" ] && read -r p <"$dir/` + layout.PID + `" && kill -9 "-$p" 2>/dev/null; then
	n=0
	while [ $n -lt 20 ] && kill -0 "-$p" 2>/dev/null && sleep 0.05; do n=$((n+1)); done
fi
find "$dir" -type d -exec chmod u+w {} + 2>/dev/null
rm -rf "$dir"`
)
