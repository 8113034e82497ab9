package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hexmage/hexmage/internal/action"
	"github.com/hexmage/hexmage/internal/execute"
	"github.com/hexmage/hexmage/internal/plan"
	"github.com/hexmage/hexmage/runner"
	"github.com/hexmage/hexmage/runner/adb"
)

// look adds to the plan's instances what this machine lacks to run them: programs of the host, a phone.
func (a *app) look(p *plan.Plan) {
	phone := "unasked"
	for _, n := range p.Instances {
		for _, name := range n.Programs {
			if _, err := execute.LookPath(name, programPath(n)); err != nil {
				n.Missing = append(n.Missing, fmt.Sprintf("The program %s is not in PATH: %s.", name, howToGet(name)))
			}
		}
		for _, s := range n.Specs {
			serial := s.Platform[runner.PropertySerial]
			if s.Platform[action.PropertyExecutor] != runner.Executor || s.Platform[runner.PropertyImage] != "" && serial == "" {
				continue
			}
			if strings.Contains(serial, ":") { // it is connected to when it is wanted
				continue
			}
			if phone == "unasked" {
				phone = a.attached()
			}
			if phone != "" {
				n.Missing = append(n.Missing, phone)
			}
		}
	}
}

// programPath is PATH as the instance's commands see it: not the user's own.
func programPath(n *plan.Instance) string {
	for _, s := range n.Specs {
		if p := s.Env["PATH"]; p != "" {
			return p
		}
	}
	return ""
}

// attached says what is missing when no phone answers, "" when one does.
func (a *app) attached() string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if f, err := a.poolFile(); err == nil && len(f.Devices) > 0 {
		return "" // which of them works is seen when one is wanted
	}
	network, address, err := a.adbAddress()
	if err != nil {
		return err.Error()
	}
	devices, err := adb.NewClient(network, address).Devices(ctx)
	if err == nil && len(devices) > 0 {
		return ""
	}
	if err != nil && (network != "tcp" || address != adbServer) {
		return fmt.Sprintf("The adb server %s does not answer, which adb's variables name: start it there with `adb -a nodaemon server`.", address)
	}
	return "No phone is attached: connect one with USB debugging switched on, or by `adb connect HOST:PORT`, until `adb devices` lists it."
}

func howToGet(program string) string {
	switch {
	case program == "nvidia-smi":
		return "upstream's quantiser needs a CUDA GPU with its driver"
	case strings.HasPrefix(program, "python"):
		return "install Python 3.10 with upstream's requirements-qnn-aot.txt in a virtual environment, and name its python in the step"
	case program == "ninja":
		return "apt-get install ninja-build"
	case program == "clang++":
		return "apt-get install clang"
	}
	return "apt-get install " + program
}
