//go:build mage

// The front end for people who work in this repository: `go tool mage <target>`, or `mage <target>` where mage is installed.
package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/magefile/mage/mg"
	"github.com/magefile/mage/sh"
)

// Pipeline builds a pipeline from pipelines/NAME.hcl. HEXMAGE_PROFILE and HEXMAGE_VAR_name choose profile and variables.
func Pipeline(name string) error { return hexmage("run", name) }

// Watch builds a pipeline, and again after every save of a file that it reads.
func Watch(name string) error { return hexmage("watch", name) }

// Plan prints what a pipeline would run, and runs nothing.
func Plan(name string) error { return hexmage("plan", name) }

// Lock records the digests of what a pipeline fetches in hexmage.lock.hcl.
func Lock(name string) error { return hexmage("lock", name) }

// Doctor says what this machine has, what it lacks, and how to get it.
func Doctor() error { return hexmage("doctor") }

// Build compiles bin/hexmage.
func Build() error {
	if _, err := os.Stat("bin/hexmage"); err != nil {
		fmt.Fprintln(os.Stderr, "compiling hexmage: the first time takes one to four minutes")
	}
	return sh.RunWithV(map[string]string{"CGO_ENABLED": "0"}, "go", "build", "-trimpath", "-o", "bin/", "./cmd/hexmage")
}

// Release makes dist/: an archive for each system, lists of the modules in them, and checksums. The version is the git tag's.
func Release() error { return sh.RunV("go", "run", "./cmd/hexmage-release") }

// Test runs every check there is: lint, then all tests, the engine's under the race detector.
func Test() error {
	mg.SerialDeps(Build, Lint)
	if err := sh.RunV("go", "test", "-timeout=60m", "./..."); err != nil {
		return err
	}
	return race("-skip=" + planning)
}

// TestAll runs Test and Mutants, and what takes hours: the long forms of faults, pushes and of what is cut in profile emulator, a real model compiled twice, AIMET and ExecuTorch in gigabytes of their own, and a real model taken through mllm's quantiser, two hours of kills, every test of the program under the race detector, a look at the whole cache after each hostile action, every fuzz target for a minute of a processor, and those of PyTorch's checkpoints for an hour; and the release of each system, in whole systems of Debian's.
func TestAll() error {
	mg.SerialDeps(Test, Mutants, Faults, Hunt)
	if err := race(); err != nil {
		return err
	}
	long := map[string]string{"HEXMAGE_PUSH_MB": "1024", "HEXMAGE_LEASES": "10000", "HEXMAGE_CUTS": "all", "HEXMAGE_SMOLLM2": "twice", "HEXMAGE_QUANTIZERS": "all", "HEXMAGE_EXECUTORCH": "all"}
	if err := sh.RunWithV(long, "go", "test", "-timeout=2h", "-count=1", "-run=TestPush$|TestLeaseOfTwoHosts|TestFlakyPhone|TestCut|SmolLM2$|TestFitPoints|TestQuantizers|TestExecuTorch", "./runner", "./cmd/hexmage/e2e/..."); err != nil {
		return err
	}
	if err := sh.RunWithV(map[string]string{"HEXMAGE_HOSTILE": "each"}, "go", "test", "-count=1", "-run=TestHostile$", "./internal/execute/local"); err != nil {
		return err
	}
	if err := sh.RunWithV(map[string]string{"HEXMAGE_REGISTRY": "all"}, "go", "test", "-timeout=1h", "-count=1", "-run=TestRealEnvironment", "./cmd/hexmage/cli"); err != nil {
		return err
	}
	if err := sh.RunWithV(map[string]string{"HEXMAGE_UPSTREAM": "all"}, "go", "test", "-timeout=3h", "-count=1", "-v", "-run=TestUpstream", "./cmd/hexmage/e2e/mllm"); err != nil {
		return err // without HEXMAGE_TEST_MLLM, a clone of mllm, it says what it passed over
	}
	if err := sh.RunWithV(map[string]string{"HEXMAGE_RELEASE": "all", "HEXMAGE_ROOTS": "all"}, "go", "test", "-timeout=3h", "-count=1", "-v", "-run=TestRelease", "./cmd/hexmage/e2e/release"); err != nil {
		return err
	}
	return sh.RunV("go", "run", "./internal/archtest/fuzzall")
}

// Mutants breaks each promise of docs/architecture.md in turn and expects the promise's test to fail.
func Mutants() error { return sh.RunV("go", "run", "./internal/archtest/mutants") }

