//go:build !linux

package front

// freeProgram does nothing: what a program touched as it started stays, unless others need the room.
func freeProgram() {}
