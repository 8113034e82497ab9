// Package bytesize formats and parses sizes in bytes, such as 20GB. Decimal formats a size with powers of 1000, Binary
// formats a size with powers of 1024, and Parse accepts both. The package does not know what a size measures.
package bytesize

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Decimal formats a size in powers of 1000: kB, MB, GB and so on.
func Decimal(n int64) string { return text(n, 1000, "kB", "MB", "GB", "TB", "PB", "EB") }

// Binary formats a size in powers of 1024: KiB, MiB, GiB and so on.
func Binary(n int64) string { return text(n, 1024, "KiB", "MiB", "GiB", "TiB", "PiB", "EiB") }

// text has three digits, and more only of bytes.
func text(n int64, base float64, units ...string) string {
	f := float64(n)
	if math.Abs(f) < base {
		return fmt.Sprintf("%d B", n)
	}
	for f /= base; math.Abs(f) >= base-0.5 && len(units) > 1; f /= base {
		units = units[1:]
	}
	if math.Abs(f) >= 99.95 {
		return fmt.Sprintf("%.0f %s", f, units[0])
	}
	return fmt.Sprintf("%.1f %s", f, units[0])
}

// Parse parses a size such as "20GB", "1.5GiB" or "4096".
func Parse(s string) (int64, error) {
	text := strings.TrimSpace(s)
	number := strings.TrimRight(text, "kKmMgGtTiIbB ")
	factor, ok := map[string]float64{
		"": 1, "B": 1, "K": 1e3, "KB": 1e3, "M": 1e6, "MB": 1e6, "G": 1e9, "GB": 1e9, "T": 1e12, "TB": 1e12,
		"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
	}[strings.ToUpper(strings.TrimSpace(text[len(number):]))]
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !ok || !(n > 0) || n*factor < 1 || n*factor > 1<<60 {
		return 0, fmt.Errorf("invalid size %q; use a value such as 20GB, 500MB or 8GiB", s)
	}
	return int64(n * factor), nil
}
