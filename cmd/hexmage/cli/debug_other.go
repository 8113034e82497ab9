//go:build !unix

package cli

import "os/exec"

// inForeground runs a program that has the terminal for itself.
func inForeground(cmd *exec.Cmd) error { return cmd.Run() }
