package pypi

// ParsePage is parsePage.
func ParsePage(b []byte, at string) ([]File, error) { return parsePage(b, at) }

// Best returns the names of the files that a platform takes, the best first.
func Best(tags string, names []string) ([]string, error) {
	t, err := ParseTags(tags)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, n := range names {
		files = append(files, File{Name: n})
	}
	var out []string
	for _, f := range t.best(files) {
		out = append(out, f.Name)
	}
	return out, nil
}
