#include "base/attrs.h"
#include "sim/actors/actor_lists.h"

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/default/leases"
#define LEASE "volcano"

/* Two schedulers that both believe they lead may give the same quota: no rule can hold then but
 * that it ends. So the Lease is left alone while another process, or a request of one that has
 * ended, might be taken for that of the leader. */
static bool touch(struct sim_actors *a)
{
	struct sim_world *w = a->world;

	if (w->second) {
		return false;
	}
	sim_world_forget_orphans(w);
	w->lease_edited = true;
	return true;
}

static bool edit(struct sim_actors *a, const char *spec)
{
	CLEANUP(strbuf_finish) struct strbuf body = STRBUF_INIT;

	strbuf_printf(&body, "{\"spec\":%s}", spec);
	return touch(a) && sim_actors_patch(a, LEASES, LEASE, body.p);
}

static bool steal(struct sim_actors *a)
{
	return edit(a, "{\"holderIdentity\":\"thief\"}");
}

static bool release(struct sim_actors *a)
{
	return edit(a, "{\"holderIdentity\":\"\"}");
}

/* Values that the API server takes. As with client-go, a lease lasts as long as it says. */
static bool garble(struct sim_actors *a)
{
	static const char *const specs[] = {
		"{\"leaseDurationSeconds\":1}",
		"{\"leaseDurationSeconds\":60,\"holderIdentity\":\"thief\"}",
		"{\"leaseTransitions\":2147483647}",
		"{\"renewTime\":\"2300-01-01T00:00:00.000000Z\"}",
		"{\"renewTime\":null,\"acquireTime\":null}",
		"{\"holderIdentity\":null}",
	};

	return edit(a, specs[sim_actors_below(a, ARRAY_LEN(specs))]);
}

static bool erase(struct sim_actors *a)
{
	return touch(a) && sim_actors_delete(a, LEASES, LEASE);
}

static const struct sim_actors_act acts[] = {
	{ "Lease stolen", steal, 2 },
	{ "Lease released by another", release, 1 },
	{ "Lease garbled", garble, 2 },
	{ "Lease deleted", erase, 1 },
};

const struct sim_actors_actor actor_lease = {
	.acts = acts, .n = ARRAY_LEN(acts), .per_mille = 3, .pods = true, .quota = true
};
