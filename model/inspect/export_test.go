package inspect

// Describe describes the file or folder at path.
func Describe(path string) (Description, error) { return describe(path, path) }
