/* common/base/attrs.h: compiler attributes and scope cleanup.
 * CLEANUP(fn) runs fn(&variable) when the variable leaves its scope; take_ptr() hands the
 * pointer out of the scope and leaves NULL behind, so that the cleanup does nothing. */
#ifndef COMMON_BASE_ATTRS_H
#define COMMON_BASE_ATTRS_H

#include <stddef.h>

#define CLEANUP(fn) __attribute__((cleanup(fn)))
#define PRINTF_LIKE(fmt, args) __attribute__((format(__printf__, fmt, args)))
#define MUST_USE __attribute__((warn_unused_result))
#define UNUSED __attribute__((unused))
#define NORETURN __attribute__((noreturn))
#define NOINLINE __attribute__((noinline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#define take_ptr(pp)                                                                               \
	({                                                                                         \
		__typeof__(pp) take_pp_ = (pp);                                                    \
		__typeof__(*take_pp_) take_p_ = *take_pp_;                                         \
		*take_pp_ = NULL;                                                                  \
		take_p_;                                                                           \
	})

#endif
