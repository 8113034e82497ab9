//go:build mage

// The front end for developers of this repository: `go tool mage <target>`, or `mage <target>` if mage is installed.
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

// Pipeline builds pipelines/NAME.hcl. HEXMAGE_PROFILE and HEXMAGE_VAR_name set the profile and variables.
func Pipeline(name string) error { return hexmage("run", name) }

// Watch builds a pipeline, and builds it again after each change of its files.
func Watch(name string) error { return hexmage("watch", name) }

// Plan prints the steps that a pipeline would run.
func Plan(name string) error { return hexmage("plan", name) }

// Lock pins the downloads of a pipeline in hexmage.lock.hcl.
func Lock(name string) error { return hexmage("lock", name) }

// Doctor prints what this machine lacks, with remedies.
func Doctor() error { return hexmage("doctor") }

// Build compiles bin/hexmage.
func Build() error {
	if _, err := os.Stat("bin/hexmage"); err != nil {
		fmt.Fprintln(os.Stderr, "compiling hexmage: the first time takes one to four minutes")
	}
	return sh.RunWithV(map[string]string{"CGO_ENABLED": "0"}, "go", "build", "-trimpath", "-o", "bin/", "./cmd/hexmage")
}

// Release creates dist/, which contains an archive for each system, lists of their Go modules, and checksums. The
// version is the git tag.
func Release() error { return sh.RunV("go", "run", "./cmd/hexmage-release") }

// Test runs lint and all tests that do not take hours. It runs the engine's tests under the race detector.
func Test() error {
	mg.SerialDeps(Build, Lint)
	if err := sh.RunV("go", "test", "-timeout=60m", "./..."); err != nil {
		return err
	}
	return race("-skip=" + planning)
}

// TestAll runs Test, Mutants, and the tests that take hours:
//   - the long forms of the tests of faults, of pushes, and of interrupted runs in profile emulator
//   - a real model compiled twice, AIMET and ExecuTorch with gigabytes of packages, a real model in mllm's quantizer
//   - two hours of kills, and all tests of the program under the race detector
//   - a check of the whole cache after each hostile action
//   - a minute of processor time for each fuzz target, and an hour for the fuzz targets of PyTorch's checkpoints
//   - the release for each system, in complete Debian systems
func TestAll() error {
	mg.SerialDeps(Test, Mutants, Faults, Hunt)
	if err := race(); err != nil {
		return err
	}
	long := map[string]string{"HEXMAGE_PUSH_MB": "1024", "HEXMAGE_LEASES": "10000", "HEXMAGE_CUTS": "all", "HEXMAGE_SMOLLM2": "twice", "HEXMAGE_QUANTIZERS": "all", "HEXMAGE_EXECUTORCH": "all", "HEXMAGE_PARTS_MB": "3072"}
	if err := sh.RunWithV(long, "go", "test", "-timeout=2h", "-count=1", "-run=TestPush$|TestLeaseOfTwoHosts|TestFlakyPhone|TestCut|SmolLM2$|TestFitPoints|TestQuantizers|TestExecuTorch|TestParts$", "./runner", "./cmd/hexmage/e2e/..."); err != nil {
		return err
	}
	if err := sh.RunWithV(map[string]string{"HEXMAGE_HOSTILE": "each"}, "go", "test", "-count=1", "-run=TestHostile$", "./internal/execute/local"); err != nil {
		return err
	}
	if err := sh.RunWithV(map[string]string{"HEXMAGE_REGISTRY": "all"}, "go", "test", "-timeout=1h", "-count=1", "-run=TestRealEnvironment", "./cmd/hexmage/cli"); err != nil {
		return err
	}
	if err := sh.RunWithV(map[string]string{"HEXMAGE_MLLM": "all"}, "go", "test", "-timeout=3h", "-count=1", "-v", "-run=TestMllm", "./cmd/hexmage/e2e/mllm"); err != nil {
		return err // without HEXMAGE_TEST_MLLM, a clone of mllm, it prints the tests that it skipped
	}
	if err := sh.RunWithV(map[string]string{"HEXMAGE_RELEASE": "all", "HEXMAGE_ROOTS": "all"}, "go", "test", "-timeout=3h", "-count=1", "-v", "-run=TestRelease", "./cmd/hexmage/e2e/release"); err != nil {
		return err
	}
	return sh.RunV("go", "run", "./internal/archtest/fuzzall")
}

// Mutants breaks each promise of docs/architecture.md in turn, and expects that a test fails.
func Mutants() error { return sh.RunV("go", "run", "./internal/archtest/mutants") }

// Faults runs the long form of the fault tests: hundreds of kills, damaged files and full disks. Test runs the short
// form.
func Faults() error {
	return sh.RunV("go", "test", "-timeout=2h", "-count=1", "-v", "./cmd/hexmage/faults", "-long")
}

// Hunt runs eight processes for two hours. They build on one cache, with hostile actions, kills and damaged files.
// HEXMAGE_HUNT sets another duration.
func Hunt() error {
	limit := map[string]string{"HEXMAGE_HUNT": cmp.Or(os.Getenv("HEXMAGE_HUNT"), "2h")}
	return sh.RunWithV(limit, "go", "test", "-timeout=24h", "-count=1", "-v", "-run=TestHunt", "./cmd/hexmage/faults")
}

// Lint runs gofmt, go vet, staticcheck, the go.mod check, ruff and mypy.
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

// lintPython runs ruff and mypy in their own environment, which it creates once in the user's cache.
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

// Bench measures hexmage against the budgets of docs/performance.md. HEXMAGE_BENCH contains arguments, such as
// -only=files.
func Bench() error {
	mg.Deps(Build)
	return sh.RunV("go", append([]string{"run", "./cmd/hexmage-bench"}, strings.Fields(os.Getenv("HEXMAGE_BENCH"))...)...)
}

// planning names the tests that run one process at a time: they plan, print or reject. They take half an hour under the
// race detector, which has little concurrency to check in them. TestAll runs them.
const planning = "^(TestDocExamples|TestExamples|TestShippedPipelines|TestPlans|TestPageOf.*|TestVersionFailures|TestUpToDate|TestHostileWorkspace|TestMistakes|TestCompat.*|TestAKindIsOneFileAndOneLine|TestPython|TestLockCommand|TestChoosingAPhone|TestCompletion|TestNeovim|TestLSP.*|TestExtension)$|" +
	"^TestScript$/^(accuracy|add_.*|calibration|checks|diagnose|doctor|env|errors|exitcodes|explain|graph|help|init|inspect.*|kinds|makefile|matrix|modules.*|pipeline_folder|plan|push_sets|show|simulated_refused|target|toolchain.*|variables|which|toolchain_flag)$"

// race runs the engine's and the runner's tests under the race detector, which needs a C compiler.
func race(args ...string) error {
	if _, err := exec.LookPath("gcc"); err != nil {
		_, err = os.Stderr.WriteString("race detector: not run, no gcc on this machine\n")
		return err
	}
	args = append([]string{"test", "-timeout=60m", "-race", "-short"}, args...)
	return sh.RunWithV(map[string]string{"CGO_ENABLED": "1"}, "go", append(args, "./internal/...", "./cmd/...", "./simulated/phone", "./runner")...)
}

// hexmage builds bin/hexmage, which is quick if nothing changed, and runs it.
func hexmage(args ...string) error {
	mg.Deps(Build)
	cmd := exec.Command("bin/hexmage", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() > 0 {
		os.Exit(exit.ExitCode()) // hexmage has printed the error; mage would add an empty one
	}
	return err
}
