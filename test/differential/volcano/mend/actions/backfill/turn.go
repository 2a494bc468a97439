package backfill

import (
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// A turn places the pods of one PodGroup, of which they stay there only if it may start. In Volcano
// others do not get their room either.
type turn struct {
	session   *framework.Session
	job       *api.JobInfo
	statement *framework.Statement
}

// of ends the turn of the PodGroup before.
func (t *turn) of(job *api.JobInfo) *api.JobInfo {
	if job != t.job {
		t.end()
		t.job, t.statement = job, framework.NewStatement(t.session)
	}
	return job
}

func (t *turn) end() {
	if t.job == nil {
		return
	}
	if t.session.JobReady(t.job) {
		t.statement.Commit()
	} else {
		t.statement.Discard()
	}
}
