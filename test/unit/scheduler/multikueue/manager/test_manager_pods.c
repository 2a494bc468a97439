/* A group of pods: those with the words of manager_fixture, the pods of each cluster by letters. */
#include "scheduler/multikueue/manager/manager.h"

#include "lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "api/core/pod.h"
#include "api/kueue/kueue_keys.h"
#include "base/arena.h"
#include "base/attrs.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "lib/decode_fixture.h"
#include "unit/scheduler/multikueue/manager/manager_fixture.h"

#define PODS_MAX 4

/* A pod per letter; "." there is none; P Pending, R Running, S Succeeded, F Failed; "u" after it:
 * it has no gate, "d": it is being deleted, "o": made for another pod of the name, "s": its create
 * was sent, "t": its name is taken. */
static size_t make_pods(const char *letters, bool local, struct api_pod *pods,
			struct carried_object *ret)
{
	static const char *const phases[] = { "PPending", "RRunning", "SSucceeded", "FFailed" };
	size_t n = 0;

	for (; *letters != '\0'; letters++) {
		char text[512], marks[8] = "", letter = *letters;
		const char *phase = "";

		while (strchr("udost", letters[1]) != NULL && letters[1] != '\0') {
			snprintf(marks + strlen(marks), 2, "%c", *++letters);
		}
		for (size_t i = 0; i < ARRAY_LEN(phases); i++) {
			phase = phases[i][0] == letter ? phases[i] + 1 : phase;
		}
		snprintf(text, sizeof(text),
			 "{'metadata':{'name':'p%zu','uid':'u%zu'%s%s},'spec':{%s},'status':{"
			 "'phase':'%s'}}",
			 n, n,
			 strchr(marks, 'd') != NULL ? ",'deletionTimestamp':'2026-01-01T00:00:00Z'"
						    : "",
			 strchr(marks, 'o') != NULL
				 ? ",'annotations':{'headgate.io/multikueue-uid':'x'}"
				 : "",
			 strchr(marks, 'u') == NULL && local
				 ? "'schedulingGates':[{'name':'" KUEUE_GATE_ADMISSION "'}]"
				 : "",
			 phase);
		decode_fixture(&pod_fields, text, &pods[n]);
		ret[n] = (struct carried_object){ .object = letter == '.' ? NULL : &pods[n],
						  .meta = letter == '.' ? NULL : &pods[n].meta,
						  .digest = (uint64_t)letter,
						  .taken = strchr(marks, 't') != NULL,
						  .sent = strchr(marks, 's') != NULL };
		n++;
	}
	return n;
}

static void add_text(const struct manager_action *a, struct strbuf *out)
{
	strbuf_printf(out, "%s%s", out->len == 0 ? "" : "; ", manager_act_name(a->act));
	if (a->cluster != SIZE_MAX) {
		strbuf_printf(out, " w%zu", a->cluster + 1);
	}
	if (a->act >= MANAGER_CREATE_JOB && a->act <= MANAGER_RESET_JOB) {
		strbuf_printf(out, " p%zu", a->job);
	}
	if (a->act == MANAGER_SET_CHECK) {
		strbuf_printf(out, " %s '%s'", a->state, a->message);
	}
}

