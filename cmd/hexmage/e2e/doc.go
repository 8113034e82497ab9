// Package e2e tests hexmage as people use it: it builds the binary and runs whole pipelines with the real tools.
//
// There is no code in it but tests. Each says one thing that must always be shown: from nothing to a table, nothing done
// twice, a kill at any moment, mistakes that are named. It does not know how hexmage does any of it: it sees the command
// line, the files that come out, and the processes that run.
//
// Packages are downloaded once for a user and kept, as package toolchaintest does; caches start empty all the same.
// With -short nothing is run, and outside Linux there are no tests: actions need it.
// HEXMAGE_TEST_MLLM=DIR, a clone of upstream, adds the build of its whole op package, and its quantiser and converter in PyTorch; with HEXMAGE_UPSTREAM=all
// also on a model that says real words.
// HEXMAGE_OLIVE=DIR, a cache whose downloads are taken, or anything else, has the passes of a recipe of Olive's run, which want 3.2 GB of PyTorch.
package e2e
