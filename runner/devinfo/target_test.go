package devinfo_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/runner/check"
	"github.com/hexmage/hexmage/runner/devinfo"
	"github.com/hexmage/hexmage/runner/push"
	"github.com/hexmage/hexmage/runner/session"
)

func TestCheckDevice(t *testing.T) {
	t.Parallel()
	phone := devinfo.Info{Serial: "R5CT", SoC: "SM8750P"}
	for _, c := range []struct {
		have devinfo.Info
		want qnn.Target
		ok   bool
	}{
		{phone, qnn.Target{}, true},
		{phone, qnn.Target{SoC: "SM8750", Arch: "v79"}, true}, // a phone does not report its arch
		{phone, qnn.Target{SoC: "SM8650"}, false},
		{devinfo.Info{}, qnn.Target{SoC: "SM8650"}, true}, // an old phone does not report its SoC
		{devinfo.Info{SoC: "SM8750", Arch: "v79"}, qnn.Target{SoC: "SM8750", Arch: "v75"}, false},
	} {
		if err := devinfo.CheckDevice(c.have, c.want); (err == nil) != c.ok {
			t.Errorf("%+v for %+v: %v", c.have, c.want, err)
		}
	}
}

// FuzzCheckFiles checks corrupt files. The check must end, with or without an error.
func FuzzCheckFiles(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\xb7\x00\x01\x00\x00\x00"), true)
	f.Add(append([]byte("\x7fELF\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\xa4\x00\x01\x00\x00\x00"), make([]byte, 60)...), true)
	f.Add([]byte("no ELF"), false)
	f.Fuzz(func(t *testing.T, b []byte, library bool) {
		name := "program"
		if library {
			name = "libx.so"
		}
		_ = check.Files(t.Context(), session.Request{Files: map[string]push.File{
			name: {Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }, Size: int64(len(b))},
		}, Args: []string{"./" + name}}, qnn.Target{Arch: "v79"}, nil)
	})
}