// Faults runs the fault suite's long form: hundreds of kills, damaged files and full disks. Test has its short form.
func Faults() error {
	return sh.RunV("go", "test", "-timeout=2h", "-count=1", "-v", "./cmd/hexmage/faults", "-long")
}

// Hunt has eight processes build on one cache for two hours, with hostile actions, kills and damaged files; HEXMAGE_HUNT says for how long.
func Hunt() error {
	limit := map[string]string{"HEXMAGE_HUNT": cmp.Or(os.Getenv("HEXMAGE_HUNT"), "2h")}
	return sh.RunWithV(limit, "go", "test", "-timeout=24h", "-count=1", "-v", "-run=TestHunt", "./cmd/hexmage/faults")
}

// Lint runs gofmt, go vet (for both processors where they differ), staticcheck, the go.mod check, ruff and mypy.
func Lint() error {
	for _, c := range [][]string{{"go", "vet", "./..."}, {"go", "tool", "staticcheck", "./..."}, {"go", "mod", "tidy", "-diff"}} {
		if err := sh.RunV(c[0], c[1:]...); err != nil {
			return err
		}
	}
	if err := sh.RunWithV(map[string]string{"GOOS": "linux", "GOARCH": "arm64"}, "go", "vet", "./internal/execute/..."); err != nil { // the sandbox
		return err
	}
	if err := sh.RunV("go", "run", "./internal/archtest/gofmtcheck"); err != nil {
		return err
	}
	return lintPython()
}

// lintPython runs ruff and mypy in an environment of their own, which it makes once in the user's cache.
func lintPython() error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	tools := []string{"ruff==0.17.6", "mypy==2.4.1"}
	venv := filepath.Join(cache, "hexmage-lint", strings.Join(tools, "-"))
	if _, err := os.Stat(filepath.Join(venv, "done")); err != nil {
		if err := sh.RunV("python3", "-m", "venv", "--clear", venv); err != nil {
			return err
		}
		install := append([]string{"install", "--quiet", "--only-binary=:all:"}, tools...)
		if err := sh.RunV(filepath.Join(venv, "bin", "pip"), install...); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(venv, "done"), nil, 0o644); err != nil {
			return err
		}
	}
	bin := func(name string) string { return filepath.Join(venv, "bin", name) }
	if err := sh.RunV(bin("ruff"), "check", "--quiet", "--no-cache", "."); err != nil {
		return err
	}
	return sh.RunV(bin("mypy"), "--no-error-summary", "--ignore-missing-imports", "--cache-dir", filepath.Join(venv, "mypy"), "model/python/programs")
}

// Bench measures hexmage against the budgets of docs/performance.md. HEXMAGE_BENCH has arguments, such as -only=files.
func Bench() error {
	mg.Deps(Build)
	return sh.RunV("go", append([]string{"run", "./cmd/hexmage-bench"}, strings.Fields(os.Getenv("HEXMAGE_BENCH"))...)...)
}

// planning names the tests in which one process plans, prints or refuses, over and over: half an hour under the race detector, in
// which next to nothing runs beside anything else. TestAll has them.
const planning = "^(TestDocExamples|TestExamples|TestShippedPipelines|TestPlans|TestPageOf.*|TestVersionFailures|TestUpToDate|TestHostileWorkspace|TestMistakes|TestCompat.*|TestAKindIsOneFileAndOneLine|TestPython|TestLockCommand|TestChoosingAPhone|TestCompletion|TestNeovim|TestLSP.*|TestExtension)$|" +
	"^TestScript$/^(accuracy|add_.*|calibration|checks|diagnose|doctor|env|errors|exitcodes|explain|graph|help|init|inspect.*|kinds|makefile|matrix|modules.*|pipeline_folder|plan|push_sets|show|simulated_refused|target|toolchain.*|variables|which|with)$"

// race runs the engine's and the runner's tests under the race detector, which needs a C compiler.
func race(args ...string) error {
	if _, err := exec.LookPath("gcc"); err != nil {
		_, err = os.Stderr.WriteString("race detector: not run, no gcc on this machine\n")
		return err
	}
	args = append([]string{"test", "-timeout=60m", "-race", "-short"}, args...)
	return sh.RunWithV(map[string]string{"CGO_ENABLED": "1"}, "go", append(args, "./internal/...", "./cmd/...", "./simulated/phone", "./runner")...)
}

// hexmage builds it, which is quick when nothing changed, and runs it.
func hexmage(args ...string) error {
	mg.Deps(Build)
	cmd := exec.Command("bin/hexmage", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() > 0 {
		os.Exit(exit.ExitCode()) // it has said what is wrong; mage would add an empty error
	}
	return err
}
