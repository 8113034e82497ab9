//go:build !linux

package adb

import "os/exec"

// dieWithParent does nothing outside Linux: the server outlives a parent that was killed.
func dieWithParent(*exec.Cmd) {}
