//go:build linux

package e2e_test

// phoneMistake is something wrong with a phone, or with the link to it.
type phoneMistake struct{ id, mistake, in string }

func phoneMistakes() []phoneMistake { return nil }

// linkMistakes are provoked by TestProvokedFailures of package runner, where the link can be cut at a byte.
func linkMistakes() []phoneMistake {
	const in = "the push, over the real adb server"
	return []phoneMistake{
		{"usb-dropped", "the phone goes while files are pushed, and does not come back", in},
		{"disk-full", "the phone's /data is full", in},
	}
}
