package diagnose_test

import (
	"strings"
	"testing"

	"github.com/hexmage/hexmage/runner/diagnose"
)

func families() diagnose.Codes {
	return diagnose.Codes{
		{Name: "DSP", Base: 0x80000400, Names: map[uint32]string{6: "EUNABLETOLOAD: not found", 13: "EBADSTATE"}},
		{Name: "host", Near: []string{"fastrpc"}, Names: map[uint32]string{39: "ENOSUCH", 0x200: "ERPC"}},
		{Name: "QNN", Mask: 0xffff, Least: 1000, Names: map[uint32]string{1002: "MEM_ALLOC", 14001: "INVALID_CONFIG", 5005: "CREATE"}},
	}
}

func TestCodes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0x80000406":              "DSP EUNABLETOLOAD",
		"-2147482618":             "DSP EUNABLETOLOAD",
		"2147484678":              "DSP EUNABLETOLOAD",
		"0x8000040D":              "DSP EBADSTATE",
		"39":                      "host ENOSUCH",
		"0x200":                   "host ERPC",
		"0x3ea":                   "QNN MEM_ALLOC",
		"1002":                    "QNN MEM_ALLOC",
		"0x36b1":                  "QNN INVALID_CONFIG",
		"0xabcd0000138d":          "QNN CREATE", // a handle: its low 16 bits
		"7":                       "",
		"x":                       "",
		"":                        "",
		"-":                       "",
		"0x":                      "",
		"99999999999999999999999": "",
		"line: qnn_open failed, 0x80000406, prio 100":         "DSP EUNABLETOLOAD",
		"line: returned -2147482611":                          "DSP EBADSTATE",
		"line: err 5005 and error: 14001":                     "QNN CREATE|QNN INVALID_CONFIG",
		"line: fastrpc open failed 39":                        "host ENOSUCH",
		"line: opened 39 files, error 39":                     "",
		"line: file 1002 of 5005, 14001 bytes":                "",
		"line: Failed to create device: 14001":                "QNN INVALID_CONFIG",
		"line: Finalize failed with error = 0x3ea":            "QNN MEM_ALLOC",
		"line: error 1002 again error 1002":                   "QNN MEM_ALLOC",
		"line: at 0x7ffd0000138d in main":                     "",
		"line: " + strings.Repeat("err 1002 err 5005 ", 9999): "QNN MEM_ALLOC|QNN CREATE",
	} {
		var found []diagnose.Code
		if line, ok := strings.CutPrefix(in, "line: "); ok {
			found = families().In(line)
		} else {
			found = families().Decode(in)
		}
		var got []string
		for _, c := range found {
			got = append(got, c.Family+" "+c.Name)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%.60q: %q, want %q", in, got, want)
		}
	}
}

func FuzzCodes(f *testing.F) {
	f.Add("qnn_open failed, 0x80000406 err -2147482618 error: 0x")
	f.Add("fastrpc err 99999999999999999999 status=-0x80")
	f.Fuzz(func(t *testing.T, line string) {
		for _, c := range append(families().In(line), families().Decode(line)...) {
			if c.Name == "" || c.Family == "" || !strings.Contains(line, c.Text) {
				t.Errorf("%q: %+v", line, c)
			}
		}
	})
}
