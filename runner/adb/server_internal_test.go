//go:build linux

package adb

import (
	"os"
	"path/filepath"
	"testing"
)

// TestServerCannotStartAgain: a server whose program disappeared after a crash ends, and can be closed.
func TestServerCannotStartAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "adb")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexec rm \"$0\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := &Server{Client: NewClient("unix", filepath.Join(dir, socketName)), done: make(chan struct{}), up: true,
		options: Options{Path: program, Dir: dir}}
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
	<-s.done
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
