//go:build linux

package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hexmage/hexmage/cmd/hexmage/cli"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// prefilling is an AArch64 program for phonetest.Compile: it takes a while and says that so many tokens, its
// argument, took twice as many milliseconds.
const prefilling = phonetest.Calls + `
void run(long *stack) {
	static const char name[] = "prefill time: ";
	long pause[2] = { 0, 400000000 }, n = 0;
	char text[24], *end = text + sizeof text, *p = end;
	for (char *s = (char *)stack[2]; *s; s++) n = n * 10 + *s - '0';
	*--p = '\n', *--p = 's', *--p = 'm', *--p = '0', *--p = '.';
	n *= 2;
	do *--p = '0' + n % 10; while (n /= 10);
	call(101, (long)pause, 0, 0);
	call(64, 1, (long)name, sizeof name - 1);
	call(64, 1, (long)p, end - p);
	call(93, 0, 0, 0);
}
`

const phonesPipeline = `
pipeline {}
target "SM8750" {}
toolchain "adb" {}
step "run" "bench" {
  push   = { bench = "bench" }
  argv   = ["./bench", matrix.seq]
  matrix = { seq = ["64", "128", "256", "1024"] }
  repeat = 3
  facts  = { prefill_tokens = matrix.seq }
}
output "table" {
  value = step.run.bench.outputs.metrics
  show  = "table"
}
`

const onePipeline = `
pipeline {}
target "SM8750" {}
toolchain "adb" {}
step "run" "one" {
  push = { bench = "bench" }
  argv = ["sh", "-c", "echo \"prefill time: 2.0ms\"; cat /data/name"]
  soc  = "SM8750"
}
output "stdout" { value = step.run.one.outputs.stdout }
`

// rack is eight simulated phones at two adb servers, listed in devices.hcl, and a workspace with a bench for them.
type rack struct {
	dir    string
	vars   []string
	phones []*phone.Device
	server []string // sockets of the adb servers; phones are at them by turns
	disks  []string
}

func newRack(t *testing.T, n int) *rack {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cache, home := t.TempDir(), t.TempDir()
	r := &rack{dir: t.TempDir(),
		vars: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "HEXMAGE_CACHE=" + cache,
			"HEXMAGE_DEVICES=" + filepath.Join(home, "phones.hcl")}}
	image := phonetest.Image(t, nil)
	r.server = []string{phonetest.Server(t).Address(), phonetest.Server(t).Address()}
	r.vars = append(r.vars, "ADB_SERVER_SOCKET=localfilesystem:"+r.server[0])
	var list strings.Builder
	for i := range n {
		r.disks = append(r.disks, t.TempDir())
		e := phonetest.Start(t, image, func(o *phone.Options) {
			o.Self, o.Data = []string{self, "tool", "phone-init"}, r.disks[i]
		})
		r.phones = append(r.phones, e)
		if err := os.WriteFile(filepath.Join(r.disks[i], "name"), fmt.Appendln(nil, "phone", i+1), 0o644); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&list, "device \"phone%d\" {\n  serial = %q\n  server = \"unix:%s\"\n}\n", i+1, e.Addr(),
			r.server[i%2])
	}
	for path, text := range map[string]string{filepath.Join(home, "phones.hcl"): list.String(),
		filepath.Join(r.dir, "pipelines", "bench.hcl"): phonesPipeline,
		filepath.Join(r.dir, "pipelines", "one.hcl"):   onePipeline} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(phonetest.Compile(t, "aarch64", prefilling), filepath.Join(r.dir, "bench")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(cache, "v3", "downloads"), os.DirFS(toolchaintest.Downloads(t))); err != nil {
		t.Fatal(err)
	}
	return r
}

// run runs hexmage and returns the exit code and what was printed.
func (r *rack) run(args ...string) (code int, stdout, stderr string) {
	self, err := os.Executable()
	if err != nil {
		return -1, "", err.Error()
	}
	var out, errs bytes.Buffer
	env := cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: r.dir, Self: self, Vars: r.vars}
	code = cli.Main(append([]string{"hexmage"}, args...), env)
	return code, out.String(), errs.String()
}

