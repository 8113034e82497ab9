// Package faults tests hexmage against what goes wrong: processes killed at any moment, disks that are full, bits
// that flip, caches that cannot be written to, many processes at once, times that lie.
//
// There is no code in it but tests. Each runs the real binary on pipelines of shell commands, does some damage, and
// then wants one of two things: the right outputs, bit by bit those of a clean build, or a clear error and the right
// outputs after it. It does not know how hexmage does any of it.
//
// `go test` runs a short form of each test, `go test -long` (mage faults) hundreds of rounds. Where chance has a
// part, its seed is printed; -seed N runs the same again. TestHunt goes on for as long as HEXMAGE_HUNT says (mage
// hunt). With -short nothing is run: that is for the race detector, which sees nothing of other processes. Outside
// Linux there are no tests: actions need it.
package faults
