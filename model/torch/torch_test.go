package torch_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hexmage/hexmage/model/safetensors"
	"github.com/hexmage/hexmage/model/torch"
	"github.com/hexmage/hexmage/model/torch/torchtest"
)

func parse(b []byte) (*torch.File, error) { return torch.Parse(bytes.NewReader(b), int64(len(b))) }

// counting is n bytes: 0, 1, 2 and so on.
func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// floats is a storage of n floats: 0, 1, 2 and so on as bits.
func floats(n int) (b []byte) {
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, uint32(i))
	}
	return b
}

func TestTensors(t *testing.T) {
	f, err := parse(torchtest.Archive(torchtest.Pickle(
		torchtest.Tensor{Name: "b.weight", Storage: "0", Class: "FloatStorage", Count: 6, Shape: []int{2, 3}},
		torchtest.Tensor{Name: "a.weight", Storage: "1", Class: "CharStorage", Count: 4, First: 1, Shape: []int{3}},
		torchtest.Tensor{Name: "tied", Storage: "0", Class: "FloatStorage", Count: 6, Shape: []int{2, 3}},
		torchtest.Tensor{Name: "head", Storage: "1", Class: "CharStorage", Count: 4, Shape: []int{1}}, // another part of a storage
		torchtest.Tensor{Name: "turned", Storage: "2", Class: "ShortStorage", Count: 6, Shape: []int{3, 2}, Strides: []int{1, 3}},
		torchtest.Tensor{Name: "scalar", Storage: "3", Class: "BoolStorage", Count: 1},
		torchtest.Tensor{Name: "empty", Storage: "4", Class: "HalfStorage", Shape: []int{0, 7}},
		torchtest.Tensor{Name: "_left_out", Storage: "3", Class: "BoolStorage", Count: 1},
	), torchtest.Storage("0", floats(6)), torchtest.Storage("1", counting(4)), torchtest.Storage("2", counting(12)),
		torchtest.Storage("3", []byte{1}), torchtest.Storage("4", nil)))
	if err != nil {
		t.Fatal(err)
	}
	type tensor struct {
		Name  string
		DType safetensors.DType
		Shape []int64
		Data  []byte
	}
	var got []tensor
	for _, x := range f.Tensors() {
		r, err := x.Data()
		if err != nil {
			t.Fatal(x.Name, err)
		}
		b, err := io.ReadAll(r)
		if err != nil || int64(len(b)) != x.Size {
			t.Fatal(x.Name, len(b), x.Size, err)
		}
		if _, inOrder := x.At(); inOrder == (x.Name == "turned") {
			t.Errorf("%s stands in its order: %v", x.Name, inOrder)
		}
		got = append(got, tensor{x.Name, x.DType, x.Shape, b})
	}
	want := []tensor{
		{"b.weight", "F32", []int64{2, 3}, floats(6)},
		{"a.weight", "I8", []int64{3}, []byte{1, 2, 3}},
		{"tied", "F32", []int64{2, 3}, floats(6)},
		{"head", "I8", []int64{1}, []byte{0}},
		{"turned", "I16", []int64{3, 2}, []byte{0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11}},
		{"scalar", "BOOL", []int64{}, []byte{1}},
		{"empty", "F16", []int64{0, 7}, []byte{}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What PyTorch writes is read as PyTorch reads it (testdata/make.py).
func TestReal(t *testing.T) {
	for file, list := range map[string]string{"dict.pth": "dict.json", "protocol4.pth": "dict.json", "module.pth": "module.json", "inner.pth": "module.json"} {
		t.Run(file, func(t *testing.T) {
			b, err := os.ReadFile("testdata/" + file)
			if err != nil {
				t.Fatal(err)
			}
			type tensor struct {
				Name, DType string
				Shape       []int64
				Data        string
			}
			var want, got []tensor
			said, err := os.ReadFile("testdata/" + list)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(said, &want); err != nil {
				t.Fatal(err)
			}
			f, err := parse(b)
			if err != nil {
				t.Fatal(err)
			}
			names := map[safetensors.DType]string{
				"F32": "float32", "F16": "float16", "BF16": "bfloat16", "F64": "float64", "I8": "int8", "U8": "uint8", "I16": "int16", "I32": "int32", "I64": "int64",
				"BOOL": "bool", "C64": "complex64", "U16": "uint16", "U32": "uint32", "F8_E4M3": "float8_e4m3fn",
			}
			for i := range f.Tensors() {
				x := &f.Tensors()[i]
				r, err := x.Data()
				if err != nil {
					t.Fatal(err)
				}
				data, err := io.ReadAll(r)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, tensor{x.Name, names[x.DType], x.Shape, hex.EncodeToString(data)})
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
	for file, says := range map[string]string{"legacy.pth": "before 1.6", "whole.pth": "imports torch.nn.modules.container.Sequential", "quantised.pth": "imports torch._utils._rebuild_qtensor"} {
		b, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(b); !errors.Is(err, torch.ErrFormat) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", file, err, says)
		}
	}
}

// What is hostile, or not a state dict, is refused, and by name.
func TestRefused(t *testing.T) {
	one := torchtest.Tensor{Name: "w", Storage: "0", Class: "FloatStorage", Count: 4, Shape: []int{4}}
	with := func(change func(*torchtest.Tensor)) []byte {
		x := one
		change(&x)
		return torchtest.Archive(torchtest.Pickle(x), torchtest.Storage("0", floats(4)))
	}
	two := func(change func(*torchtest.Tensor)) []byte {
		x := one
		x.Name = "v"
		change(&x)
		return torchtest.Archive(torchtest.Pickle(one, x), torchtest.Storage("0", floats(4)))
	}
	of := func(pickle string) []byte {
		return torchtest.Archive([]byte(pickle), torchtest.Storage("0", floats(4)))
	}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"os.system":        {of("\x80\x02cos\nsystem\n(X\x04\x00\x00\x00true tR."), "imports os.system"},
		"posix.system":     {of("\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R."), "imports posix.system"},
		"eval":             {of("\x80\x02c__builtin__\neval\n."), "imports __builtin__.eval"},
		"a module's code":  {of("\x80\x02ctorch.hub\nload\n."), "imports torch.hub.load"},
		"getattr":          {of("\x80\x02ctorch\nserialization.os.system\n."), "imports torch.serialization.os.system"},
		"a whole model":    {of("\x80\x02c__main__\nNet\n)\x81."), "state_dict() alone"},
		"INST":             {of("\x80\x02(ios\nsystem\n."), "operation 0x69"},
		"EXT":              {of("\x80\x02\x82\x01."), "operation 0x82"},
		"an opcode of 255": {of("\x80\x02\xff."), "operation 0xff"},
		"a long text":      {of("\x80\x02X\xff\xff\xff\xffa."), "ends"},
		"a long number":    {of("\x80\x02\x8a\xff."), "255 bytes"},
		"no stop":          {of("\x80\x02}"), "ends"},
		"an empty stack":   {of("\x80\x020."), "empty stack"},
		"no mark":          {of("\x80\x02t."), "mark that is not there"},
		"marks":            {of("\x80\x02" + strings.Repeat("(", 100) + "."), "within each other"},
		"a memo":           {of("\x80\x02h\x07."), "laid down"},
		"a list":           {of("\x80\x02]."), "a list, not a dict"},
		"no tensor":        {of("\x80\x02}."), "no tensor"},
		"a dict within":    {of("\x80\x02}X\x01\x00\x00\x00a}s."), "is a dict"},
		"protocol":         {of("\x80\x01}."), "protocol 1"},
		"operations":       {of("\x80\x02" + strings.Repeat("N0", 3<<20) + "."), "operations"},
		"attributes":       {of("\x80\x02ccollections\nOrderedDict\n}b."), "sets attributes"},
		"another call":     {of("\x80\x02X\x01\x00\x00\x00a)R."), "it calls string"},

		"twice":          {two(func(x *torchtest.Tensor) { x.Name = "w" }), "twice"},
		"a common part":  {two(func(x *torchtest.Tensor) { x.First, x.Shape = 2, []int{2} }), "the same bytes"},
		"another shape":  {two(func(x *torchtest.Tensor) { x.Shape = []int{2, 2} }), "the same bytes"},
		"another type":   {two(func(x *torchtest.Tensor) { x.Class = "IntStorage" }), "the same bytes"},
		"beyond":         {with(func(x *torchtest.Tensor) { x.Shape = []int{5} }), "beyond"},
		"first":          {with(func(x *torchtest.Tensor) { x.First = 5 }), "begins at element 5"},
		"before":         {with(func(x *torchtest.Tensor) { x.First = -1 }), "begins at element -1"},
		"late":           {with(func(x *torchtest.Tensor) { x.First = 1 }), "beyond"},
		"stride 0":       {with(func(x *torchtest.Tensor) { x.Shape, x.Strides = []int{1 << 40}, []int{0} }), "elements twice"},
		"strides":        {with(func(x *torchtest.Tensor) { x.Shape, x.Strides = []int{2, 2}, []int{1, 1} }), "elements twice"},
		"a large stride": {with(func(x *torchtest.Tensor) { x.Shape, x.Strides = []int{2}, []int{1 << 62} }), "beyond"},
		"backwards":      {with(func(x *torchtest.Tensor) { x.Shape, x.Strides = []int{4}, []int{-1} }), "strides"},
		"a large shape":  {with(func(x *torchtest.Tensor) { x.Shape = []int{1 << 40, 1 << 40}; x.Strides = []int{1, 1} }), "too large"},
		"storage":        {with(func(x *torchtest.Tensor) { x.Storage = "../0" }), "not in the archive"},
		"elements":       {with(func(x *torchtest.Tensor) { x.Count = 5 }), "is to have 5"},
		"no storage":     {with(func(x *torchtest.Tensor) { x.Class = "Tensor" }), "imports torch.Tensor"},

		"too short":   {[]byte("PK"), "too few"},
		"legacy":      {[]byte("\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."), "before 1.6"},
		"not a zip":   {[]byte("PK\x03\x04 and no more"), "zip"},
		"no pickle":   {rezip(zip.Store, torchtest.Entry{Name: "m/other", Data: []byte("x")}), "without data.pkl"},
		"two pickles": {torchtest.Archive(torchtest.Pickle(one), torchtest.Entry{Name: "n/data.pkl", Data: []byte("x")}), "two of"},
		"two storages": {torchtest.Archive(torchtest.Pickle(one), torchtest.Storage("0", floats(4)), torchtest.Entry{Name: "n/data/0", Data: floats(4)}),
			"two storages"},
		"big endian":        {torchtest.Archive(torchtest.Pickle(one), torchtest.Entry{Name: "n/byteorder", Data: []byte("big")}), "order"},
		"a program":         {torchtest.Archive(torchtest.Pickle(one), torchtest.Entry{Name: "m/constants.pkl"}), "TorchScript"},
		"a zip bomb":        {rezip(zip.Deflate, torchtest.Entry{Name: "m/data.pkl", Data: make([]byte, 1<<20)}), "compressed"},
		"overlaps":          {overlapping(), "lie on each other"},
		"a pickle of 17 MB": {torchtest.Archive(make([]byte, 17<<20)), "limit"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(c.file)
			if !errors.Is(err, torch.ErrFormat) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			var of *torch.NameError
			if errors.As(err, &of) != strings.HasPrefix(c.want, "imports ") && name != "a whole model" {
				t.Errorf("%v is about a name: %v", err, of)
			}
		})
	}
}

// rezip is an archive of these entries alone.
func rezip(method uint16, entries ...torchtest.Entry) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		w, err := z.CreateHeader(&zip.FileHeader{Name: e.Name, Method: method})
		if err == nil {
			_, err = w.Write(e.Data)
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// overlapping is an archive whose second storage begins where the first does.
func overlapping() []byte {
	of := torchtest.Tensor{Name: "w", Storage: "0", Class: "FloatStorage", Count: 4, Shape: []int{4}}
	b := torchtest.Archive(torchtest.Pickle(of), torchtest.Storage("0", floats(4)), torchtest.Storage("1", floats(4)))
	// In the directory, the offset of the entry is 42 bytes into its record, and the name 46.
	at := bytes.LastIndex(b, []byte("m/data/1")) - 46
	first := bytes.LastIndex(b, []byte("m/data/0")) - 46
	copy(b[at+42:at+46], b[first+42:first+46])
	return b
}

// Two names for one view are tied weights; thousands are not.
func TestShared(t *testing.T) {
	all := make([]torchtest.Tensor, 65)
	for i := range all {
		all[i] = torchtest.Tensor{Name: strings.Repeat("w", i+1), Storage: "0", Class: "FloatStorage", Count: 4, Shape: []int{4}}
	}
	if _, err := parse(torchtest.Archive(torchtest.Pickle(all[:64]...), torchtest.Storage("0", floats(4)))); err != nil {
		t.Error(err)
	}
	if _, err := parse(torchtest.Archive(torchtest.Pickle(all...), torchtest.Storage("0", floats(4)))); err == nil || !strings.Contains(err.Error(), "more than 64") {
		t.Error(err)
	}
}

// Whatever a file says, what is read of all tensors is bounded by it.
func FuzzParse(f *testing.F) {
	f.Add(torchtest.Archive(torchtest.Pickle(
		torchtest.Tensor{Name: "w", Storage: "0", Class: "FloatStorage", Count: 6, Shape: []int{2, 3}, Strides: []int{1, 2}},
		torchtest.Tensor{Name: "tied", Storage: "0", Class: "FloatStorage", Count: 6, Shape: []int{2, 3}, Strides: []int{1, 2}},
		torchtest.Tensor{Name: "b", Storage: "1", Class: "BFloat16Storage", Count: 300, Shape: []int{300}},
	), torchtest.Storage("0", floats(6)), torchtest.Storage("1", make([]byte, 600))))
	f.Add(overlapping())
	f.Fuzz(func(t *testing.T, b []byte) { checkAll(t, b) })
}

// FuzzPickle is FuzzParse of the pickle alone, which is most of what there is to get wrong.
func FuzzPickle(f *testing.F) {
	for _, x := range []torchtest.Tensor{
		{Name: "w", Storage: "0", Class: "FloatStorage", Count: 6, Shape: []int{2, 3}, Strides: []int{1, 2}},
		{Name: "b", Storage: "0", Class: "UntypedStorage", Count: 24, Shape: []int{1}},
	} {
		f.Add(torchtest.Pickle(x))
		f.Add(torchtest.Pickle(x, x))
	}
	f.Add([]byte("\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a]\x94(K\x01M\x01\x00J\xff\xff\xff\xff\x8a\x01\xffG\x3f\xf0\x00\x00\x00\x00\x00\x00\x88\x89Nes\x86\x87\x85."))
	f.Fuzz(func(t *testing.T, pickle []byte) {
		checkAll(t, torchtest.Archive(pickle, torchtest.Storage("0", floats(6)), torchtest.Storage("1", make([]byte, 600))))
	})
}

func checkAll(t *testing.T, b []byte) {
	f, err := parse(b)
	if err != nil {
		if !errors.Is(err, torch.ErrFormat) {
			t.Fatal(err)
		}
		return
	}
	total := int64(0)
	for i := range f.Tensors() {
		x := &f.Tensors()[i]
		r, err := x.Data()
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, r)
		if err != nil || n != x.Size {
			t.Fatalf("%q: %d of %d bytes: %v", x.Name, n, x.Size, err)
		}
		total += n
	}
	if total > 64*int64(len(b)) {
		t.Fatalf("%d bytes of a file of %d", total, len(b))
	}
}
