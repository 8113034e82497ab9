package quantizer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/tool"
	"github.com/hexmage/hexmage/model/host"
	"github.com/hexmage/hexmage/standin/mllm/openmodel"
)

// counted is a context that is done when it was asked so often, and counts.
type counted struct {
	context.Context
	asked, last int
}

func (c *counted) Err() error {
	if c.asked++; c.asked > c.last {
		return context.Canceled
	}
	return nil
}

// A quantiser that was stopped reads no sample twice, and writes what one in one go does.
func TestGoesOn(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := openmodel.RunMake(t.Context(), openmodel.MakeSpec{Seed: 79, Layers: 2, Architecture: "qwen3", BlockSize: 16, Out: at("in")}, tool.Env{Stdout: io.Discard}); err != nil {
		t.Fatal(err)
	}
	text, err := host.Text("mllm.txt")
	if err == nil {
		err = os.WriteFile(at("text"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, quantise := range map[string]func(ctx context.Context, out, checkpoint string) error{
		"upstream": func(ctx context.Context, out, checkpoint string) error {
			_, err := QuantiseUpstream(ctx, UpstreamSpec{Model: at("in"), Architecture: "qwen3", BlockSize: 16, Calibration: at("text"), Samples: 3, MaxLength: 64, Out: out, Checkpoint: checkpoint})
			return err
		},
		"standin": func(ctx context.Context, out, checkpoint string) error {
			_, err := Quantise(ctx, Spec{Model: at("in"), Architecture: "qwen3", Out: out, Checkpoint: checkpoint})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			whole, parts := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "parts")
			all := &counted{Context: t.Context(), last: 1 << 30}
			if err := quantise(all, whole, ""); err != nil {
				t.Fatal(err)
			}
			checkpoint := t.TempDir()
			first := &counted{Context: t.Context(), last: 2 * all.asked / 3}
			if err := quantise(first, parts, checkpoint); err == nil {
				t.Fatal("it was not stopped")
			}
			if err := os.WriteFile(soFarFile(checkpoint)+".half", []byte("{"), 0o600); err != nil { // what a kill leaves
				t.Fatal(err)
			}
			rest := &counted{Context: t.Context(), last: 1 << 30}
			if err := quantise(rest, parts, checkpoint); err != nil {
				t.Fatal(err)
			}
			if rest.asked == 0 || rest.asked > all.asked*2/3 {
				t.Errorf("it asked %d times whether to stop, in one go %d times: it read samples twice", rest.asked, all.asked)
			}
			a, aerr := os.ReadFile(filepath.Join(whole, "model.safetensors"))
			b, berr := os.ReadFile(filepath.Join(parts, "model.safetensors"))
			if err := errors.Join(aerr, berr); err != nil || !bytes.Equal(a, b) {
				t.Errorf("the two models differ (%v)", err)
			}
		})
	}
}
