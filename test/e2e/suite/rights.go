package suite

import (
	"slices"
	"time"
)

// ExpectRefusals: the scenario takes rights away, so that being refused is no fault of the chart.
func (s *S) ExpectRefusals() {
	s.refusals = true
}

// CheckRights: nothing that our accounts have asked for since the last check may have been refused,
// or the chart grants too little. Every scenario ends with it.
func (s *S) CheckRights() {
	s.Helper()
	if s.refusals {
		s.ForgiveRefusals()
	}
	requests, next, err := s.Cluster.Requests(s.installation.audited)
	if err != nil {
		s.Error(err)
		return
	}
	s.installation.audited = next
	var listed []string
	for _, r := range requests {
		text := r.User + ": " + r.String()
		if r.Refused && r.At.After(s.installation.forgiven) && !slices.Contains(listed, text) {
			listed = append(listed, text)
			s.Errorf("the chart does not grant what was asked for: %s", text)
		}
	}
}

// ForgiveRefusals leaves out of the next check what was asked for until now, although the answer may
// be written down later.
func (s *S) ForgiveRefusals() {
	s.installation.forgiven = time.Now()
}
