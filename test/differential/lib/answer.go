// Package lib is what the comparisons with other schedulers share.
package lib

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// An Answer is what a scheduler decided, a line each, in an order that says nothing.
type Answer []string

func (a *Answer) Add(format string, args ...any) { *a = append(*a, fmt.Sprintf(format, args...)) }

func (a Answer) Sorted() Answer {
	sort.Strings(a)
	return a
}

func (a Answer) Equals(b Answer) bool { return slices.Equal(a, b) }

func (a Answer) Text() string { return strings.Join(a, "\n") + "\n" }

// Difference has what only theirs says with -, what only ours says with +.
func Difference(theirs, ours Answer) string {
	out := ""
	for _, line := range theirs {
		sign := "  "
		if !slices.Contains(ours, line) {
			sign = "- "
		}
		out += sign + line + "\n"
	}
	for _, line := range ours {
		if !slices.Contains(theirs, line) {
			out += "+ " + line + "\n"
		}
	}
	return out
}
