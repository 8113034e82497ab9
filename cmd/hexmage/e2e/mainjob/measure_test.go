//go:build linux

package mainjob_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/hexmage/hexmage/cmd/hexmage/e2e/worldtest"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
)

// timedSource is a small program for the phone: it adds up as many numbers as its first argument says, thousands of
// times, and prints how long that took as mllm does.
const timedSource = phonetest.Calls + `
static char *number(char *p, long v) {
	char d[20];
	int n = 0;
	do d[n++] = '0' + v % 10; while (v /= 10);
	while (n) *p++ = d[--n];
	return p;
}
static char *text(char *p, const char *s) {
	while (*s) *p++ = *s++;
	return p;
}
void run(long *stack) {
	const char *arg = (const char *)stack[2];
	struct { long s, ns; } a, b;
	char out[200], *p = out;
	long n = 0;
	while (*arg) n = n * 10 + *arg++ - '0';
	volatile long sum = 0;
	call(113, 1, (long)&a, 0);
	for (long i = 0; i < n * 2000; i++) sum += i;
	call(113, 1, (long)&b, 0);
	p = number(text(p, "real_seq_length: "), n);
	p = text(number(text(p, "\nprefill time: "), (b.s - a.s) * 1000000 + (b.ns - a.ns) / 1000), "us\n");
	call(64, 1, (long)out, p - out);
	call(93, 0, 0, 0);
}
`

const timedPipeline = `
variable "long" { default = "1024" }
profile "simulated" { default = true }
target "SM8750" {}
toolchain "adb" {}
toolchain "llvm" {}
toolchain "qemu" {}
toolchain "busybox" {}

step "simulated_phone" "phone" {}

step "exec" "timed" {
  argv = ["sh", "-c", "exec ${toolchain.llvm.dir}/usr/bin/clang-22 --target=aarch64-linux-gnu -O1 -mgeneral-regs-only -ffreestanding -fno-builtin -nostdlib -nostdlibinc -static -fuse-ld=lld --ld-path=${toolchain.llvm.dir}/usr/bin/ld.lld-22 -o timed timed.c"]
  inputs = ["timed.c"]
  output "bin" { file = "timed" }
}

step "run" "bench" {
  device = step.simulated_phone.phone.outputs.image
  push   = { timed = step.exec.timed.outputs.bin }
  argv   = ["./timed", matrix.seq]
  repeat = 3
  warmup = 1
  matrix = { seq = ["64", var.long] }
  cooldown { celsius = 90 }
  baseline "before" {
    source  = "yesterday"
    profile = "simulated"
    row "prefill_tokens_per_s" {
      value = 1000
      when  = { prefill_tokens = 64 }
    }
  }
  limit "prefill_tokens" {
    max  = 64
    when = { prefill_tokens = 64 }
  }
}

output "metrics.json" {
  value = step.run.bench.outputs.metrics
  show  = "table"
}
output "stdout.txt" { value = step.run.bench.outputs.stdout }
output "results" { value = step.run.bench.outputs.results }

check "tokens" {
  condition     = step.run.bench.outputs.measured["seq=64"].prefill_tokens.min == 64 && step.run.bench.outputs.measured["seq=${var.long}"].prefill_tokens.max == var.long + 0
  error_message = "The program read something else."
}
`

// startedIn are the actions of the step in the order in which they began.
func startedIn(t *testing.T, r Ran, step string) (names []string) {
	t.Helper()
	for text := range strings.Lines(r.Stdout) {
		var l Line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		if l.Event == "action_started" && l.Step == step {
			names = append(names, l.Name)
		}
	}
	return names
}

