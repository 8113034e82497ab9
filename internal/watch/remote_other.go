//go:build !linux

package watch

// remote is not known on this system.
func remote(string) bool { return false }
