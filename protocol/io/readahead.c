/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/io/readahead.h"

#include <assert.h>

#define NO_PAGE UINT64_MAX
#define KERNEL_READAHEAD_BYTES UINT32_C(131072) /* VM_MAX_READAHEAD, VM_READAHEAD_PAGES */

static const struct smb_readahead_window nothing = { .mark = NO_PAGE };

static uint32_t smaller(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

/** mm/readahead.c, get_init_ra_size: the first window for a request of `pages`. */
static uint32_t initial_size(uint32_t pages, uint32_t max)
{
	uint64_t size = 1;

	while (size < pages)
		size *= 2;
	if (size <= max / 32)
		return (uint32_t)size * 4;
	if (size <= max / 4)
		return (uint32_t)size * 2;
	return max;
}

/** mm/readahead.c, get_next_ra_size: the window after one of `size`. */
static uint32_t next_size(uint32_t size, uint32_t max)
{
	if (size < max / 16)
		return 4 * size;
	if (size <= max / 2)
		return 2 * size;
	return max;
}

/** ra_pages, or more for a request larger than that (6.1 ondemand_readahead, 6.12 ractl_max_pages). */
static uint32_t max_pages(const struct smb_readahead *ra, uint32_t request_pages)
{
	if (request_pages > ra->ra_pages && ra->io_pages > ra->ra_pages)
		return smaller(request_pages, ra->io_pages);
	return ra->ra_pages;
}

static bool has_classic_shape(const struct smb_policy *policy)
{
	return policy->readahead_shape == SMB_RA_SHAPE_6_1;
}

/** mm/readahead.c, do_page_cache_ra: cut at end of file. The mark is `async` pages before the end that is left. */
static struct smb_readahead_window submit(uint64_t start, uint32_t pages, uint32_t async, uint64_t file_pages)
{
	struct smb_readahead_window window = nothing;

	if (start >= file_pages)
		return window;
	window.start = start;
	window.pages = smaller(pages, file_pages - start);
	if (async && async <= window.pages)
		window.mark = start + window.pages - async;
	return window;
}

/** 6.1 ondemand_readahead, readit: a reader already at the mark of the window being opened gets the next one merged. */
static void merge_following(struct smb_readahead *ra, uint64_t page, uint32_t max)
{
	uint32_t add = next_size(ra->size, max);

	if (page != ra->start || ra->size != ra->async_size)
		return;
	if ((uint64_t)ra->size + add <= max) {
		ra->async_size = add;
		ra->size += add;
	} else {
		ra->size = max;
		ra->async_size = max / 2;
	}
}

static struct smb_readahead_window submit_state(struct smb_readahead *ra, const struct smb_policy *policy,
						const struct smb_readahead_request *request)
{
	if (has_classic_shape(policy))
		merge_following(ra, request->page, max_pages(ra, request->pages));
	return submit(ra->start, ra->size, ra->async_size, request->file_pages);
}

static void advance(struct smb_readahead *ra, uint32_t max)
{
	ra->start += ra->size;
	ra->size = next_size(ra->size, max);
	ra->async_size = ra->size;
}

static void open_first(struct smb_readahead *ra, const struct smb_policy *policy,
		       const struct smb_readahead_request *request)
{
	uint32_t size = initial_size(request->pages, max_pages(ra, request->pages));
	uint32_t whole = has_classic_shape(policy) ? size : size / 2;

	ra->start = request->page;
	ra->size = size;
	ra->async_size = size > request->pages ? size - request->pages : whole;
	ra->extra_requests = 0;
}

/** A miss that continues nothing known: a long cached stretch before it tells of a stream all the same. */
static bool open_from_history(struct smb_readahead *ra, const struct smb_readahead_request *request,
			      const struct smb_readahead_cache *cache)
{
	uint32_t max = max_pages(ra, request->pages);
	uint64_t before = cache->cached_before(cache->context, request->page, max);

	if (before <= request->pages)
		return false;
	if (before >= request->page)
		before *= 2;
	ra->start = request->page;
	ra->size = smaller(before + request->pages, max);
	ra->async_size = 1;
	ra->extra_requests = 0;
	return true;
}

/** mm/readahead.c, force_page_cache_ra: no window, just the request. */
static struct smb_readahead_window forced(const struct smb_readahead *ra, const struct smb_readahead_request *request)
{
	uint32_t max = ra->io_pages > ra->ra_pages ? ra->io_pages : ra->ra_pages;
	uint32_t pages = ra->ra_pages ? request->pages : 1;

	return submit(request->page, smaller(pages, max ? max : 1), 0, request->file_pages);
}

/** index - prev_index <= 1 in the kernel's unsigned arithmetic: before anything was read nothing is sequential. */
static bool continues(const struct smb_readahead *ra, uint64_t page)
{
	return ra->prev_page != NO_PAGE && page - ra->prev_page <= 1;
}

void smb_readahead_init(struct smb_readahead *ra, uint32_t ra_pages)
{
	*ra = (struct smb_readahead){ .ra_pages = ra_pages, .prev_page = NO_PAGE };
}

struct smb_readahead_window smb_readahead_sync(struct smb_readahead *ra, const struct smb_policy *policy,
					       const struct smb_readahead_request *request,
					       const struct smb_readahead_cache *cache)
{
	uint32_t max = max_pages(ra, request->pages);
	uint64_t window_end = ra->start + ra->size;

	assert(request->pages);
	if (request->random_hint || !ra->ra_pages)
		return forced(ra, request);
	/* Only 6.1 looks at its state before it looks at the request. */
	if (has_classic_shape(policy) && request->page &&
	    (request->page == window_end - ra->async_size || request->page == window_end)) {
		advance(ra, max);
		return submit_state(ra, policy, request);
	}
	if (!request->page || request->pages > max || continues(ra, request->page)) {
		open_first(ra, policy, request);
		return submit_state(ra, policy, request);
	}
	if (open_from_history(ra, request, cache))
		return submit_state(ra, policy, request);
	return submit(request->page, request->pages, 0, request->file_pages);
}

/** A mark that is not the one of the present window: another reader's. Go on behind what is cached. */
static bool open_behind_cached(struct smb_readahead *ra, const struct smb_policy *policy,
			       const struct smb_readahead_request *request, const struct smb_readahead_cache *cache)
{
	uint32_t max = max_pages(ra, request->pages);
	uint64_t start = cache->next_missing(cache->context, request->page + 1, max);

	/* Up to 6.10 page_cache_next_miss answered the last page it looked at when it found no hole. */
	if (has_classic_shape(policy) && start == request->page + 1 + max)
		start--;
	if (start - request->page > max)
		return false;
	ra->start = start;
	ra->size = next_size((uint32_t)(start - request->page) + smaller(request->pages, UINT32_MAX / 8), max);
	ra->async_size = ra->size;
	ra->extra_requests = 0;
	return true;
}

struct smb_readahead_window smb_readahead_async(struct smb_readahead *ra, const struct smb_policy *policy,
						const struct smb_readahead_request *request,
						const struct smb_readahead_cache *cache)
{
	uint64_t window_end = ra->start + ra->size;

	assert(request->pages);
	if (!ra->ra_pages)
		return nothing;
	/* The demand shape has several windows open, each with its mark: any of them moves the last one on. */
	bool owed = policy->readahead_shape == SMB_RA_SHAPE_DEMAND && ra->extra_requests && request->page < ra->start;
	bool expected = request->page == window_end - ra->async_size ||
			(has_classic_shape(policy) && request->page == window_end);

	if (has_classic_shape(policy) && !request->page) {
		open_first(ra, policy, request);
	} else if (expected || owed) {
		advance(ra, max_pages(ra, request->pages));
	} else if (!open_behind_cached(ra, policy, request, cache)) {
		return nothing;
	}
	return submit_state(ra, policy, request);
}

struct smb_readahead_window smb_readahead_waited(struct smb_readahead *ra, const struct smb_policy *policy,
						 const struct smb_readahead_request *request,
						 const struct smb_readahead_cache *cache)
{
	uint64_t window_end = ra->start + ra->size;

	(void)cache;
	if (policy->readahead_shape != SMB_RA_SHAPE_DEMAND || !ra->ra_pages || request->random_hint)
		return nothing;
	/* A page outside of what readahead opened is some other reader's affair. */
	if (!ra->size || request->page >= window_end || ra->extra_requests >= SMB_READAHEAD_EXTRA_MAX)
		return nothing;
	/* The very first page of a stream is always waited for and tells nothing about the device's speed. */
	if (request->page == ra->start && !ra->extra_requests && ra->async_size < ra->size)
		return nothing;
	ra->extra_requests++;
	advance(ra, max_pages(ra, request->pages));
	return submit(ra->start, ra->size, ra->async_size, request->file_pages);
}

void smb_readahead_cut(struct smb_readahead *ra, uint64_t start, uint32_t pages)
{
	if (start < ra->start || start >= ra->start + ra->size)
		return;
	if (pages > ra->size)
		pages = ra->size;
	ra->size -= pages;
	ra->async_size = ra->async_size > pages ? ra->async_size - pages : 0;
	if (ra->async_size > ra->size)
		ra->async_size = ra->size;
}

void smb_readahead_read_done(struct smb_readahead *ra, uint64_t last_byte, uint32_t page_bytes)
{
	ra->prev_page = (last_byte + 1) / page_bytes;
}

uint32_t smb_readahead_limit(const struct smb_policy *policy, uint32_t rasize, uint32_t rsize, uint32_t page_bytes)
{
	uint32_t kernel_pages = KERNEL_READAHEAD_BYTES / page_bytes;
	uint32_t rsize_pages = rsize / page_bytes;

	if (rasize)
		return rasize / page_bytes;
	switch (policy->readahead_default) {
	case SMB_RA_KERNEL_128K:
		return kernel_pages;
	case SMB_RA_ROUNDED_128K: /* v3.2 cifs_ra_pages */
		if (rsize_pages >= kernel_pages)
			return kernel_pages;
		return rsize_pages ? kernel_pages / rsize_pages * rsize_pages : 0;
	case SMB_RA_RSIZE:
		return rsize_pages;
	case SMB_RA_TWICE_RSIZE:
		return 2 * rsize_pages;
	}
	assert(!"a policy has a readahead default");
	return 0;
}

bool smb_readahead_is_valid(const struct smb_readahead *ra)
{
	return ra->async_size <= ra->size && ra->size <= UINT64_MAX - ra->start &&
	       ra->extra_requests <= SMB_READAHEAD_EXTRA_MAX;
}
