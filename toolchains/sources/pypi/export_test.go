package pypi

// ParsePage is parsePage.
func ParsePage(b []byte, at string) ([]File, error) { return parsePage(b, at) }
