/* webhook/certs/cert_rules.h: the next action on the certificates in the Secret, as a table of
 * facts. A rotation of the CA goes like this: the next CA is created and added to every
 * registration beside the current one; when API servers had time to see it, it becomes the current
 * one and signs the certificate; when every replica had time to serve that certificate, the former
 * CA is removed. So at any moment every replica's certificate is trusted by every API server. Pure.
 * Any thread. */
#ifndef WEBHOOK_CERTS_CERT_RULES_H
#define WEBHOOK_CERTS_CERT_RULES_H

/* Bits of a set of facts. */
enum cert_fact {
	CERT_CA_GOOD = 1,      /* certificate and key belong together, are valid now and may sign */
	CERT_LEAF_GOOD = 2,    /* as CERT_CA_GOOD, and signed by the CA, for all names */
	CERT_CA_DUE = 4,       /* time for a new one: PAIR_RENEW_AT */
	CERT_LEAF_DUE = 8,     /* time for a new one: PAIR_RENEW_AT */
	CERT_HAS_NEXT = 16,    /* a next CA */
	CERT_NEXT_SPREAD = 32, /* every registration has had it for long enough */
	CERT_HAS_OLD = 64,     /* a former CA */
	CERT_OLD_DONE = 128,   /* every replica had time to switch to the new certificate */
};

enum cert_action {
	CERT_WAIT,
	CERT_MAKE_ALL,  /* CA and certificate */
	CERT_MAKE_LEAF, /* the certificate, by the present CA; both, if that cannot sign it */
	CERT_MAKE_NEXT, /* the next CA */
	CERT_PROMOTE, /* the next CA becomes the current one, which becomes the former one; it signs
			 a new certificate */
	CERT_DROP_OLD,
	CERT_ACTION_COUNT_
};

enum cert_action cert_rules_next(unsigned facts); /* any combination of facts */
const char *cert_rules_name(enum cert_action a);  /* for logs */

#endif
