//go:build !unix

package front

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
)

// Become runs the engine with the same arguments, which gets what the terminal sends to both, and returns its exit code.
func (e Env) Become(args []string) (int, error) {
	signal.Ignore(os.Interrupt)
	cmd := exec.Command(e.Self, args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, e.Vars
	err := cmd.Run()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}