// TestEightPhones measures 4 lengths × 3 repetitions on eight phones at two adb servers. One phone dies in the middle.
func TestEightPhones(t *testing.T) {
	t.Parallel()
	r := newRack(t, 8)
	const dying = 4
	died := make(chan struct{})
	go func() { // as soon as the program runs there
		defer close(died)
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if found, _ := filepath.Glob(filepath.Join(r.disks[dying],
				"local/tmp/hexmage/run/*/.hexmage.pid")); len(found) > 0 {
				_ = r.phones[dying].Close()
				return
			}
		}
	}()
	start := time.Now()
	code, out, errs := r.run("run", "bench")
	took := time.Since(start)
	<-died
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	t.Logf("in %v:\n%s%s", took, out, errs)
	all := out + errs
	name := fmt.Sprintf("phone%d", dying+1)
	n := strings.Count(all, "the run on "+name+" was interrupted")
	if n != 1 || strings.Count(all, "was interrupted") != 1 {
		t.Errorf("the dead phone is named %d times", n)
	}
	for _, want := range []string{`seq  prefill speed, tokens/s`, `(?m)^ +64 +500 .*\b3 `, `(?m)^ +1024 +500 .*\b3 `} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("the table lacks %q", want)
		}
	}

	b, err := os.ReadFile(filepath.Join(r.dir, "out", "bench", "table"))
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Variants []struct {
			Variant map[string]string
			Runs    []struct {
				Repetition int
				Record     struct{ Name, Serial string }
			}
		}
	}
	if err := json.Unmarshal(b, &table); err != nil {
		t.Fatal(err)
	}
	runs, used := map[string]bool{}, map[string]int{}
	for _, v := range table.Variants {
		for _, m := range v.Runs {
			runs[fmt.Sprint(v.Variant["seq"], "#", m.Repetition)] = true
			used[m.Record.Name]++
		}
	}
	if len(runs) != 12 || len(table.Variants) != 4 {
		t.Errorf("the JSON file has the runs %v", runs)
	}
	for i := range r.phones {
		if name := fmt.Sprintf("phone%d", i+1); (used[name] > 0) != (i != dying) {
			t.Errorf("%s measured %d runs", name, used[name])
		}
	}
	if code, out, errs := r.run("run", "bench"); code != 0 || strings.Contains(out+errs, "cannot be used") {
		t.Errorf("again: exit code %d\n%s%s", code, out, errs)
	}
}

// TestChoosingAPhone chooses with --serial, with adb's variables, and by SoC.
func TestChoosingAPhone(t *testing.T) {
	t.Parallel()
	r := newRack(t, 3)
	ran := func(want string, args ...string) {
		t.Helper()
		code, out, errs := r.run(append([]string{"run", "one"}, args...)...)
		b, _ := os.ReadFile(filepath.Join(r.dir, "out", "one", "stdout"))
		if code != 0 || !strings.HasSuffix(string(b), "\n"+want+"\n") {
			t.Errorf("%q: exit code %d, stdout %q, want %q\n%s%s", args, code, b, want, out, errs)
		}
	}
	refused := func(code int, args []string, want ...string) {
		t.Helper()
		got, out, errs := r.run(args...)
		for _, w := range want {
			if got != code || !strings.Contains(out+errs, w) {
				t.Errorf("%q: exit code %d, want %d and %q\n%s%s", args, got, code, w, out, errs)
			}
		}
	}
	ran("phone 2", "--serial", "phone2")
	ran("phone 3", "-s", r.phones[2].Addr()) // what another phone printed is not the answer
	ran("phone 2", "--serial", "phone2")
	refused(cli.ExitEngine, []string{"run", "one", "--serial", "phone9"},
		"device phone9: it is not connected to the adb server", "Devices in devices.hcl: phone1, phone2, phone3")

	// Without a pool: the user's own adb server.
	listed := r.vars
	r.vars = append(r.vars[:len(r.vars):len(r.vars)], "HEXMAGE_DEVICES=")
	refused(cli.ExitOK, []string{"device", "list", "--json"}, r.phones[2].Addr())
	refused(cli.ExitEngine, []string{"run", "one", "--force", "--serial", "127.0.0.1:9"}, "failed to connect")
	ran("phone 3", "--force") // the only one there
	refused(cli.ExitOK, []string{"device", "connect", r.phones[0].Addr()}, "connected")
	refused(cli.ExitEngine, []string{"run", "one", "--force"},
		"2 devices with the SoC SM8750 are connected; choose one with --serial", r.phones[0].Addr(), r.phones[2].Addr())
	ran("phone 1", "--force", "--serial", r.phones[0].Addr())
	refused(cli.ExitOK, []string{"doctor"}, r.phones[0].Addr())
	r.vars = append(listed[:len(listed):len(listed)], "ADB_SERVER_SOCKET=nonsense")
	refused(cli.ExitUsage, []string{"run", "one", "--force"},
		"ADB_SERVER_SOCKET=nonsense: invalid address; use tcp:HOST:PORT")
	r.vars = append(listed[:len(listed):len(listed)], "HEXMAGE_DEVICES=", "ADB_SERVER_SOCKET=tcp:192.0.2.1x:5037")
	refused(cli.ExitUsage, []string{"run", "one", "--force"},
		"The adb server at 192.0.2.1x:5037 does not answer")
	refused(cli.ExitEngine, []string{"run", "one", "--force", "--serial", r.phones[0].Addr()},
		"the adb server 192.0.2.1x:5037 does not answer (", "; run `adb -a nodaemon server` on the server's computer")
	r.vars = listed
	refused(cli.ExitOK, []string{"doctor"}, r.phones[1].Addr(), "phone2 ", r.phones[2].Addr())
}
