//go:build linux

package runner_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/digest"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/merkle"
	"github.com/hexmage/hexmage/internal/store/disk"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/simulated/phone"
	"github.com/hexmage/hexmage/simulated/phone/phonetest"
	"github.com/hexmage/hexmage/toolchains/toolchaintest"
)

// BenchmarkDevice measures one action. "whole" includes the start and end of adb's server and the simulated phone, as
// in `hexmage run`. The other benchmark uses a running phone.
func BenchmarkDevice(b *testing.B) {
	root, err := os.MkdirTemp("", "store")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(root) })
	blobs, err := disk.NewBlobs(root)
	if err != nil {
		b.Fatal(err)
	}
	o := runner.Options{
		Store: blobs, Trees: merkle.NewTrees(root), Fn: digest.BLAKE3, Dir: filepath.Join(root, "tmp"), State: filepath.Join(root, "state"),
		Simulate: emulate(b, phone.Faults{}), ADB: toolchaintest.Root(b, "adb"),
	}
	parts := &bench{blobs: blobs, image: nil}
	parts.image = parts.scan(b, phonetest.Image(b, nil))
	a := parts.action(b, map[string]string{"push/in": "hello"}, action.Command{Args: []string{"cat", "in"}})
	one := func(d *runner.Device) {
		r, err := d.Execute(b.Context(), &execute.Request{Action: a})
		if err != nil || string(r.Stdout) != "hello" {
			b.Fatal(r, err)
		}
	}
	whole := func() {
		d := runner.New(o)
		one(d)
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
	whole() // unpack the image and make adb's key
	b.Run("start to finish", func(b *testing.B) {
		for b.Loop() {
			whole()
		}
	})
	b.Run("running", func(b *testing.B) {
		d := runner.New(o)
		defer d.Close()
		one(d)
		for b.Loop() {
			one(d)
		}
	})
}
