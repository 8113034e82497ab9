package event

// WatchStarted says what is being watched, when nothing is built any more.
type WatchStarted struct {
	Files   int  `json:"files"`   // and folders
	Polling bool `json:"polling"` // they are looked at again and again
}

// FilesChanged comes before a build that a change has set off.
type FilesChanged struct {
	Paths []string `json:"paths"` // as far as they are known; relative to the workspace where they are in it
}

func (WatchStarted) event() {}
func (FilesChanged) event() {}
