package lib

import (
	"maps"
	"slices"
)

func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func Copies[T interface{ DeepCopy() T }](in []T) []T {
	out := make([]T, len(in))
	for i, o := range in {
		out[i] = o.DeepCopy()
	}
	return out
}

func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Subset: b has all of a, which is not empty.
func Subset(a, b map[string]bool) bool {
	for k := range a {
		if !b[k] {
			return false
		}
	}
	return len(a) > 0
}
