package fetch

import (
	"fmt"
	"strings"
)

// Mirror says where to ask in place of addresses that begin with From: at To and the rest.
type Mirror struct{ From, To string }

// ParseMirrors reads mirrors as a variable holds them: "https://a/=https://b/c/", several with spaces between.
func ParseMirrors(text string) ([]Mirror, error) {
	var ms []Mirror
	for _, word := range strings.Fields(text) {
		from, to, ok := strings.Cut(word, "=")
		if !ok || !strings.Contains(from, "://") || !strings.Contains(to, "://") {
			return nil, fmt.Errorf("%.80q says no mirror: the form is https://from/=https://to/", word)
		}
		ms = append(ms, Mirror{from, to})
	}
	return ms, nil
}

// Rewrite returns the address to ask in place of addr: by the mirror with the longest From.
func Rewrite(addr string, ms []Mirror) string {
	best := Mirror{}
	for _, m := range ms {
		if strings.HasPrefix(addr, m.From) && len(m.From) > len(best.From) {
			best = m
		}
	}
	return best.To + strings.TrimPrefix(addr, best.From)
}
