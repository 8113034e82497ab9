package main

import "testing"

// TestLate: what go test says at the end of a target's time is no finding; what it says of one is.
func TestLate(t *testing.T) {
	const over = "fuzz: elapsed: 1m1s, execs: 616082 (0/sec), new interesting: 53 (total: 54)\n--- FAIL: FuzzList (60.66s)\n    context deadline exceeded\nFAIL\nexit status 1\n"
	for said, want := range map[string]bool{
		over: true,
		"--- FAIL: FuzzList (1.00s)\n    --- FAIL: FuzzList (0.00s)\n        list_test.go:9: context deadline exceeded\n\n    Failing input written to testdata/fuzz/FuzzList/1a\nFAIL\n": false,
		over + "\n    Failing input written to testdata/fuzz/FuzzList/1a\n": false,
		"panic: runtime error\n" + over:                                     false,
		"":                                                                  false,
	} {
		if late([]byte(said)) != want {
			t.Errorf("late is %v of %q", !want, said)
		}
	}
}
