//go:build differential

// Package mend says which intended differences (docs/deviations.md) Kueue's scheduler has, too. All
// are off by default: then the copy decides as Kueue does.
package mend

import (
	"k8s.io/utils/clock"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Set has one switch for each.
type Set struct {
	GivingBack              bool
	Pods                    bool
	PreemptionOverBorrowing bool
	LessThanNothing         bool
	StoppedLocalQueue       bool
	FlavorFungibilityOff    bool
	EditsWakeAll            bool
	LocalQueueNames         bool
	UsageOfOthers           bool
	UsageOfStopped          bool
	FailedChecks            bool
	Backoff                 bool
	ChangedRequests         bool
	NothingCameFree         bool
	EntryPenalty            bool
	PreemptionEnds          bool
	NominalQuotaFirst       bool
}

// On is set before a run. One run goes on at a time.
var On Set

// Clock is that of Kueue's Workload controller and ClusterQueues, which have no option for it.
var Clock clock.Clock = clock.RealClock{}

// Cost is that of preempting w, which Kueue does not know: 0 for all.
var Cost = func(*kueue.Workload) int64 { return 0 }

// HasPrecedence: w is no victim for the preemptor, by what has happened in earlier cycles.
var HasPrecedence func(w, preemptor *kueue.Workload) bool

// Hashes are those with which workloads waited last, by key.
var Hashes map[string]string