static const struct row {
	const char *name, *local, *clusters[4];
	const char *pods, *there[3];
	const char *want;
} rows[] = {
	{ "they are created on the winner",
	  "quota ready cluster=w1",
	  { "admitted" },
	  "PP",
	  { ".." },
	  "CreateJob w1 p0; CreateJob w1 p1" },
	{ "those that are missing",
	  "quota ready cluster=w1",
	  { "admitted" },
	  "PPP",
	  { "P.R" },
	  "CreateJob w1 p1; SyncJob w1 p2" },
	{ "one that has ended does not run again",
	  "quota ready cluster=w1",
	  { "admitted" },
	  "SPF",
	  { "..." },
	  "CreateJob w1 p1" },
	{ "all have ended: nothing is run again",
	  "quota ready cluster=w1",
	  { "admitted" },
	  "SS",
	  { ".." },
	  "" },
	{ "one that is deleted goes there, and is not created",
	  "quota ready cluster=w1",
	  { "admitted" },
	  "PdPdP",
	  { "R.P" },
	  "DeleteJob w1 p0" },
	{ "one of which the local one is gone",
	  "quota ready cluster=w1",
	  { "admitted" },
	  "P",
	  { "PR" },
	  "DeleteJob w1 p1" },
	{ "it is being deleted already",
	  "quota ready cluster=w1",
	  { "admitted" },
	  "P",
	  { "PRd" },
	  "" },
	{ "one that was made for an earlier pod of the name",
	  "quota ready cluster=w1",
	  { "admitted" },
	  "PP",
	  { "FoP" },
	  "DeleteJob w1 p0" },
	{ "another cluster may still run one of them",
	  "quota ready cluster=w1",
	  { "admitted", "lost=10" },
	  "PP",
	  { "..", ".R" },
	  "at +290" },
	{ "or may get one",
	  "quota ready cluster=w1",
	  { "admitted", "lost=10" },
	  "PP",
	  { "..", ".s." },
	  "at +290" },
	{ "those that have ended there hold nothing back",
	  "quota ready cluster=w1",
	  { "admitted", "lost=10" },
	  "PP",
	  { "..", "SF" },
	  "CreateJob w1 p0; CreateJob w1 p1" },
	{ "a name is taken",
	  "quota ready cluster=w1",
	  { "admitted" },
	  "PP",
	  { "P.t" },
	  "SetCheck Retry 'The Pod of this name on worker cluster \"w1\" is not of this manager, "
	  "Previously: \"Ready\"'" },
	{ "one was let go on this cluster",
	  "quota ready cluster=w1",
	  { "admitted" },
	  "PPu",
	  { "PP" },
	  "SetCheck Rejected 'Pod \"p1\" has no scheduling gate \"kueue.x-k8s.io/admission\": it "
	  "may "
	  "run on this cluster, Previously: \"Ready\"'" },
	{ "without quota nothing is left",
	  "pending",
	  { "admitted", "" },
	  "PP",
	  { "PP", ".P" },
	  "DeleteReplica w1; DeleteReplica w2" },
	{ "evicted: the worker is asked to stop them",
	  "quota evicted ready cluster=w1",
	  { "admitted" },
	  "RR",
	  { "RR" },
	  "EvictReplica w1" },
	{ "those that have gone are not active any more",
	  "quota evicted ready cluster=w1",
	  { "evicted" },
	  "RRS",
	  { "R.." },
	  "ResetJob p1" },
	{ "unless a lost cluster may have them",
	  "quota evicted ready",
	  { "evicted", "lost=10 admitted" },
	  "RP",
	  { "..", ".." },
	  "DeleteReplica w1; at +290" },
	{ "the end of all is copied first",
	  "quota ready cluster=w1",
	  { "finished" },
	  "RS",
	  { "SS" },
	  "SyncJob w1 p0" },
	{ "one went there before its end was copied: the replica says how they ended",
	  "quota ready cluster=w1",
	  { "finished" },
	  "PS",
	  { ".S" },
	  "Finish w1" },
	{ "its create is under way",
	  "quota ready cluster=w1",
	  { "finished" },
	  "PS",
	  { ".sS" },
	  "" },
	{ "another one has not ended",
	  "quota ready cluster=w1",
	  { "finished" },
	  "PRP",
	  { ".R." },
	  "" },
	{ "then it is finished",
	  "quota ready cluster=w1",
	  { "finished" },
	  "SS",
	  { "SS" },
	  "Finish w1" },
	{ "an end of earlier pods of these names is none",
	  "quota pending",
	  { "finished" },
	  "PP",
	  { "SoSo" },
	  "DeleteJob w1 p0; DeleteJob w1 p1" },
	{ "a group without pods waits", "quota pending nominated=w1", { "" }, "", { "" }, "" },
};

static void groups(void **state UNUSED)
{
	const struct field_pair mark = { KUEUE_IS_GROUP_WORKLOAD, "true" };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(arena_destroyp) struct arena *arena = arena_create(0);
		CLEANUP(strbuf_finish) struct strbuf text = STRBUF_INIT;
		struct api_pod pods[4][PODS_MAX];
		struct carried_object objects[4][PODS_MAX];
		struct manager_step step;
		struct manager_fixture f;

		unit_row(rows[i].name);
		manager_fixture_make(&f, rows[i].local, rows[i].clusters);
		f.local.meta.annotations = (struct field_map){ &mark, 1 };
		f.view.kind = carried_row(CARRIED_PODS);
		f.view.jobs = objects[3];
		f.view.njobs = make_pods(rows[i].pods, true, pods[3], objects[3]);
		for (size_t k = 0; k < f.view.n; k++) {
			f.clusters[k].jobs = objects[k];
			f.clusters[k].njobs =
				make_pods(rows[i].there[k], false, pods[k], objects[k]);
		}
		manager_next(&f.view, arena, &step);
		for (size_t k = 0; k < step.n; k++) {
			add_text(&step.v[k], &text);
		}
		if (step.at != CLOCK_NEVER) {
			strbuf_printf(&text, "%sat +%d", text.len == 0 ? "" : "; ",
				      (int)((step.at - f.view.now) / CLOCK_NS_PER_S));
		}
		assert_string_equal(text.len == 0 ? "" : text.p, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(groups) };

	return cmocka_run_group_tests(tests, decode_fixture_open, decode_fixture_close);
}
