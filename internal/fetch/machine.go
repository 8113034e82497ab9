package fetch

// Variables with which a process that downloads is told about its machine. None of them changes what is got.
const (
	EnvDownloads = "HEXMAGE_DOWNLOADS" // folder that keeps downloads, so that a killed run resumes
	EnvOffline   = "HEXMAGE_OFFLINE"   // "1": ask no network
	EnvMirrors   = "HEXMAGE_MIRRORS"   // also the user's own: what to ask in place of other addresses
	EnvNetrc     = "NETRC"             // likewise: file with logins of hosts
)

// Machine is what those variables say.
type Machine struct {
	Downloads string // "" keeps nothing
	Offline   bool
	Mirrors   []Mirror
	Logins    []Login
}

// MachineOf reads the variables, and the file with logins.
func MachineOf(getenv func(name string) string) (m Machine, err error) {
	m.Downloads, m.Offline = getenv(EnvDownloads), getenv(EnvOffline) == "1"
	if m.Mirrors, err = ParseMirrors(getenv(EnvMirrors)); err == nil {
		m.Logins, err = NetrcFile(getenv(EnvNetrc))
	}
	return m, err
}
