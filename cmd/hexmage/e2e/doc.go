// Package e2e tests hexmage as people use it: its packages build the binary and run whole pipelines with the real
// tools.
//
// Each test says one thing that must always be shown: from nothing to a table, nothing done twice, a kill at any
// moment, mistakes that are named. It does not know how hexmage does any of it: it sees the command line, the files
// that come out, and the processes that run.
//
// Go runs the tests of one package one after the other, and several packages at a time. So there is a package for
// each subject, and tests that stand on the same expensive run share a package. No test has a port or a folder that
// another process could have.
//
//   - mainjob: the main job and pipelines like it, on the simulated phone
//   - failures: kills, mistakes, what is provoked, and secrets
//   - phone: simulated phones and boards, debugging, and saves that are watched
//   - remote: buildbox-casd and BuildGrid as cache and as executor
//   - emulator: profile emulator, by Qualcomm's compiler and emulator
//   - accuracy: what profile emulator says of quantised models
//   - emulatorcuts: what profile emulator needs, cut off
//   - mllm: mllm's sources and programs
//   - release: what somebody new gets: the release, README.md and the tutorials
//   - worldtest: what all of them share
//
// Packages are downloaded once for a user and kept, as package toolchaintest does; caches start empty all the same.
// With -short nothing is run, and outside Linux there are no tests: actions need it. HEXMAGE_TEST_MLLM=DIR, a clone
// of mllm, adds the build of its whole op package, and its quantiser and converter in PyTorch; with
// HEXMAGE_UPSTREAM=all also on a model that says real words.
package e2e
