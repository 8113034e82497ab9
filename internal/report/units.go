package report

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// numberRE matches a number in a text such as "± 1483 (200000 … 202000)".
var numberRE = lazyregexp.New(`\d+(\.\d+)?([eE][+-]?\d+)?`)

// larger returns the sequence of units for a unit, each a thousand times the previous.
func larger(unit string) []string {
	switch unit {
	case "us":
		return []string{"µs", "ms", "s"}
	case "ms":
		return []string{"ms", "s"}
	case "B", "bytes":
		return []string{"B", "kB", "MB", "GB"}
	case "MB":
		return []string{"MB", "GB"}
	}
	return []string{unitText(unit)}
}

// Measured formats values in a common unit for users, such as "1.09 s" for 1087290 us. It converts the numbers in texts
// and keeps all other characters. For a single value of 0 MB, it returns "< 1", because programs that count in whole
// megabytes print 0 for less than 1 MB.
func Measured(unit string, texts ...string) ([]string, string) {
	most, least, small := 0.0, math.Inf(1), true
	for _, t := range texts {
		for _, n := range numberRE.Get().FindAllString(t, -1) {
			if f, err := strconv.ParseFloat(n, 64); err == nil {
				if most = max(most, f); f > 0 {
					least = min(least, f)
				}
			}
		}
		small = small && t == "0"
	}
	if unit == "MB" && small && len(texts) == 1 {
		return []string{"< 1"}, unit
	}
	units, by := larger(unit), 1.0
	for len(units) > 1 && most/by >= 999.5 && least/by >= 10 { // the smallest value keeps two digits
		units, by = units[1:], by*1000
	}
	out := make([]string, len(texts))
	for i, t := range texts {
		if out[i] = t; by > 1 {
			out[i] = scaled(numberRE.Get(), t, by)
		}
	}
	return out, units[0]
}

// Value formats a value for users. If the value was measured n > 1 times, Value adds the spread.
func Value(unit string, value, spread float64, n int) string {
	text := number(value)
	if n > 1 {
		text += " ± " + number(spread)
	}
	texts, unit := Measured(unit, text)
	return strings.TrimSpace(texts[0] + " " + unit)
}

// scaled divides the numbers in the text. It keeps three digits, and all digits before the decimal point.
func scaled(numbers *regexp.Regexp, text string, by float64) string {
	return numbers.ReplaceAllStringFunc(text, func(n string) string {
		f, err := strconv.ParseFloat(n, 64)
		if err != nil {
			return n
		}
		f /= by
		digits := 2
		for limit := 9.995; digits > 0 && math.Abs(f) >= limit; limit *= 10 {
			digits--
		}
		return fmt.Sprintf("%.*f", digits, f)
	})
}