// TestMatrix measures two variants three times each on one phone: by turns, each after a warm-up, into one table and
// one file with every single value. What changes of one variant is measured anew, and nothing else; more repetitions
// add to those that are known.
func TestMatrix(t *testing.T) {
	w := Warmed(t)
	w.Write(t, "timed.c", timedSource)
	w.Write(t, "pipelines/bench.hcl", timedPipeline)
	r := w.RunJSON(t, "bench")
	want := []string{"run[seq=64]#1", "run[seq=1024]#1", "run[seq=64]#2", "run[seq=1024]#2", "run[seq=64]#3",
		"run[seq=1024]#3", "metrics"}
	got := startedIn(t, r, "run.bench")
	turns := len(got) == len(want) && got[6] == "metrics"
	for i := 0; turns && i < 6; i += 2 { // which of a round comes first is free
		turns = slices.Equal(slices.Sorted(slices.Values(got[i:i+2])), slices.Sorted(slices.Values(want[i:i+2])))
	}
	if !turns {
		t.Errorf("the order was %q, want %q", got, want)
	}

	out := func(name string) string { return filepath.Join(w.Dir, "out", "bench", name) }
	var m struct {
		Columns  []struct{ Name string }
		Lines    [][]string
		Variants []struct {
			Variant map[string]string
			Runs    []struct {
				Repetition int
				Record     struct {
					Serial   string
					Warmups  []int64 `json:"warmups_us"`
					Cooldown *struct{ Reached bool }
				}
				Metrics []struct {
					Name  string
					Value float64
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(Read(t, out("metrics.json"))), &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Lines) != 2 || len(m.Columns) < 4 || m.Columns[0].Name != "seq" ||
		m.Columns[1].Name != "prefill_tokens_per_s" || m.Lines[0][0] != "64" || m.Lines[1][0] != "1024" {
		t.Errorf("table: %+v %q", m.Columns, m.Lines)
	}
	if len(m.Variants) != 2 {
		t.Fatalf("%d variants", len(m.Variants))
	}
	for _, v := range m.Variants {
		for i, one := range v.Runs {
			values := map[string]float64{}
			for _, x := range one.Metrics {
				values[x.Name] = x.Value
			}
			if len(v.Runs) != 3 || one.Repetition != i+1 || one.Record.Serial == "" || len(one.Record.Warmups) != 1 ||
				one.Record.Cooldown == nil || !one.Record.Cooldown.Reached ||
				fmt.Sprint(values["prefill_tokens"]) != v.Variant["seq"] || values["prefill_time_us"] <= 0 ||
				values["run_time_us"] < values["prefill_time_us"] {
				t.Errorf("%v #%d: %+v, %v", v.Variant, i+1, one.Record, values)
			}
			if one := Read(t, out(fmt.Sprintf("results/seq=%s/%d/stdout.txt", v.Variant["seq"],
				i+1))); !strings.Contains(Read(t, out("stdout.txt")),
				fmt.Sprintf("==> seq=%s #%d <==\n%s", v.Variant["seq"], i+1, one)) {
				t.Errorf("stdout.txt does not have what %v #%d printed", v.Variant, i+1)
			}
		}
	}

	shown := w.Run(t, "run", "bench")
	Wants(t, shown, ExitOK, "seq", "prefill speed, tokens/s", "runs", "phone", " ± ", "seq=64: prefill speed, before",
		"passed         check.tokens  error")
	// the latter on a busy machine, where the spread is wide
	if !regexp.MustCompile(`seq=64: prefill speed, before +(better|within noise): `).MatchString(shown.Stdout) {
		t.Error("no verdict on a speed far above its baseline")
	}
	t.Log(shown.Stdout)

	w.Edit(t, "pipelines/bench.hcl", "repeat = 3", "repeat = 4")
	r = w.RunJSON(t, "--var", "long=512", "bench")
	if want := []string{"run.bench metrics", "run.bench run[seq=512]#1", "run.bench run[seq=512]#2",
		"run.bench run[seq=512]#3", "run.bench run[seq=512]#4", "run.bench run[seq=64]#4"}; !slices.Equal(r.Names,
		want) {
		t.Errorf("another value of one variant, and one more repetition, ran %q", r.Names)
	}
	w.Edit(t, "pipelines/bench.hcl", "repeat = 4", "repeat = 1\n  cache  = false")
	for range 2 {
		if r = w.RunJSON(t, "bench"); len(startedIn(t, r, "run.bench")) != 3 {
			t.Errorf("what is not to be remembered ran %q", r.Names)
		}
	}
	w.Edit(t, "pipelines/bench.hcl", "max  = 64", "max  = 63")
	Wants(t, w.Run(t, "run", "bench"), ExitFailed, "seq=64: prefill_tokens is 64, above its limit of 63 tokens",
		"hint: prefill_tokens is beyond the limit that the step sets.")
}
