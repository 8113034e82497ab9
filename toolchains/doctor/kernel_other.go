//go:build !linux

package doctor

func disk(store string) Finding {
	return Finding{Name: "disk", Status: Optional, Detail: "not looked at on this system: " + store}
}

func kernel(Options) []Finding { return nil }
