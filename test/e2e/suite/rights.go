package suite

import (
	"slices"
)

// ExpectRefusals: the scenario takes rights away, so that being refused is no fault of the chart.
func (s *S) ExpectRefusals() {
	s.refusals = true
}

// checkRights: nothing that our accounts have asked for since the last scenario may have been
// refused, or the chart grants too little.
func (s *S) checkRights() {
	requests, next, err := s.Cluster.Requests(s.installation.audited)
	if err != nil {
		s.Error(err)
		return
	}
	s.installation.audited = next
	var told []string
	for _, r := range requests {
		text := r.User + ": " + r.String()
		if r.Refused && !s.refusals && !slices.Contains(told, text) {
			told = append(told, text)
			s.Errorf("the chart does not grant what was asked for: %s", text)
		}
	}
}
