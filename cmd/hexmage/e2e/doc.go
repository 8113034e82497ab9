// Package e2e tests hexmage as a user runs it. Its packages build the binary and run whole pipelines with real tools.
// Tests see only the command line, output files and processes.
//
// Each test shows one promise. Go runs the tests of a package in sequence, and several packages in parallel. So each
// subject has a package, and tests that share an expensive run share a package. Tests never use a fixed port or folder.
//
//   - mainjob: the main job and pipelines like it, on the simulated phone
//   - failures: kills, mistakes, provoked failures, and secrets
//   - phone: simulated phones and boards, debugging, and watched saves
//   - remote: buildbox-casd and BuildGrid as cache and as executor
//   - emulator: profile emulator, by Qualcomm's compiler and emulator
//   - accuracy: results of profile emulator for quantized models
//   - emulatorcuts: profile emulator on hosts that lack one of its requirements
//   - mllm: mllm's sources and programs
//   - release: a newcomer's first steps, with the release, README.md and the tutorials
//   - worldtest: shared code
//
// The tests download packages once for each user and keep them, like package toolchaintest. Caches start empty. -short
// skips all tests. The tests run only on Linux, since actions need Linux. If HEXMAGE_TEST_MLLM names a clone of mllm,
// the tests also build mllm's whole op package, and run mllm's quantizer and converter in PyTorch. HEXMAGE_MLLM=all
// adds a model that answers with real words.
package e2e
