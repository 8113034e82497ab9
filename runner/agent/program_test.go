package agent_test

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hexmage/hexmage/runner/agent"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

var update = flag.Bool("update", false, "compile the program from src and put it into the package")

// The compiled program in the package is what its sources give.
func TestProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("src")); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), agent.Name)
	args := buildArgs(t, toolchaintest.Path(t, "llvm", "usr/bin/clang-22"), out)
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	want, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("hexmage-agent-aarch64", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, sum := agent.Program()
	if got != string(want) {
		t.Errorf("hexmage-agent-aarch64 (%d bytes) is not what src gives (%d bytes): run go test ./runner/agent -run Program -update", len(got), len(want))
	}
	if s := fmt.Sprintf("%x", sha256.Sum256([]byte(got))); s != sum {
		t.Errorf("SHA-256 %s, said to be %s", s, sum)
	}
	if len(got) > 32<<10 {
		t.Errorf("%d bytes are no few KB", len(got))
	}
}

// buildArgs is the command line that compiles the program: clang is a clang 22 with lld beside it, out the program's path. It is to be run in
// a folder that holds the files of src.
func buildArgs(t *testing.T, clang, out string) []string {
	t.Helper()
	args := []string{
		clang, "--target=aarch64-unknown-linux-gnu", "-march=armv8-a", "-Os", "-std=c17", "-Wall", "-Wextra", "-Werror",
		"-ffreestanding", "-fno-builtin", "-fno-stack-protector", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables", "-fno-ident",
		"-ffunction-sections", "-nostdlibinc", "-nostdlib", "-static", "-fuse-ld=lld",
		// Pages of newer phones have 16 KB.
		"-Wl,--strip-all,--build-id=none,--gc-sections,-z,max-page-size=16384,-z,noseparate-code,-z,norelro", "-o", out,
	}
	names, err := fs.Glob(os.DirFS("src"), "*.c")
	if err != nil {
		t.Fatal(err)
	}
	return append(args, names...)
}

// It runs on any AArch64 Linux: nothing is to be loaded with it, and its segments fit pages of 16 KB.
func TestProgramNeedsNothing(t *testing.T) {
	t.Parallel()
	content, _ := agent.Program()
	f, err := elf.NewFile(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if f.Machine != elf.EM_AARCH64 || f.Type != elf.ET_EXEC || f.Class != elf.ELFCLASS64 {
		t.Errorf("%v, %v, %v", f.Machine, f.Type, f.Class)
	}
	for _, p := range f.Progs {
		switch {
		case p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC:
			t.Errorf("%v: it is not static", p.Type)
		case p.Type == elf.PT_LOAD && (p.Align < 16<<10 || p.Vaddr%p.Align != p.Off%p.Align):
			t.Errorf("a segment at %#x, offset %#x, is aligned to %#x", p.Vaddr, p.Off, p.Align)
		case p.Type == elf.PT_LOAD && p.Flags&(elf.PF_W|elf.PF_X) == elf.PF_W|elf.PF_X, p.Type == elf.PT_GNU_STACK && p.Flags&elf.PF_X != 0:
			t.Errorf("%v can be written to and executed", p.Type)
		}
	}
}

// command is the program under qemu.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	program := filepath.Join(t.TempDir(), agent.Name)
	content, _ := agent.Program()
	if err := os.WriteFile(program, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	qemu := toolchaintest.Path(t, "qemu", "usr/bin/qemu-aarch64-static")
	return exec.CommandContext(t.Context(), qemu, append([]string{program}, args...)...)
}

func TestSum(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	var names, want strings.Builder
	for _, size := range []int{0, 1, 3, 54, 55, 56, 57, 63, 64, 65, 111, 112, 119, 120, 127, 128, 129, 4096, 256<<10 - 1, 256 << 10, 256<<10 + 1, 3<<20 + 77} {
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		name := filepath.Join(dir, fmt.Sprintf("file of %d", size))
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&names, name)
		fmt.Fprintf(&want, "%x  %s\n", sha256.Sum256(b), name)
	}
	for how, args := range map[string][]string{"instructions": {"sum"}, "portable": {"sum", "--portable"}} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, args...)
			cmd.Stdin = strings.NewReader(names.String())
			out, err := cmd.Output()
			if err != nil || string(out) != want.String() {
				t.Errorf("%v\n%s\nwant\n%s", err, out, want.String())
			}
		})
	}
}

func TestSumOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	there := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(there, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, "sum")
	cmd.Stdin = strings.NewReader("/no/such/file\n" + strings.Repeat("x", 5000) + "\n" + filepath.Dir(there) + "\n\n" + there) // no line end
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if cmd.ProcessState.ExitCode() != 1 || out.String() != fmt.Sprintf("%x  %s\n", sha256.Sum256(nil), there) {
		t.Errorf("%v, %q", err, out.String())
	}
	for _, want := range []string{"cannot read /no/such/file: error 2\n", "too long a name: xxx", "cannot read " + filepath.Dir(there) + ": error 21\n"} {
		if !strings.Contains(errOut.String(), want) {
			t.Errorf("standard error has no %q:\n%s", want, errOut.String())
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"dance"}, {"sum", "x"}, {"sample", "--interval-ms"}, {"sample", "--interval-ms", "9"}, {"sample", "--interval-ms", "1e3"}, {"sample", "--pid", "-1"}} {
		cmd := command(t, args...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 || len(out) == 0 || bytes.Contains(out, []byte("column")) {
			t.Errorf("%q: %v, %q", args, err, out)
		}
	}
}

// phone makes the files of a phone's kernel below a folder.
func phone(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range map[string]string{
		"proc/stat":               "cpu  10 0 10 70 10 0 0 0 0 0\ncpu0 5 0 5 70 10 0 0 0 0 0\ncpu2 100 1 10 70 10 2 3 4 5 6\nintr 1 2\n",
		"proc/meminfo":            "MemTotal: 11000000 kB\nMemFree: 1 kB\nMemAvailable:    7654321 kB\n",
		"proc/100/stat":           "100 (a) b (c)) S 1 100 100 0 -1 4194560 1 2 3 4 30 20 5 5 20 0 7 0 1 2 3\n",
		"proc/100/statm":          "5000 1000 10 1 0 50 0\n",
		"proc/100/smaps_rollup":   "00-ff ---p 00000000 00:00 0 [rollup]\nRss:  4000 kB\nPss:     3000 kB\nPss_Anon: 1 kB\n",
		"proc/100/fdinfo/3":       "pos:\t0\nflags:\t02\nmnt_id:\t5\nino:\t77\nsize:\t4194304\ncount:\t2\nexp_name:\tsystem\n",
		"proc/100/fdinfo/4":       "pos:\t0\nino:\t78\nsize:\t1048576\nexp_name:\tqcom,cdsp\n",
		"proc/100/fdinfo/5":       "pos:\t0\nino:\t79\nsize:\t123456789\n",
		"proc/101/fdinfo/3":       "pos:\t0\nino:\t77\nsize:\t4194304\nexp_name:\tsystem\n",
		"proc/101/stat":           "101 (child) R 100 100 100 0 -1 0 1 2 3 4 1 1 0 0 20 0 1 0 1 2 3\n",
		"proc/101/statm":          "5000 500 10 1 0 50 0\n",
		"proc/102/stat":           "102 (own session) R 101 102 102 0 -1 0 1 2 3 4 1 1 0 0 20 0 2 0 1 2 3\n",
		"proc/102/statm":          "5000 1 10 1 0 50 0\n",
		"proc/103/stat":           "103 (dead) Z 100 100 100 0 -1 0 1 2 3 4 900 900 0 0 20 0 1 0 1 2 3\n",
		"proc/50/stat":            "50 (other) S 1 50 50 0 -1 0 1 2 3 4 5 5 0 0 20 0 1 0 1 2 3\n",
		"proc/50/statm":           "5000 100000 10 1 0 50 0\n",
		"proc/51/stat":            "51 (nonsense",
		"sys/devices/system/cpu/": "", "sys/devices/system/cpu/present": "0-3\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "1804800\n",
		"sys/devices/system/cpu/cpu1/":                         "",
		"sys/class/kgsl/kgsl-3d0/gpu_busy_percentage":          "37 %\n",
		"sys/class/kgsl/kgsl-3d0/gpuclk":                       "903000000\n",
		"sys/devices/system/cpu/bus_dcvs/DDR/cur_freq":         "4224000\n",
		"sys/devices/system/cpu/bus_dcvs/LLCC/":                "",
		"sys/class/devfreq/soc:qcom,cdsp bw/cur_freq":          "762\n",
		"sys/class/thermal/thermal_zone0/type":                 "cpuss-0\n",
		"sys/class/thermal/thermal_zone0/temp":                 "45200\n",
		"sys/class/thermal/thermal_zone7/type":                 "nsphvx-0\n",
		"sys/class/thermal/thermal_zone7/temp":                 "61500\n",
		"sys/class/thermal/thermal_zone8/type":                 "cpuss-0\n",
		"sys/class/thermal/thermal_zone8/temp":                 "-273000\n",
		"sys/class/thermal/thermal_zone9/type":                 "broken\n",
		"sys/class/thermal/thermal_zone9/temp":                 "\n",
		"sys/class/power_supply/usb/type":                      "USB\n",
		"sys/class/power_supply/bms/type":                      "Battery\n",
		"sys/class/power_supply/bms/current_now":               "-500000\n",
		"sys/class/power_supply/bms/voltage_now":               "4000000\n",
		"sys/class/power_supply/bms/status":                    "Discharging\n",
	} {
		at := filepath.Join(root, filepath.FromSlash(name))
		dir := filepath.Dir(at)
		if strings.HasSuffix(name, "/") {
			dir = at
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if dir != at {
			if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

// sampling runs sample; rows are waited for by next, which gives all that was said after each.
type sampling struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
	parser agent.Parser
	said   bytes.Buffer
}

func sample(t *testing.T, args ...string) *sampling {
	t.Helper()
	s := &sampling{cmd: command(t, append([]string{"sample"}, args...)...)}
	var err error
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if s.stdout, err = s.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	s.cmd.Stderr = os.Stderr
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// until reads until the series is as wanted, or the program has ended.
func (s *sampling) until(t *testing.T, want func(agent.Series) bool) agent.Series {
	t.Helper()
	b := make([]byte, 4096)
	for {
		if series := s.parser.Series(); want(series) {
			return series
		}
		n, err := s.stdout.Read(b)
		s.said.Write(b[:n])
		_, _ = s.parser.Write(b[:n])
		if err != nil {
			if series := s.parser.Series(); want(series) {
				return series
			}
			t.Fatalf("%v before what was wanted:\n%s", err, s.said.String())
		}
	}
}

func rows(n int) func(agent.Series) bool {
	return func(s agent.Series) bool { return len(s.Rows) >= n }
}

func ended(s agent.Series) bool { return s.Ended != "" }

func TestSample(t *testing.T) {
	t.Parallel()
	root := phone(t)
	s := sample(t, "--root", root, "--pid", "100", "--interval-ms", "20")
	s.until(t, rows(3))
	if err := os.WriteFile(filepath.Join(root, "proc/stat"), []byte("cpu0 6 0 5 70 10 0 0 0 0 0\ncpu3 1 1 1 1 1 1 1 1 1 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	known := func(s agent.Series, name string) bool {
		return slices.ContainsFunc(s.Column(name), func(v float64) bool { return v >= 0 })
	}
	s.until(t, func(s agent.Series) bool { return known(s, "cpu3") }) // rows that were there before the write may come after it
	s.stdin.Close()
	got := s.until(t, ended)
	if err := s.cmd.Wait(); err != nil || got.Ended != "closed" || got.Note != "" || got.Interval.Milliseconds() != 20 {
		t.Errorf("%v, ended %q, note %q, interval %v", err, got.Ended, got.Note, got.Interval)
	}
	var names []string
	for _, c := range got.Columns {
		names = append(names, c.Name+" "+c.Unit)
	}
	want := `time s, rss bytes, pss bytes, process_cpu percent, dmabuf bytes, processes count, threads count, cpu0 percent, cpu1 percent, cpu2 percent, cpu3 percent, mem_available bytes, ` +
		`cpu_clock0 MHz, gpu_busy percent, gpu_clock MHz, bus_clock_DDR MHz, devfreq_soc_qcom_cdsp_bw driver, ` +
		`temperature_cpuss-0 C, temperature_nsphvx-0 C, temperature_cpuss-0_2 C, battery_current mA, battery_voltage V, battery_discharging bool`
	if list := strings.Join(names, ", "); list != want {
		t.Errorf("columns\n%s\nwant\n%s", list, want)
	}
	for name, want := range map[string]float64{
		"rss": 1501 * 4096, "pss": 3000 << 10, "dmabuf": 5 << 20, "processes": 3, "threads": 10, "mem_available": 7654321 << 10, "cpu_clock0": 1804.8, "gpu_busy": 37, "gpu_clock": 903,
		"bus_clock_DDR": 4224, "devfreq_soc_qcom_cdsp_bw": 762, "temperature_nsphvx-0": 61.5, "temperature_cpuss-0_2": -273, "battery_current": -500, "battery_voltage": 4, "battery_discharging": 1,
	} {
		if v := got.Column(name)[0]; v != want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
	for name, want := range map[string]bool{"cpu0": true, "cpu1": false, "cpu2": true, "cpu3": true, "process_cpu": true} { // what was on for two rows
		if known(got, name) != want {
			t.Errorf("%s: %v", name, got.Column(name))
		}
	}
	var missing []string
	for _, a := range got.Absent {
		missing = append(missing, fmt.Sprintf("%s %d %s", a.Name, a.Errno, a.Path))
	}
	wantMissing := "cpu_clock1 2 /sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq, bus_clock1 2 /sys/devices/system/cpu/bus_dcvs/LLCC/cur_freq, temperature9 22 /sys/class/thermal/thermal_zone9/temp"
	if list := strings.Join(missing, ", "); list != wantMissing {
		t.Errorf("absent\n%s\nwant\n%s", list, wantMissing)
	}
}

func TestSampleEndsWithTheProcess(t *testing.T) {
	t.Parallel()
	root, file := phone(t), filepath.Join(t.TempDir(), "pid")
	s := sample(t, "--root", root, "--pid-file", file, "--interval-ms", "20")
	defer s.stdin.Close()
	s.until(t, rows(2))
	if err := os.WriteFile(file, []byte("10"), 0o644); err != nil { // not all of it yet: there is no line end
		t.Fatal(err)
	}
	before := s.until(t, rows(4))
	if err := os.WriteFile(file, []byte("100\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	known := func(s agent.Series) bool { n := s.Column("processes"); return len(n) > 0 && n[len(n)-1] == 3 }
	if known(before) {
		t.Error("a process was known before its file had a line end")
	}
	s.until(t, known)
	for _, pid := range []string{"100", "101", "102"} {
		if err := os.RemoveAll(filepath.Join(root, "proc", pid)); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.until(t, ended); got.Ended != "gone" {
		t.Errorf("ended %q", got.Ended)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestHeldUp: a sensor that was held up once is read again as soon as the others, and all are read when the process
// begins. A busy machine can hold up one read more, so one of three tries has to be fast; none is where the sampler
// waits 50 times 100 ms.
func TestHeldUp(t *testing.T) {
	t.Parallel()
	// The first read only looks whether there is such a sensor.
	for name, held := range map[string]int{"before the process": 1, "beside it": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var took []time.Duration
			for range 3 {
				took = append(took, heldUp(t, held))
				if slices.Min(took) <= 3*time.Second {
					return
				}
			}
			t.Errorf("the tries took %v", took)
		})
	}
}

// heldUp holds up the sensor's read number held for 100 ms and returns how long four values took after that.
func heldUp(t *testing.T, held int) time.Duration {
	t.Helper()
	root, file := phone(t), filepath.Join(t.TempDir(), "pid")
	sensor := filepath.Join(root, "sys/class/kgsl/kgsl-3d0/gpu_busy_percentage")
	if err := errors.Join(os.Remove(sensor), syscall.Mkfifo(sensor, 0o600)); err != nil {
		t.Fatal(err)
	}
	began := make(chan struct{})
	go func() { // until it is no more
		for i := 0; ; i++ {
			f, err := os.OpenFile(sensor, os.O_WRONLY, 0)
			if err != nil {
				return
			}
			if i == held {
				time.Sleep(100 * time.Millisecond)
				close(began)
			}
			_, _ = f.WriteString("37 %\n")
			f.Close()
			time.Sleep(2 * time.Millisecond) // or the next one is written to the same reader
		}
	}()
	t.Cleanup(func() { // and the goroutine with it
		f, err := os.OpenFile(sensor, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			err = errors.Join(os.Remove(sensor), f.Close())
		}
		if err != nil {
			t.Error(err)
		}
	})
	s := sample(t, "--root", root, "--pid-file", file, "--interval-ms", "50")
	begin := func() {
		if err := os.WriteFile(file, []byte("100\n"), 0o644); err != nil {
			t.Error(err)
		}
	}
	if held > 1 {
		begin()
	}
	<-began
	if held == 1 {
		begin()
	}
	start := time.Now()
	s.until(t, func(s agent.Series) bool {
		n := 0
		for i, v := range s.Column("gpu_busy") {
			if v == 37 && s.Column("processes")[i] > 0 {
				n++
			}
		}
		return n >= 4
	})
	took := time.Since(start)
	s.stdin.Close()
	s.until(t, ended)
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
	return took
}

// A real process, on the kernel that runs the test.
func TestSampleOfARealProcess(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), "sh", "-c", "read x; exit 0")
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	s := sample(t, "--pid", fmt.Sprint(child.Process.Pid), "--interval-ms", "20")
	defer s.stdin.Close()
	got := s.until(t, rows(3))
	if rss, pss := got.Column("rss")[0], got.Column("pss")[0]; rss < 100<<10 || rss > 100<<20 || pss <= 0 || pss > rss {
		t.Errorf("a shell has RSS %v, PSS %v", rss, pss)
	}
	stdin.Close()
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	if got = s.until(t, ended); got.Ended != "gone" {
		t.Errorf("ended %q", got.Ended)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
}
