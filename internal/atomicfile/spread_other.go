//go:build !linux

package atomicfile

// Spread tells the file system that what is in each subfolder of dir that is made from now on has nothing to do with the
// other ones. It does nothing on this system.
func Spread(dir string) {}
