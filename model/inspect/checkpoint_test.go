package inspect_test

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hexmage/hexmage/model/inspect"
)

// The operations of a pickle that torch.save writes, by what they do.
func text(s string) string { return fmt.Sprintf("X%c\x00\x00\x00%s", len(s), s) }
func class(name string) string {
	m, n := filepath.Ext(name), ""
	n = strings.TrimPrefix(m, ".")
	return "c" + strings.TrimSuffix(name, m) + "\n" + n + "\n"
}

func numbersOf(of []int) string {
	all := "("
	for _, n := range of {
		all += fmt.Sprintf("K%c", n)
	}
	return all + "t"
}

// tensor is a view of storage 0, of 8 floats.
func tensor(first int, shape, strides []int) string {
	return class("torch._utils._rebuild_tensor_v2") + "((" + text("storage") + class("torch.FloatStorage") + text("0") + text("cpu") + "K\x08tQ" +
		fmt.Sprintf("K%c", first) + numbersOf(shape) + numbersOf(strides) + "\x89" + class("collections.OrderedDict") + ")RtR"
}

// checkpoint writes an archive with a pickle.
func checkpoint(t *testing.T, pickle string) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "m.pth")
	f, err := os.Create(at)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, b := range map[string]string{"m/data.pkl": pickle, "m/data/0": strings.Repeat("\x00", 32), "m/version": "3\n"} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(b)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return at
}

// TestCheckpoint: what of a PyTorch checkpoint is in the way is said, and how to save it instead. None of them is damaged.
func TestCheckpoint(t *testing.T) {
	plain := tensor(0, []int{2, 4}, []int{4, 1})
	for name, c := range map[string]struct{ pickle, want string }{
		"plain":              {"\x80\x02}(" + text("w") + plain + "u.", "PyTorch checkpoint of 1 tensors"},
		"tied, the same":     {"\x80\x02}(" + text("a") + plain + text("b") + plain + "u.", "PyTorch checkpoint of 2 tensors"},
		"parts of a storage": {"\x80\x02}(" + text("a") + tensor(0, []int{4}, []int{1}) + text("b") + tensor(4, []int{2, 2}, []int{1, 2}) + "u.", "of 2 tensors"},
		"numbers beside":     {"\x80\x02}(" + text("epoch") + "K\x03" + text("w") + plain + "u.", "of 1 tensors"},
		"in model":           {"\x80\x02}" + text("model") + "}" + text("w") + plain + "ss.", "of 1 tensors"},
		"arguments":          {"\x80\x02}(" + text("w") + plain + text("args") + class("argparse.Namespace") + ")\x81}b" + "u.", "imports argparse.Namespace, which a state dict does not need: save the model's state_dict() alone"},
		"numpy":              {"\x80\x02}" + text("lr") + class("numpy.core.multiarray.scalar") + "()tRs.", "imports numpy.core.multiarray.scalar"},
		"by STACK_GLOBAL":    {"\x80\x04}" + "\x8c\x02os\x94\x8c\x06system\x94\x93" + text("x") + "\x85Rs.", "imports os.system"},
		"quantized":          {"\x80\x02}" + text("w") + class("torch._utils._rebuild_qtensor") + ")Rs.", "dequantize()"},
		"expanded":           {"\x80\x02}" + text("w") + tensor(0, []int{4, 8}, []int{0, 1}) + "s.", "w is expanded: shape [4 8] shows 8 elements more than once. Save contiguous() or clone()"},
		"tied, transposed":   {"\x80\x02}(" + text("embed.weight") + plain + text("lm_head.weight") + tensor(0, []int{4, 2}, []int{1, 4}) + "u.", "embed.weight and lm_head.weight are different views"},
		"overlapping":        {"\x80\x02}(" + text("a") + plain + text("b") + tensor(2, []int{4}, []int{1}) + "u.", "a and b are different views"},
		"keys are integers":  {"\x80\x02}K\x00" + plain + "s.", "a key that is an integer"},
		"a dict in it":       {"\x80\x02}" + text("optimizer") + "}s.", "optimizer is a dict, not a tensor"},
		"a list":             {"\x80\x02].", "no dict of tensors"},
		"ends early":         {"\x80\x02}" + text("w"), "no pickle that torch.save writes"},
		"an old file":        {"", "PyTorch before 1.6"},
	} {
		at := checkpoint(t, c.pickle)
		if c.pickle == "" {
			if err := os.WriteFile(at, []byte("\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		said := ""
		if d, err := inspect.Describe(at); err != nil {
			said = err.Error()
		} else {
			said = d.String()
		}
		if !strings.Contains(said, c.want) || strings.Contains(said, "damaged") || strings.Contains(said, "get it again") {
			t.Errorf("%s: %s, want %q", name, said, c.want)
		}
	}
}

// TestRealCheckpoints reads what PyTorch wrote.
func TestRealCheckpoints(t *testing.T) {
	for name, want := range map[string]string{"dict": "PyTorch checkpoint of", "inner": "PyTorch checkpoint of", "module": "PyTorch checkpoint of", "protocol4": "PyTorch checkpoint of",
		"legacy": "PyTorch before 1.6", "quantised": "dequantize()", "whole": "state_dict() alone"} {
		d, err := inspect.Describe(filepath.Join("..", "python", "tests", "checkpoints", name+".pth"))
		said := d.String()
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, want) {
			t.Errorf("%s: %s, want %q", name, said, want)
		}
	}
}

// FuzzPickle: a pickle that anybody may have written ends with a description or an error.
func FuzzPickle(f *testing.F) {
	f.Add("\x80\x02}(" + text("w") + tensor(0, []int{2, 4}, []int{4, 1}) + "u.")
	f.Add("\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00}(t1eu.")
	f.Add("\x80\x02\x8a\x00\x8a\x0900000000000q\x00h\x00.")
	f.Fuzz(func(t *testing.T, pickle string) {
		_, _ = inspect.Describe(checkpoint(t, pickle))
	})
}
