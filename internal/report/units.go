package report

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/hexmage/hexmage/internal/lazyregexp"
)

// numberRE is a number in a text such as "± 1483 (200000 … 202000)".
var numberRE = lazyregexp.New(`\d+(\.\d+)?([eE][+-]?\d+)?`)

// larger are the units for people, each a thousand of the one before, by the unit of the value.
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

// Measured writes values of one unit for people, all in the same unit: 1087290 us is 1.09 s. In the texts, numbers
// become others and all else stays. Values that need no other unit stay as they are; programs that count whole
// megabytes say 0 of less.
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
	for len(units) > 1 && most/by >= 999.5 && least/by >= 10 { // of the least, two digits are left
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

// Value writes a value for people, with its spread if it was measured n times.
func Value(unit string, value, spread float64, n int) string {
	text := number(value)
	if n > 1 {
		text += " ± " + number(spread)
	}
	texts, unit := Measured(unit, text)
	return strings.TrimSpace(texts[0] + " " + unit)
}

// scaled divides the numbers in the text, and leaves three digits, and more only before the point.
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
