package addrs

import (
	"cmp"
	"slices"
	"strings"
)

// Compare orders instances as their spellings are ordered, which it avoids to make where it can.
func Compare(a, b Instance) int {
	switch {
	case a == b:
		return 0
	case a.Step == b.Step && a.Keyed && b.Keyed && plainKey(a.Key) && plainKey(b.Key):
		return cmp.Compare(a.Key, b.Key) // what ends a key, ", is less than all that is in one
	case a.Kind == b.Kind && apart(a.Name, b.Name):
		return cmp.Compare(a.Name, b.Name)
	}
	return cmp.Compare(a.String(), b.String())
}

// apart says whether neither text is the beginning of the other.
func apart(a, b string) bool { return !strings.HasPrefix(a, b) && !strings.HasPrefix(b, a) }

// plainKey says whether a key is spelt as it is, by characters above ".
func plainKey(k string) bool {
	for i := range len(k) {
		if c := k[i]; c <= '"' || c == '\\' || c >= 0x7f {
			return false
		}
	}
	return true
}

// CompareOutputs orders outputs as their spellings are ordered.
func CompareOutputs(a, b Output) int {
	switch {
	case a == b:
		return 0
	case a.Instance == b.Instance && a.Kind != Toolchain:
		return cmp.Compare(a.Name, b.Name)
	case a.Step == b.Step && a.Keyed && b.Keyed, a.Kind == b.Kind && apart(a.Step.Name, b.Step.Name):
		return Compare(a.Instance, b.Instance) // they differ before either spelling ends
	}
	return cmp.Compare(a.String(), b.String())
}

// SortOutputs sorts os by address, in place, and returns it without duplicates.
func SortOutputs(os []Output) []Output {
	slices.SortFunc(os, CompareOutputs)
	return slices.Compact(os)
}

// SortInstances sorts is by address, in place, and returns it without duplicates.
func SortInstances(is []Instance) []Instance {
	slices.SortFunc(is, Compare)
	return slices.Compact(is)
}
