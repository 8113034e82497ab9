package sample

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// phone makes the files of a phone's kernel below a folder. The clock is this machine's.
func phone(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	write(t, root, map[string]string{
		"proc/stat": "cpu  10 0 10 70 10 0 0 0 0 0\ncpu0 5 0 5 70 10 0 0 0 0 0\n" +
			"cpu2 100 1 10 70 10 2 3 4 5 6\nintr 1 2\n",
		"proc/meminfo":            "MemTotal: 11000000 kB\nMemFree: 1 kB\nMemAvailable:    7654321 kB\n",
		"proc/50/stat":            "50 (other) S 1 50 50 0 -1 0 1 2 3 4 5 5 0 0 20 0 1 0 1 2 3\n",
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
	})
	if err := os.Symlink("/proc/uptime", filepath.Join(root, "proc/uptime")); err != nil {
		t.Fatal(err)
	}
	return root
}

// status returns a process's file status with the relevant lines and others.
func status(peak, rss int) string {
	return fmt.Sprintf("Name:\tVmRSS: 7\nState:\tS\nVmHWM:\t%8d kB\nVmRSS:\t%8d kB\nRssAnon:\t 9 kB\n", peak, rss)
}

// begin makes the files of a command's processes: process 100, a child, and a grandchild with its own session.
func begin(t *testing.T, root string) {
	t.Helper()
	write(t, root, map[string]string{
		"proc/100/stat":         "100 (a) b (c)) S 1 100 100 0 -1 4194560 1 2 3 4 30 20 5 5 20 0 7 0 1 2 3\n",
		"proc/100/smaps_rollup": "00-ff ---p 00000000 00:00 0 [rollup]\nRss:  4000 kB\nPss:     3000 kB\nPss_Anon: 1 kB\n",
		"proc/100/fdinfo/3":     "pos:\t0\nflags:\t02\nmnt_id:\t5\nino:\t77\nsize:\t4194304\ncount:\t2\nexp_name:\tsystem\n",
		"proc/100/fdinfo/4":     "pos:\t0\nino:\t78\nsize:\t1048576\nexp_name:\tqcom,cdsp\n",
		"proc/100/fdinfo/5":     "pos:\t0\nino:\t79\nsize:\t123456789\n",
		"proc/101/fdinfo/3":     "pos:\t0\nino:\t77\nsize:\t4194304\nexp_name:\tsystem\n",
		"proc/101/stat":         "101 (child) R 100 100 100 0 -1 0 1 2 3 4 1 1 0 0 20 0 1 0 1 2 3\n",
		"proc/103/stat":         "103 (dead) Z 100 100 100 0 -1 0 1 2 3 4 900 900 0 0 20 0 1 0 1 2 3\n",
		"proc/100/status":       status(9000, 4000),
		"proc/101/status":       status(2500, 2000),
		"proc/99/stat":          "99 (own session) R 101 99 99 0 -1 0 1 2 3 4 1 1 0 0 20 0 2 0 1 2 3\n",
		"proc/99/status":        status(4, 4),
	})
}

// write writes files below a folder. A name that ends in a slash is a folder.
func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
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
}

// shells are similar to the shells of boards and phones: dash or bash of this machine, and busybox.
func shells(t *testing.T) map[string][]string {
	t.Helper()
	busybox := filepath.Join(toolchaintest.Root(t, "busybox"), "bin/busybox")
	return map[string][]string{"sh": {"sh"}, "busybox": {busybox, "sh"}}
}

// sampling is a running sampler.
type sampling struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
	parser Parser
	said   bytes.Buffer
}

