#include "kube/page_size.h"

void page_size_init(struct page_size *p, unsigned most)
{
	p->most = most == 0 ? PAGE_SIZE_MOST : most;
	p->limit = p->most;
}

size_t page_size_budget(const struct page_size *p)
{
	return p->limit == 1 ? PAGE_SIZE_OBJECT_BYTES : PAGE_SIZE_BYTES;
}

bool page_size_shrink(struct page_size *p)
{
	if (p->limit == 1) {
		return false;
	}
	p->limit /= 2;
	return true;
}

void page_size_answered(struct page_size *p, size_t bytes)
{
	/* If the next objects are as large as these, twice as many need less than half of the
	 * budget. */
	if (p->limit < p->most && bytes < PAGE_SIZE_BYTES / 4) {
		p->limit = p->limit > p->most / 2 ? p->most : p->limit * 2;
	}
}
