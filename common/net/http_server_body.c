/* Memory for a body is charged before it is allocated, so that many senders together cannot exceed
 * the server's limit, and it is allocated as the bytes arrive: announcing a body and sending
 * nothing costs nothing. A refused body is still read, and dropped as it arrives, unless it is
 * enormous or the client waits for "100 Continue": a client may not read the answer before it has
 * sent everything, and would see a broken connection instead of the status. */
#include "net/http_server_priv.h"

#include <malloc.h>
#include <strings.h>

#include "base/arena.h"

#define BODY_SWALLOW 4     /* read so many times max_body before giving up on a client */
#define BODY_SMALL 65536   /* may use the whole budget */
#define BODY_FIRST 4096    /* memory for the first byte, at most; it doubles from there */
#define BODY_MUCH 1048576  /* freed at once: worth a look for pages to give back */
#define BODY_MAPPED 262144 /* blocks from this size on are mapped one by one */
#define BODY_RETRY_S 1

/* The headers that give the length of a body. */
struct framing {
	unsigned lengths, encodings; /* headers of each kind */
	bool differ;                 /* two lengths are not the same text */
	bool odd;                    /* a length that is no number, an encoding but "chunked" */
	const char *length;
	uint64_t bytes;
};

static enum MHD_Result on_header(void *cls, enum MHD_ValueKind kind, const char *name,
				 const char *value)
{
	struct framing *f = cls;

	(void)kind;
	value = value != NULL ? value : "";
	if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
		f->differ |= f->length != NULL && !str_streq(f->length, value);
		f->odd |= !str_to_u64(str_of(value), &f->bytes);
		f->length = value;
		f->lengths++;
	} else if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
		f->odd |= strcasecmp(value, "chunked") != 0;
		f->encodings++;
	}
	return MHD_YES;
}

/* RFC 9112, 6.3: a proxy in front of us may have read the length differently and would take a part
 * of this body for the next request, or the other way round. */
static bool is_ambiguous(const struct framing *f)
{
	return f->differ || f->odd || f->encodings > 1 || (f->encodings > 0 && f->lengths > 0);
}

/* Whether n bytes beyond `now` stay within the limit for bodies of this size. */
static bool has_room(const struct http_server_conn *c, size_t now, size_t n)
{
	size_t all = c->server->opt.max_bodies;
	size_t max = c->body_limit <= BODY_SMALL ? all : all - all / 4;

	return all == 0 || (n <= max && now <= max - n);
}

static bool charge(struct http_server_conn *c, size_t n)
{
	struct http_server *s = c->server;
	size_t now = atomic_load(&s->bodies);

	do {
		if (!has_room(c, now, n)) {
			return false;
		}
	} while (!atomic_compare_exchange_weak(&s->bodies, &now, now + n));
	c->body_charge += n;
	return true;
}

/* The limit halved often enough, so that the doublings end exactly at it. */
static size_t first_step(size_t limit)
{
	while (limit > BODY_FIRST) {
		limit = (limit + 1) / 2;
	}
	return limit;
}

/* Grows the body's memory to `need` bytes, at least to twice its size: a body is copied only a few
 * times, and its sender has sent half of what it occupies. */
static bool grow(struct http_server_conn *c, size_t need)
{
	size_t to = c->body_charge > 0 ? c->body_charge * 2 : first_step(c->body_limit);

	if (need <= c->body_charge) {
		return true;
	}
	to = to < need ? need : to;
	to = to > c->body_limit ? c->body_limit : to;
	if (!charge(c, to - c->body_charge)) {
		return false;
	}
	strbuf_reserve(&c->body, to - c->body.len);
	return true;
}

static void drop(struct http_server_conn *c)
{
	size_t held = c->body.cap;

	if (held > HTTP_SERVER_KEEP_BYTES) {
		strbuf_finish(&c->body);
		http_server_body_note_freed(c->server, held);
	}
	strbuf_reset(&c->body);
	atomic_fetch_sub(&c->server->bodies, c->body_charge);
	c->body_charge = 0;
}

enum MHD_Result http_server_body_begin(struct http_server_conn *c)
{
	size_t max = c->server->opt.max_body;
	struct framing f = { 0 };

	MHD_get_connection_values(c->mhd, MHD_HEADER_KIND, on_header, &f);
	if (is_ambiguous(&f)) {
		c->refused = MHD_HTTP_BAD_REQUEST;
		return http_server_body_refuse(c);
	}
	/* A chunked body announces no length: it counts as large. */
	c->body_limit = f.encodings > 0 || f.bytes > max ? max : (size_t)f.bytes;
	if (f.bytes > max) {
		c->refused = MHD_HTTP_CONTENT_TOO_LARGE;
	} else if (!has_room(c, atomic_load(&c->server->bodies), (size_t)f.bytes)) {
		c->refused = MHD_HTTP_SERVICE_UNAVAILABLE; /* the client need not send the body */
	} else {
		return MHD_YES;
	}
	if (f.bytes / BODY_SWALLOW <= max &&
	    MHD_lookup_connection_value(c->mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_EXPECT) == NULL) {
		return MHD_YES;
	}
	return http_server_body_refuse(c);
}

bool http_server_body_add(struct http_server_conn *c, const char *bytes, size_t len)
{
	size_t max = c->server->opt.max_body;

	c->body_seen += len;
	if (c->refused == 0 && c->body_seen > max) {
		c->refused = MHD_HTTP_CONTENT_TOO_LARGE;
	} else if (c->refused == 0 && !grow(c, c->body_seen)) {
		c->refused = MHD_HTTP_SERVICE_UNAVAILABLE;
	}
	if (c->refused == 0) {
		strbuf_add(&c->body, bytes, len);
	} else {
		drop(c);
	}
	return c->body_seen / BODY_SWALLOW <= max;
}

enum MHD_Result http_server_body_refuse(struct http_server_conn *c)
{
	struct http_response r = { .status = c->refused,
				   .content_type = "text/plain",
				   .close = true };

	if (c->refused == MHD_HTTP_CONTENT_TOO_LARGE) {
		if (c->arena == NULL) {
			c->arena = arena_create(0);
		}
		r.body =
			str_of(arena_printf(c->arena, "the request body is larger than %zu bytes\n",
					    c->server->opt.max_body));
	} else if (c->refused == MHD_HTTP_SERVICE_UNAVAILABLE) {
		r.retry_after_s = BODY_RETRY_S;
		r.body = STR_LIT("too many request bodies at the same time\n");
	} else {
		r.body = STR_LIT("the length of the request body is ambiguous\n");
	}
	return http_server_queue(c, &r);
}

void http_server_body_release(struct http_server_conn *c)
{
	drop(c);
	c->body_seen = 0;
	c->refused = 0;
}

void http_server_body_note_freed(struct http_server *s, size_t bytes)
{
	if (bytes >= BODY_MUCH) {
		atomic_store(&s->trim, true);
	}
}

/* Large blocks are mapped individually and are unmapped when they are freed. By default malloc
 * raises its mmap threshold after the first few: the next large bodies would come from the heaps of
 * its arenas, and no trim returns the last free block of a heap. */
void http_server_body_init(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, BODY_MAPPED);
}

/* Bodies that grew through smaller blocks leave free pages in the heaps. */
void http_server_body_trim(struct http_server *s)
{
	if (atomic_exchange(&s->trim, false)) {
		malloc_trim(0);
	}
}
