#include "sim/sim_program.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/attrs.h"
#include "base/rng.h"
#include "base/str.h"
#include "collections/hash.h"
#include "lib/seeds.h"
#include "process/log.h"

#define BLOCK 20
/* Pods, in all runs without arguments. */
#define EVICTED_FOR_NODE_LEAST 150
#define EVICTED_FOR_QUOTA_LEAST 25
#define CHOSEN_LEAST 20
#define WITHIN_LEAST 3

struct options {
	uint64_t from, to; /* seeds, both included */
	uint64_t steps;
	uint64_t hash_seed;
	bool verbose, quick; /* quick: ends at the first failure */
	bool digests;        /* of the traces are printed, to compare two versions of a program */
};

static void usage(void)
{
	fputs("usage: [--seed N | --seeds A..B] [--steps N] [--hash-seed N] [--quick] [-v] "
	      "[--digests] [--mutants]\n"
	      "--hash-seed: key of the hash tables, on which nothing may depend; --quick ends at "
	      "the first failure; --digests prints a digest of each seed's trace; --mutants runs "
	      "test/mutants/listed.sh\n",
	      stderr);
	exit(2);
}

static uint64_t number(struct str text)
{
	uint64_t n;

	if (!str_to_u64(text, &n)) {
		usage();
	}
	return n;
}

static void parse_range(const char *text, struct options *o)
{
	struct seeds seeds;

	if (!seeds_parse(text, &seeds)) {
		usage();
	}
	o->from = seeds.first;
	o->to = seeds.last;
}

static void run_mutants(void)
{
	execl("/bin/sh", "sh", "test/mutants/listed.sh", (char *)NULL);
	exit(127);
}

static void parse(int argc, char **argv, struct options *o)
{
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (str_streq(argv[i], "-v")) {
			o->verbose = true;
			continue;
		}
		if (str_streq(argv[i], "--quick")) {
			o->quick = true;
			continue;
		}
		if (str_streq(argv[i], "--digests")) {
			o->digests = true;
			continue;
		}
		if (str_streq(argv[i], "--mutants")) {
			run_mutants();
		}
		if (value == NULL) {
			usage();
		}
		if (str_streq(argv[i], "--seed")) {
			o->from = o->to = number(str_of(value));
		} else if (str_streq(argv[i], "--seeds")) {
			parse_range(value, o);
		} else if (str_streq(argv[i], "--steps")) {
			o->steps = number(str_of(value));
		} else if (str_streq(argv[i], "--hash-seed")) {
			o->hash_seed = number(str_of(value));
		} else {
			usage();
		}
		i++;
	}
}

/* SIM_SAMPLE: only so many consecutive seeds, from one that each run chooses and prints, until the
 * first failure. For runs in which all would take too long. */
static void take_sample(struct options *o)
{
	const char *text = getenv("SIM_SAMPLE");
	uint64_t n = text == NULL ? 0 : number(str_of(text));

	o->quick = n > 0;
	if (n > 0 && n < o->to) {
		o->from = 2 + rng_entropy() % (o->to - n);
		o->to = o->from + n - 1;
		printf("# a sample: --seeds %llu..%llu\n", (unsigned long long)o->from,
		       (unsigned long long)o->to);
	}
}

/* The product's own messages are of use only with the trace. */
static void on_log(struct str line, void *verbose)
{
	if (*(const bool *)verbose) {
		printf("# " STR_FMT "\n", STR_ARG(line));
	}
}

static void on_abort(int signal UNUSED)
{
	sim_run_print_present();
	_exit(134);
}

