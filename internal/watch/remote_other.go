//go:build !linux

package watch

// remote returns false, because this system cannot tell.
func remote(string) bool { return false }
