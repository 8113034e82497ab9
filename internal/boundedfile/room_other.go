//go:build !linux

package boundedfile

// room returns memory for n bytes.
func room(n int64) []byte { return make([]byte, n) }
