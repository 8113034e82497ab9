package doctor

import "context"

// Probes are what is asked of a machine. System asks the one that hexmage runs on.
type Probes struct {
	OS, Arch   string // as Go calls them: "linux", "amd64"
	Root       string // where its file system is: "/"
	Processors int

	Landlock   func() (abi int, err error)
	Namespaces func() error                                         // tries a user namespace with mounts
	Free       func(dir string) (bytes int64, at string, err error) // room on the file system of dir, or of the nearest folder above that is there
	Output     func(ctx context.Context, program string, args ...string) (string, error)

	// Devices lists what an adb server that runs already sees; nil: not asked. The error says that none runs.
	Devices func(ctx context.Context) ([]Device, error)
	// Reach says whether a host answers; nil: not asked.
	Reach func(ctx context.Context, host string) error
}

// Device is one that an adb server sees.
type Device struct {
	Serial string
	State  string // "device" when it can be used; "unauthorized", "offline"
	Model  string
	SoC    string // "SM8750"; "" when it does not say
}
