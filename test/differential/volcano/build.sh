#!/bin/sh
# test/differential/volcano/build.sh: builds the comparison with Volcano's scheduler (its sources:
# VOLCANO_SRC) into the cache when it is not there yet, and prints where it is.
set -eu
cd "$(dirname "$0")/.."
out=${XDG_CACHE_HOME:-$HOME/.cache}/headgate/differential-volcano
source=$(cd "$VOLCANO_SRC" && pwd)

# replace FILE TEXT NEW: a copy of the file of Volcano with the text, which is there once, replaced.
replace() {
	mkdir -p "$out/$(dirname "$1")"
	[ -f "$out/$1" ] || cp "$source/$1" "$out/$1"
	awk -v text="$2" -v new="$3" '
		{
			at = index($0, text)
			if (at) {
				found++
				$0 = substr($0, 1, at - 1) new substr($0, at + length(text))
			}
			print
		}
		END { exit found != 1 }' "$out/$1" >"$out/new.go" || {
		echo "differential: Volcano's code is written differently now: $1 has not one line with $2" >&2
		exit 1
	}
	mv "$out/new.go" "$out/$1"
}

inputs=$({ cat volcano/build.sh volcano/*.go lib/*.go "$source/go.mod" "$source/go.sum" &&
	find volcano/mend "$source/pkg" "$source/staging" -name '*.go' -exec cat {} +; } | cksum)
if [ "$(cat "$out/built-from" 2>/dev/null)" = "$source $inputs" ]; then
	echo "$out/differential"
	exit
fi
command -v go >/dev/null || {
	echo "differential: Go 1.26 is needed to build Volcano's scheduler; there is no go on PATH" >&2
	exit 1
}
rm -rf "$out/pkg"
echo "building Volcano's scheduler into $out (cold: minutes)" >&2

# Volcano takes any of the nodes with the best score, and looks at them in the order in which its
# threads find them. Here the first by name is taken, as Headgate does.
replace pkg/scheduler/util/scheduler_helper.go 'bestNodes[rand.Intn(len(bestNodes))]' 'sortedByName(bestNodes)[0]'
replace pkg/scheduler/util/scheduler_helper.go 'nodes := nodeScores[key]' 'nodes := sortedByName(nodeScores[key])'
replace pkg/scheduler/util/predicate_helper.go 'return predicateNodes, fe' 'return sortedByName(predicateNodes), fe'
# The deviations all-plugins, overcommit, gang-orders, gang-roles and shares-above of docs/deviations.md.
replace pkg/scheduler/framework/session_plugins.go 'func (ssn *Session) Reclaimable(' 'func (ssn *Session) reclaimableByTiers('
replace pkg/scheduler/framework/session_plugins.go 'func (ssn *Session) Preemptable(' 'func (ssn *Session) preemptableByTiers('
replace pkg/scheduler/plugins/overcommit/overcommit.go 'util.GetInqueueResource(job, job.Allocated)' \
	'util.GetInqueueResource(job, placed(job))'
replace pkg/scheduler/plugins/overcommit/overcommit.go 'job.DeductSchGatedResources(job.GetMinResources())' \
	'job.DeductSchGatedResources(util.GetInqueueResource(job, placed(job)))'
replace pkg/scheduler/actions/allocate/allocate.go 'func (alloc *Action) allocateResourcesForTasks(' \
	'func (alloc *Action) allocateInOrder('
replace pkg/scheduler/plugins/gang/gang.go 'return sji.IsReady()' 'return sji.IsReady() && rolesAreReady(ssn, sji)'
replace pkg/scheduler/plugins/gang/gang.go 'klog.V(4).Infof("Gang JobOrderFn:' \
	'lReady, rReady = lReady && lv.CheckTaskReady(), rReady && rv.CheckTaskReady(); klog.V(4).Infof("Gang JobOrderFn:'
replace pkg/scheduler/plugins/gang/gang.go 'if sji.IsPipelined() {' 'if sji.IsPipelined() && rolesArePipelined(ssn, sji) {'
replace pkg/scheduler/plugins/capacity/capacity.go 'ancestorAttr.allocated.Add(event.Task.Resreq)' \
	'ancestorAttr.allocated.Add(event.Task.Resreq); cp.updateShare(ancestorAttr)'
replace pkg/scheduler/plugins/capacity/capacity.go 'ancestorAttr.allocated.Sub(event.Task.Resreq)' \
	'ancestorAttr.allocated.Sub(event.Task.Resreq); cp.updateShare(ancestorAttr)'
# The deviations limits-above, proportion and within-gang.
replace pkg/scheduler/actions/reclaim/reclaim.go 'if resreq.LessEqual(availableResources, api.Zero) {' \
	'if resreq.LessEqual(availableResources, api.Zero) && ssn.Allocatable(ssn.Queues[job.Queue], task) {'
replace pkg/scheduler/actions/reclaim/reclaim.go 'if !resreq.LessEqual(availableResources, api.Zero) {' \
	'if !resreq.LessEqual(availableResources, api.Zero) || !ssn.Allocatable(ssn.Queues[job.Queue], task) {'
replace pkg/scheduler/plugins/proportion/proportion.go '} else if status == api.Pending {' \
	'} else if tasks := withoutGates(tasks); status == api.Pending {'
replace pkg/scheduler/actions/preempt/preempt.go 'if !assigned {' 'if !assigned || !ssn.JobPipelined(job) {'
# The deviations backfill, each-member, fresh-order, guarantee and until-gone.
replace pkg/scheduler/actions/backfill/backfill.go 'backfill.pickUpPendingTasks(ssn)' \
	'backfill.pickUpPendingTasks(ssn); turn := &turn{session: ssn}; defer turn.end()'
replace pkg/scheduler/actions/backfill/backfill.go 'job := ssn.Jobs[task.Job]' 'job := turn.of(ssn.Jobs[task.Job])'
replace pkg/scheduler/actions/backfill/backfill.go 'ssn.Allocate(task, node)' 'turn.statement.Allocate(task, node)'
replace pkg/scheduler/actions/backfill/backfill.go 'for !jobs[queue.UID].Empty() {' \
	'if !jobs[queue.UID].Empty() { queues.Push(queue)'
replace pkg/scheduler/actions/backfill/backfill.go 'queues.Pop()' 'util.PopFirst(queues)'
for action in allocate enqueue gangpreempt gangreclaim reclaim; do
	replace pkg/scheduler/actions/$action/$action.go 'queues.Pop()' 'util.PopFirst(queues)'
done
replace pkg/scheduler/framework/session_plugins.go 'lv := l.(*api.QueueInfo)' \
	'l, r = ssn.branches(l.(*api.QueueInfo), r.(*api.QueueInfo)); lv := l.(*api.QueueInfo)'
replace pkg/scheduler/api/job_info.go 'func (ji *JobInfo) NeedContinueAllocating(' 'func (ji *JobInfo) needContinueByRoles('
replace pkg/scheduler/api/job_info.go 'func (ji *JobInfo) TaskHasFitErrors(' 'func (ji *JobInfo) roleHasFitErrors('
replace pkg/scheduler/plugins/capacity/capacity.go 'func (cp *capacityPlugin) checkGuaranteeConstraint(' \
	'func (cp *capacityPlugin) checkWholeGuarantee('
replace pkg/scheduler/plugins/capacity/capacity.go 'cp.shouldSkipReclaimee(reclaimee, reclaimer); skip {' \
	'cp.shouldSkipReclaimee(reclaimee, reclaimer); skip || !cp.keepsGuaranteesAbove(ssn, reclaimerAttr, attr, victims, reclaimee) {'
replace pkg/scheduler/plugins/predicates/predicates.go 'klog.V(4).Infoln("predicates, allocate",' \
	'if event.Task.Status == api.Running { return }; klog.V(4).Infoln("predicates, allocate",'
replace pkg/scheduler/plugins/predicates/predicates.go 'klog.V(4).Infoln("predicates, deallocate",' \
	'if event.Task.Status == api.Releasing { return }; klog.V(4).Infoln("predicates, deallocate",'
# The deviation gang-victims.
replace pkg/scheduler/framework/session_plugins.go 'func (ssn *Session) UnifiedEvictable(' \
	'func (ssn *Session) unifiedEvictableByTiers('
replace pkg/scheduler/actions/utils/simulate.go 'task.SchGated || task.Resreq.IsEmpty()' \
	'task.SchGated || task.Resreq.IsEmpty() || !framework.Preempts(task)'
# The phases as Volcano has them after 1.15: pods that terminate on a node count.
replace pkg/scheduler/framework/session.go 'if int32(scheduled) >= jobInfo.PodGroup.Spec.MinMember {' \
	'if scheduled += releasing(jobInfo); int32(scheduled) >= jobInfo.PodGroup.Spec.MinMember {'
replace pkg/scheduler/plugins/gang/gang.go 'if !job.IsReady() {' 'if !job.IsReady() && !framework.OnlyTerminates(job) {'
{
	echo '{"Replace": {'
	(cd "$out" && find pkg -name '*.go') | sed "s|.*|\"$source/&\": \"$out/&\",|"
	(cd volcano/mend && find . -name '*.go') | sed "s|^\./\(.*\)|\"$source/pkg/scheduler/\1\": \"$PWD/volcano/mend/\1\",|" | sed '$s/,$/}}/'
} >"$out/overlay.json"

# Volcano's module, with its replacements, requires what Volcano does.
cp "$source/go.mod" "$source/go.sum" "$out"
go mod edit -module headgate/differential -require volcano.sh/volcano@v0.0.0 \
	-replace "volcano.sh/volcano=$source" -replace "volcano.sh/apis=$source/staging/src/volcano.sh/apis" "$out/go.mod"
export CGO_ENABLED=0
go build -modfile "$out/go.mod" -overlay "$out/overlay.json" -ldflags '-s -w' \
	-o "$out/differential" ./volcano >&2
echo "$source $inputs" >"$out/built-from"
echo "$out/differential"