func start(t *testing.T, shell []string, root, pidFile string, interval time.Duration) *sampling {
	t.Helper()
	argv := append(slices.Clone(shell), "-c", command(root, pidFile, interval))
	s := &sampling{cmd: exec.CommandContext(t.Context(), argv[0], argv[1:]...)}
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

// until reads until the series fulfills the condition, or the sampler has ended.
func (s *sampling) until(t *testing.T, want func(Series) bool) Series {
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

func rows(n int) func(Series) bool {
	return func(s Series) bool { return len(s.Rows) >= n }
}

func ended(s Series) bool { return s.Ended != "" }

// running reports whether the last sample has the command's three processes.
func running(s Series) bool {
	n := s.Column("processes")
	return len(n) > 0 && n[len(n)-1] == 3
}

func TestSample(t *testing.T) {
	t.Parallel()
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testSample(t, shell)
		})
	}
}

func testSample(t *testing.T, shell []string) {
	root := phone(t)
	s := start(t, shell, root, filepath.Join(root, "pid"), 20*time.Millisecond)
	s.until(t, rows(1))
	begin(t, root)
	write(t, root, map[string]string{"pid": "100\n"})
	before := s.until(t, func(s Series) bool { return running(s) && s.Column("pss")[len(s.Rows)-1] > 0 })
	write(t, root, map[string]string{"proc/stat": "cpu0 6 0 5 70 10 0 0 0 0 0\ncpu3 1 1 1 1 1 1 1 1 1 1\n"})
	known := func(s Series, name string) bool {
		return slices.ContainsFunc(s.Column(name), func(v float64) bool { return v >= 0 })
	}
	s.until(t, func(s Series) bool { return known(s, "cpu3") }) // rows before the write may arrive after it
	s.stdin.Close()
	got := s.until(t, ended)
	if err := s.cmd.Wait(); err != nil || got.Ended != "closed" || got.Note != "" || got.Interval.Milliseconds() != 20 {
		t.Errorf("%v, ended %q, note %q, interval %v", err, got.Ended, got.Note, got.Interval)
	}
	var names []string
	for _, c := range got.Columns {
		names = append(names, c.Name+" "+c.Unit)
	}
	want := `time s, rss bytes, rss_peak bytes, pss bytes, process_cpu percent, dmabuf bytes, processes count, threads count, ` +
		`cpu0 percent, cpu1 percent, cpu2 percent, cpu3 percent, mem_available bytes, ` +
		`cpu_clock0 MHz, gpu_busy percent, gpu_clock MHz, bus_clock_DDR MHz, devfreq_soc_qcom_cdsp_bw driver, ` +
		`temperature_cpuss-0 C, temperature_nsphvx-0 C, temperature_cpuss-0_2 C, battery_current mA, battery_voltage V, battery_discharging bool`
	if list := strings.Join(names, ", "); list != want {
		t.Errorf("columns\n%s\nwant\n%s", list, want)
	}
	for name, want := range map[string]float64{
		"rss": 6004 << 10, "rss_peak": 9000 << 10, "pss": 3000 << 10, "dmabuf": 5242 * 1000,
		"processes": 3, "threads": 10, "mem_available": 7654321 << 10, "cpu_clock0": 1804.8, "gpu_busy": 37, "gpu_clock": 903,
		"bus_clock_DDR": 4224, "devfreq_soc_qcom_cdsp_bw": 762,
		"temperature_nsphvx-0": 61.5, "temperature_cpuss-0_2": -273, "battery_current": -500, "battery_voltage": 4, "battery_discharging": 1,
	} {
		if v := got.Column(name)[len(before.Rows)-1]; v != want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
	for name, want := range map[string]bool{"cpu0": true, "cpu1": false, "cpu2": true, "cpu3": true, "process_cpu": true} { // on for two rows
		if known(got, name) != want {
			t.Errorf("%s: %v", name, got.Column(name))
		}
	}
	var missing []string
	for _, a := range got.Absent {
		missing = append(missing, fmt.Sprintf("%s %d %s", a.Name, a.Errno, a.Path))
	}
	wantMissing := "cpu_clock1 2 /sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq, " +
		"bus_clock1 2 /sys/devices/system/cpu/bus_dcvs/LLCC/cur_freq, temperature9 22 /sys/class/thermal/thermal_zone9/temp"
	if list := strings.Join(missing, ", "); list != wantMissing {
		t.Errorf("absent\n%s\nwant\n%s", list, wantMissing)
	}
}

func TestSampleEndsWithTheProcess(t *testing.T) {
	t.Parallel()
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := phone(t)
			s := start(t, shell, root, filepath.Join(root, "pid"), 20*time.Millisecond)
			defer s.stdin.Close()
			s.until(t, rows(1))
			begin(t, root)
			write(t, root, map[string]string{"pid": "10"}) // incomplete: without a line end
			time.Sleep(100 * time.Millisecond)
			write(t, root, map[string]string{"pid": "100\n"})
			s.until(t, running)
			for _, pid := range []string{"100", "101", "99"} {
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
		})
	}
}

