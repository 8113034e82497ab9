package qnnctx_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/qnn"
	"github.com/hexmage/hexmage/qnn/qnnctx"
	"github.com/hexmage/hexmage/qnn/qnnctx/qnnctxtest"
)

func TestParseRejects(t *testing.T) {
	le := binary.LittleEndian
	cases := map[string]struct {
		edit func(b []byte) []byte
		want string
	}{
		"magic":       {func(b []byte) []byte { b[3] = 9; return b }, "starts with"},
		"short":       {func(b []byte) []byte { return b[:20] }, "the file has only"},
		"truncated":   {func(b []byte) []byte { return b[:len(b)-1] }, "truncated"},
		"blob offset": {func(b []byte) []byte { le.PutUint64(b[0x18:], 1<<63); return b }, "do not match the file size"},
		"meta size":   {func(b []byte) []byte { le.PutUint64(b[0x10:], 1<<63); return b }, "do not match the file size"},
		"root":        {func(b []byte) []byte { le.PutUint32(b[0x28:], 1<<30); return b }, "FlatBuffer"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			raw := c.edit(file23(info3(), 3))
			_, err := qnnctx.Parse(bytes.NewReader(raw), int64(len(raw)))
			if !errors.Is(err, qnnctx.ErrFormat) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want ErrFormat with %q", err, c.want)
			}
		})
	}
}

// What a simulation has made says so at the beginning of its blob.
func TestMark(t *testing.T) {
	raw := file23(info3(), 3)
	for mark, want := range map[string]bool{qnn.SimulatedContext: true, "HXMGCTX": false} {
		i := bytes.Index(raw, []byte(options))
		got, err := qnnctx.Parse(bytes.NewReader(append(append(bytes.Clone(raw[:i]), mark...), raw[i+len(mark):]...)), int64(len(raw)))
		if err != nil || got.Simulated != want || got.Arch != 73 {
			t.Errorf("%q: %+v, %v", mark, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(file22(info1(), 1))
	f.Add(file23(info3(), 3))
	for _, name := range qnnctxtest.Names(f) {
		raw := qnnctxtest.Real(f, name)
		f.Add(raw[:min(len(raw), 8192)])
	}
	f.Fuzz(func(_ *testing.T, raw []byte) {
		_, _ = qnnctx.Parse(bytes.NewReader(raw), int64(len(raw)))
	})
}
