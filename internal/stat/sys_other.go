//go:build !linux && !darwin

package stat

func fromSys(any) (Stamp, bool) { return Stamp{}, false }
