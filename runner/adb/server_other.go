//go:build !linux

package adb

import "os/exec"

// dieWithParent has no equal outside Linux: there the server outlives a parent that was killed.
func dieWithParent(*exec.Cmd) {}
