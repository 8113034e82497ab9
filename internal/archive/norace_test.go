//go:build !race

package archive_test

// slowed says that this program is not as fast as it is for people.
const slowed = false
