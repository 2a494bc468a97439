package lib

import "slices"

// A Shrinker makes a cluster on which two schedulers differ smaller, as long as they still do.
type Shrinker[C any] struct {
	Best    C
	Clone   func(C) C
	Differs func(C) bool // in the same way as at the beginning
}

// Try keeps what change makes of a copy when the difference is still there.
func (s *Shrinker[C]) Try(change func(c C) bool) bool {
	c := s.Clone(s.Best)
	if !change(c) || !s.Differs(c) {
		return false
	}
	s.Best = c
	return true
}

// DropEach tries to leave out the elements of a list of the cluster, last ones first: many at once,
// then fewer.
func DropEach[C, T any](s *Shrinker[C], list func(c C) *[]T) bool {
	any := false
	for n := max(len(*list(s.Best))/2, 1); n > 0; n /= 2 {
		for end := len(*list(s.Best)); end > 0; end -= n {
			any = s.Try(func(c C) bool {
				l := list(c)
				*l = slices.Delete(slices.Clone(*l), max(end-n, 0), end)
				return true
			}) || any
		}
	}
	return any
}
