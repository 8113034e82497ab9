package statcache

import "github.com/hexmage/hexmage/internal/statefile"

// Kind is what the tests seal damaged blocks with.
func Kind() statefile.Kind { return kind() }