static void print_stats(const struct sim_program *p, const struct sim_run_stats *s)
{
	printf("# %llu runs, %llu half steps, %lld virtual minutes, %llu restarts, %llu published "
	       "at the peaks, %llu placed at the ends, %llu evicted, "
	       "%llu bound by terms about others, %llu overdue "
	       "ones deleted\n",
	       (unsigned long long)s->runs, (unsigned long long)s->steps,
	       (long long)(s->virtual_ns / INT64_C(60000000000)), (unsigned long long)s->restarts,
	       (unsigned long long)s->published_peak, (unsigned long long)s->placed,
	       (unsigned long long)s->evicted, (unsigned long long)s->neighbours,
	       (unsigned long long)s->overdue);
	for (unsigned i = 0; i < SIM_FAULT_COUNT_; i++) {
		printf("# fault %-16s struck %llu times\n", sim_faults_name((enum sim_fault)i),
		       (unsigned long long)s->struck[i]);
	}
	for (size_t i = 0; i < sim_actors_count(p->kind == SIM_RUN_QUOTA); i++) {
		printf("# %s: %llu\n", sim_actors_name(p->kind == SIM_RUN_QUOTA, i),
		       (unsigned long long)s->acts[i]);
	}
	if (p->kind == SIM_RUN_QUOTA) {
		sim_quota_print_stats(&s->quota);
		return;
	}
	for (unsigned i = 0; i < SIM_PREEMPT_COUNT_; i++) {
		printf("# pods: %s: %llu\n", sim_preempt_event_name((enum sim_preempt_event)i),
		       (unsigned long long)s->preempt[i]);
	}
	printf("# pods: full worlds judged at rest: %llu\n", (unsigned long long)s->rests);
}

/* Runs of Workloads have few nodes that could be lost. */
static bool is_rare(const struct sim_program *p, size_t act)
{
	return p->kind == SIM_RUN_QUOTA &&
	       str_has_prefix(str_of(sim_actors_name(true, act)), "node ");
}

static bool all_acted(const struct sim_program *p, const struct sim_run_stats *s)
{
	bool all = true;

	for (size_t i = 0; i < sim_actors_count(p->kind == SIM_RUN_QUOTA); i++) {
		all &= s->acts[i] > 0 || is_rare(p, i);
	}
	return all;
}

static bool all_struck(const struct sim_run_stats *s)
{
	bool all = true;

	for (unsigned i = 0; i < SIM_FAULT_COUNT_; i++) {
		all &= s->struck[i] > 0;
	}
	return all;
}

static bool evicted_enough(const struct sim_run_stats *s)
{
	return s->preempt[SIM_PREEMPT_FOR_NODE] >= EVICTED_FOR_NODE_LEAST &&
	       s->preempt[SIM_PREEMPT_FOR_QUOTA] >= EVICTED_FOR_QUOTA_LEAST &&
	       s->preempt[SIM_PREEMPT_CHOSEN] >= CHOSEN_LEAST &&
	       s->preempt[SIM_PREEMPT_WITHIN] >= WITHIN_LEAST;
}

static bool is_plain(const struct sim_program *p, uint64_t seed)
{
	for (size_t i = 0; i < p->nplain; i++) {
		if (p->regression_seeds[i] == seed) {
			return true;
		}
	}
	return false;
}

/* Plays the program's first seed in a process of its own with this key of the hash tables. Returns
 * the digest of its trace; 0: it failed. */
static uint64_t digest_of(const struct sim_program *p, const struct options *o, uint64_t key)
{
	struct sim_run_stats stats = { .runs = 0 };
	const struct sim_run_options opt = { p->kind, o->from, o->steps, false,
					     is_plain(p, o->from) };
	uint64_t digest = 0;
	int ends[2], status;
	pid_t pid;

	(void)fflush(stdout);
	if (pipe(ends) < 0 || (pid = fork()) < 0) {
		return 0;
	}
	if (pid == 0) {
		hash_seed(key, ~key);
		digest = sim_run(&opt, &stats) ? stats.trace_digest : 0;
		_exit(write(ends[1], &digest, sizeof(digest)) == (ssize_t)sizeof(digest) ? 0 : 1);
	}
	(void)close(ends[1]);
	if (read(ends[0], &digest, sizeof(digest)) != (ssize_t)sizeof(digest)) {
		digest = 0;
	}
	(void)close(ends[0]);
	return waitpid(pid, &status, 0) == pid && status == 0 ? digest : 0;
}

