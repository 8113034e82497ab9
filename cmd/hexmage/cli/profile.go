package cli

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"
)

// Variables with which developers look into a run of hexmage itself (docs/performance.md). Each names the file to write.
const (
	envCPUProfile = "HEXMAGE_CPUPROFILE"
	envMemProfile = "HEXMAGE_MEMPROFILE" // what was allocated, and what is still in use, at the end of the run
)

// profile starts the profiles that the environment asks for. The function that it returns ends and writes them.
func profile(env Env) (func() error, error) {
	cpu, mem := env.Var(envCPUProfile), env.Var(envMemProfile)
	if cpu == "" && mem == "" {
		return func() error { return nil }, nil
	}
	var f *os.File
	if cpu != "" {
		var err error
		if f, err = os.Create(absolute(env.Dir, cpu)); err != nil {
			return nil, usage("%s: %w", envCPUProfile, err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return func() error {
		var errs []error
		if f != nil {
			pprof.StopCPUProfile()
			errs = append(errs, f.Close())
		}
		if mem != "" {
			errs = append(errs, writeMemProfile(absolute(env.Dir, mem)))
		}
		return errors.Join(errs...)
	}, nil
}

func writeMemProfile(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	runtime.GC() // what is in use is counted as of the last collection
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}