// TestSampleEndsWithItsInput: a sampler that waits for its next sample ends at once.
func TestSampleEndsWithItsInput(t *testing.T) {
	t.Parallel()
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := phone(t)
			s := start(t, shell, root, filepath.Join(root, "pid"), MaxInterval)
			s.until(t, rows(1))
			begin(t, root)
			write(t, root, map[string]string{"pid": "100\n"})
			s.until(t, running)
			closed := time.Now()
			s.stdin.Close()
			if got := s.until(t, ended); got.Ended != "closed" || time.Since(closed) > 10*time.Second {
				t.Errorf("ended %q after %v", got.Ended, time.Since(closed))
			}
			if err := s.cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestHeldUp: a sensor that blocked once is read again as soon as the others, and all are read when the process
// begins. A busy machine can block one read more, so one of three attempts must be fast. A sampler that waits longer
// after each block, 20 times 100 ms, is never fast.
func TestHeldUp(t *testing.T) {
	t.Parallel()
	// The first read only detects the sensor.
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

// heldUp blocks read number held of the sensor for 100 ms. It returns the time of the next four values.
func heldUp(t *testing.T, held int) time.Duration {
	t.Helper()
	root := phone(t)
	sensor := filepath.Join(root, "sys/class/kgsl/kgsl-3d0/gpu_busy_percentage")
	if err := errors.Join(os.Remove(sensor), syscall.Mkfifo(sensor, 0o600)); err != nil {
		t.Fatal(err)
	}
	began := make(chan struct{})
	go func() { // until the pipe is removed
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
			time.Sleep(2 * time.Millisecond) // else the same reader gets the next value
		}
	}()
	t.Cleanup(func() { // also ends the goroutine
		f, err := os.OpenFile(sensor, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err == nil {
			err = errors.Join(os.Remove(sensor), f.Close())
		}
		if err != nil {
			t.Error(err)
		}
	})
	s := start(t, []string{"sh"}, root, filepath.Join(root, "pid"), 50*time.Millisecond)
	s.until(t, func(Series) bool { return s.parser.Begun() })
	begin(t, root)
	known := func() { write(t, root, map[string]string{"pid": "100\n"}) }
	if held > 1 {
		known()
	}
	<-began
	if held == 1 {
		known()
	}
	from := time.Now()
	s.until(t, func(s Series) bool {
		n := 0
		for i, v := range s.Column("gpu_busy") {
			if v == 37 && s.Column("processes")[i] > 0 {
				n++
			}
		}
		return n >= 4
	})
	took := time.Since(from)
	s.stdin.Close()
	s.until(t, ended)
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
	return took
}

// A real process on the kernel of this machine.
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
	root := t.TempDir()
	write(t, root, map[string]string{"pid": fmt.Sprintln(child.Process.Pid)})
	s := start(t, []string{"sh"}, "", filepath.Join(root, "pid"), 20*time.Millisecond)
	defer s.stdin.Close()
	got := s.until(t, rows(4))
	if rss, pss := got.Column("rss")[1], got.Column("pss")[1]; rss < 100<<10 || rss > 100<<20 || pss <= 0 || pss > rss {
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