static bool play_other_hashes(const struct sim_program *p, const struct options *o)
{
	uint64_t first = digest_of(p, o, 1), second = digest_of(p, o, UINT64_C(0x9e3779b97f4a7c15));
	bool held = first != 0 && first == second;

	printf("%s 1 - the same trace with other keys of the hash tables\n",
	       held ? "ok" : "not ok");
	return held;
}

/* Plays the seeds that once failed: a failure is a regression. */
static bool play_regression_seeds(const struct sim_program *p, const struct options *o,
				  struct sim_run_stats *stats)
{
	bool held = true;

	for (size_t i = 0; i < p->nregression_seeds && (held || !o->quick); i++) {
		const struct sim_run_options opt = { p->kind, p->regression_seeds[i], o->steps,
						     o->verbose,
						     is_plain(p, p->regression_seeds[i]) };

		held &= sim_run(&opt, stats);
	}
	printf("%s 2 - %zu seeds that once failed\n", held ? "ok" : "not ok", p->nregression_seeds);
	return held;
}

int sim_program(int argc, char **argv, const struct sim_program *p)
{
	struct options o = { .from = 1, .to = p->seeds, .steps = p->steps };
	struct sim_run_stats stats = { .runs = 0 };
	unsigned tests = 0, failed = 0;

	take_sample(&o);
	parse(argc, argv, &o);
	log_set_level(LOG_ERROR);
	log_set_sink(on_log, &o.verbose);
	hash_seed(o.hash_seed, o.hash_seed);
	(void)signal(SIGABRT, on_abort);
	if (o.from == 1 && o.to >= p->seeds) {
		failed += !play_other_hashes(p, &o);
		failed += !play_regression_seeds(p, &o, &stats);
		tests += 2;
	}
	for (uint64_t from = o.from; from <= o.to && !(o.quick && failed > 0); from += BLOCK) {
		uint64_t to = from + BLOCK - 1 < o.to ? from + BLOCK - 1 : o.to;
		bool held = true;

		for (uint64_t seed = from; seed <= to && (held || !o.quick); seed++) {
			const struct sim_run_options opt = { p->kind, seed, o.steps, o.verbose,
							     is_plain(p, seed) };

			held &= sim_run(&opt, &stats);
			if (o.digests) {
				printf("# seed %llu: trace %016llx\n", (unsigned long long)seed,
				       (unsigned long long)stats.trace_digest);
			}
		}
		failed += !held;
		printf("%s %u - seeds %llu to %llu\n", held ? "ok" : "not ok", ++tests,
		       (unsigned long long)from, (unsigned long long)to);
		(void)fflush(stdout);
	}
	print_stats(p, &stats);
	if (o.from == 1 && o.to >= p->seeds && !(o.quick && failed > 0)) {
		failed += !all_struck(&stats);
		printf("%s %u - every kind of fault struck\n", all_struck(&stats) ? "ok" : "not ok",
		       ++tests);
		failed += !all_acted(p, &stats);
		printf("%s %u - every actor acted\n", all_acted(p, &stats) ? "ok" : "not ok",
		       ++tests);
		/* A search for victims that finds none breaks no other rule. */
		if (p->kind == SIM_RUN_PODS) {
			failed += !evicted_enough(&stats);
			printf("%s %u - pods were evicted for nodes and for quota\n",
			       evicted_enough(&stats) ? "ok" : "not ok", ++tests);
		}
		if (p->kind == SIM_RUN_QUOTA) {
			failed += !sim_quota_all_seen(&stats.quota);
			printf("%s %u - everything was sampled\n",
			       sim_quota_all_seen(&stats.quota) ? "ok" : "not ok", ++tests);
		}
	}
	printf("1..%u\n", tests);
	return failed == 0 ? 0 : 1;
}
