package gc

// fileID names a file on this machine. The zero fileID is of a file that cannot be told from others.
type fileID struct{ dev, ino uint64 }

func (id fileID) known() bool { return id != fileID{} }
