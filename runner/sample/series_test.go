package sample_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/runner/sample"
)

const stream = `hexmage-samples 1
interval_ms 100
clock_ticks 100
column rss kB
column pss kB
column process_cpu ticks
column cpu0 ticks
column mem_available kB
column gpu_busy percent
column temperature0 mC skin therm
column battery_current uA
column battery_voltage uV
column battery_discharging bool
absent gpu_clock 13 /sys/class/kgsl/kgsl-3d0/gpuclk
future words are skipped
begin
1000000000 - - - 1000 8000000 0 31000 - - -
1100000000 1000 900 50 1010 7900000 50 31500 -250000 4000000 1
1200000000 4000 - 70 1020 7000000 100 - 250000 4000000 1
1300000000 2000 1500 100 - 7500000 - 40250 250000 4000000 1
1400000000 1500 1000 90 1040 7500000 0 32000 250000 4000000 1
end gone 12345
`

func parse(s string) sample.Series {
	var p sample.Parser
	_, _ = p.Write([]byte(s))
	return p.Series()
}

func TestSeries(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	s := parse(stream)
	for name, want := range map[string][]float64{
		"time":                   {0, 0.1, 0.2, 0.3, 0.4},
		"rss":                    {nan, 1024000, 4096000, 2048000, 1536000},
		"process_cpu":            {nan, nan, 200, 300, nan}, // unknown: the count fell
		"cpu0":                   {nan, 100, 100, nan, 100}, // 20 ticks in 0.2 s
		"temperature_skin_therm": {31, 31.5, nan, 40.25, 32},
		"battery_current":        {nan, -250, 250, 250, 250},
		"nothing":                nil,
	} {
		if got := s.Column(name); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if s.Note != "" || s.Ended != "gone" || s.SamplerCPU.Microseconds() != 12345 ||
		len(s.Absent) != 1 || s.Absent[0].Errno != 13 {
		t.Errorf("%+v", s)
	}
	want := []sample.Value{
		{"peak_rss", 4.1, "MB"}, {"peak_pss", 1.5, "MB"}, {"mean_cpu", 2.5, "cores"},
		{"mem_available_drop", 1024, "MB"}, {"mean_gpu_busy", 37.5, "percent"},
		{"max_temperature", 40.3, "°C"}, {"mean_power", 1000, "mW"}, {"energy", 0.4, "J"}, {"samples", 5, ""},
	}
	if got := s.Summary(); !reflect.DeepEqual(got, want) {
		t.Errorf("summary\n%v\nwant\n%v", got, want)
	}
	charging := strings.Replace(stream, "4000000 1\n", "4000000 0\n", 1)
	if got := parse(charging).Summary(); !reflect.DeepEqual(got, slices.Concat(want[:6], want[8:])) {
		t.Errorf("of a phone that is charged: %v", got)
	}
}

// Power is of the process's lifetime. Available memory is compared with the samples before it.
func TestSummaryIsOfTheProcess(t *testing.T) {
	t.Parallel()
	s := parse(`hexmage-samples 1
clock_ticks 100
column processes count
column dmabuf kB
column mem_available kB
column gpu_busy percent
column battery_current uA
column battery_voltage uV
column battery_discharging bool
begin
1000000000 - - 9000000 99 -9000000 4000000 0
2000000000 1 1000 9000000 50 -500000 4000000 1
3000000000 1 3000 8000000 20 -250000 4000000 1
4000000000 1 2000 8000000 20 -250000 4000000 1
5000000000 - - 7000000 99 -9000000 4000000 1
end gone 1
`)
	want := []sample.Value{
		{"peak_dmabuf", 3.1, "MB"}, {"mem_available_drop", 2048, "MB"}, {"mean_gpu_busy", 20, "percent"},
		{"mean_power", 1000, "mW"}, {"energy", 2, "J"}, {"samples", 3, ""},
	}
	if got := s.Summary(); !reflect.DeepEqual(got, want) {
		t.Errorf("summary\n%v\nwant\n%v", got, want)
	}
	for _, v := range want {
		if !slices.Contains(sample.SummaryNames(), v.Name) {
			t.Errorf("%s is no name of a summary", v.Name)
		}
	}
}

// TestFewSamples: a summary of two samples has peaks and no means. It uses the kernel's own peak of a process.
func TestFewSamples(t *testing.T) {
	t.Parallel()
	s := parse(`hexmage-samples 1
column rss kB
column rss_peak kB
column process_cpu ticks
column dmabuf kilobytes
column processes count
column gpu_busy percent
begin
1000000000 - - - - - 1
2000000000 1000 5000 1 4000 1 50
3000000000 3000 9000 2 8000 1 50
end gone 1
`)
	want := []sample.Value{{"peak_rss", 9.2, "MB"}, {"peak_dmabuf", 8, "MB"}, {"samples", 2, ""}}
	if got := s.Summary(); !reflect.DeepEqual(got, want) {
		t.Errorf("summary\n%v\nwant\n%v", got, want)
	}
	if got := s.Column("dmabuf"); got[2] != 8e6 {
		t.Errorf("dmabuf: %v", got)
	}
}

func TestWrittenSeries(t *testing.T) {
	t.Parallel()
	s := parse(stream)
	var c, j bytes.Buffer
	if err := s.WriteCSV(&c); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(c.String(), "\n")
	if lines[0] != "time_s,rss_bytes,pss_bytes,process_cpu_percent,cpu0_percent,mem_available_bytes,gpu_busy_percent,temperature_skin_therm_C,battery_current_mA,battery_voltage_V,battery_discharging" ||
		lines[3] != "0.2,4096000,,200,100,7168000000,100,,250,4,1" || len(lines) != 7 {
		t.Errorf("CSV:\n%s", c.String())
	}
	if err := s.WriteJSON(&j); err != nil {
		t.Fatal(err)
	}
	summary, note, err := sample.ReadJSON(j.Bytes())
	if err != nil || note != s.Note || !reflect.DeepEqual(summary, s.Summary()) {
		t.Fatalf("%v, %q, %v\n%s", summary, note, err, j.String())
	}
	if !strings.Contains(j.String(), `"peak_rss": {
      "value": 4.1,
      "unit": "MB"
    }`) || !strings.Contains(j.String(), `"name": "rss",
      "unit": "bytes"`) {
		t.Errorf("JSON:\n%s", j.String())
	}
	for _, bad := range []string{"", "{}", `{"version": 1}`, `{"version": 2, "summary": 1}`} {
		if s, _, err := sample.ReadJSON([]byte(bad)); err == nil {
			t.Errorf("%s was read: %v", bad, s)
		}
	}
}

func TestStreamsThatAreNone(t *testing.T) {
	t.Parallel()
	head, body, _ := strings.Cut(stream, "begin\n")
	for name, c := range map[string]struct {
		stream, note string
		rows         int
	}{
		"nothing":           {"", "the device sent no samples", 0},
		"a shell's error":   {"sh: syntax error: unexpected EOF\nmore\n", `the device sent text instead of samples: "sh: syntax error: unexpected EOF"`, 0},
		"a later version":   {"hexmage-samples 2\nbegin\n1\n", `the device sent text instead of samples: "hexmage-samples 2"`, 0},
		"a header":          {head + "begin\n", "the device sent a header without samples", 0},
		"cut off":           {strings.TrimSuffix(head+"begin\n"+body, "0 32000 250000 4000000 1\nend gone 12345\n"), "", 4},
		"short rows":        {head + "begin\n1 2\n" + body, "1 corrupt lines from the device were skipped", 5},
		"time goes back":    {head + "begin\n1200000000 - - - - - - - - - -\n" + body, "3 corrupt lines from the device were skipped", 3},
		"a long line":       {head + "begin\n" + strings.Repeat("1 ", 10000) + "\n" + body, "1 corrupt lines from the device were skipped", 5},
		"numbers too large": {head + "begin\n1 99999999999999999999 - - - - - - - - -\n2 9000000000000000000 - - - - - - - - -\n" + body, "2 corrupt lines from the device were skipped", 5},
		"too many columns":  {"hexmage-samples 1\n" + strings.Repeat("column x count\n", 513) + "begin\n", "the device sent more than 512 columns", 0},
	} {
		for _, piece := range []int{len(c.stream) + 1, 7} { // in one piece or in many
			var p sample.Parser
			for b := []byte(c.stream); len(b) > 0; b = b[min(piece, len(b)):] {
				_, _ = p.Write(b[:min(piece, len(b))])
			}
			if s := p.Series(); s.Note != c.note || len(s.Rows) != c.rows {
				t.Errorf("%s in pieces of %d: %d rows, %q", name, piece, len(s.Rows), s.Note)
			}
		}
	}
}

// A long series is thinned evenly.
func TestLongSeries(t *testing.T) {
	t.Parallel()
	var p sample.Parser
	fmt.Fprint(&p, "hexmage-samples 1\n", strings.Repeat("column x count\n", 500), "begin\n")
	values := strings.Repeat(" 1", 500) + "\n"
	for i := range 6000 {
		fmt.Fprint(&p, (i+1)*100_000_000, values)
	}
	s := p.Series()
	if len(s.Rows) < 2000 || len(s.Rows)*501 > 2<<20 || s.Rows[1][0] != 0.2 || s.Rows[len(s.Rows)-1][0] < 599 || !strings.Contains(s.Note, "hexmage kept one in 2") {
		t.Errorf("%d rows, the second at %v, the last at %v, %q", len(s.Rows), s.Rows[1][0], s.Rows[len(s.Rows)-1][0], s.Note)
	}
	for i, r := range s.Rows[1:] {
		if d := r[0] - s.Rows[i][0]; math.Abs(d-0.2) > 1e-9 {
			t.Fatalf("row %d is %v s after the one before", i+1, d)
		}
	}
}

func FuzzParser(f *testing.F) {
	f.Add([]byte(stream))
	f.Add([]byte("hexmage-samples 1\nbegin\n1\n2\n"))
	f.Add([]byte("hexmage-samples 1\ncolumn temperature1 mC \xff,\"\ncolumn temperature2 mC __\ncolumn  \nbegin\n1 -1 2 3\n2 4611686018427387904 5 -\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p sample.Parser
		if n, err := p.Write(b); n != len(b) || err != nil {
			t.Fatal(n, err)
		}
		s := p.Series()
		_ = s.Summary()
		names := map[string]bool{}
		for _, c := range s.Columns {
			if names[c.Name] {
				t.Errorf("two columns %q", c.Name)
			}
			names[c.Name] = true
		}
		var out, table bytes.Buffer
		if err := s.WriteJSON(&out); err != nil || !json.Valid(out.Bytes()) {
			t.Fatalf("%v\n%s", err, out.Bytes())
		}
		if back, _, err := sample.ReadJSON(out.Bytes()); err != nil || len(back) != len(s.Summary()) {
			t.Errorf("read back: %v, %d values of %d", err, len(back), len(s.Summary()))
		}
		if err := s.WriteCSV(&table); err != nil {
			t.Fatal(err)
		}
		if lines, err := csv.NewReader(&table).ReadAll(); err != nil || len(lines) != 1+len(s.Rows) {
			t.Errorf("CSV: %v, %d lines for %d rows", err, len(lines), len(s.Rows))
		}
	})
}
