/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/pages.h"

#include <glib.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static uint8_t *map(size_t bytes)
{
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (pages == MAP_FAILED)
		g_error("no memory for %" G_GSIZE_FORMAT " bytes", bytes);
	return pages;
}

/* A huge page begins at a multiple of its size: map that much more, and give back what is over. */
static void *map_huge(size_t bytes)
{
	uint8_t *pages = map(bytes + MODEL_PAGES_HUGE);
	size_t before = -(uintptr_t)pages % MODEL_PAGES_HUGE;

	if (before)
		munmap(pages, before);
	if (before < MODEL_PAGES_HUGE)
		munmap(pages + before + bytes, MODEL_PAGES_HUGE - before);
	madvise(pages + before, bytes, MADV_HUGEPAGE); /* small pages do as well */
	return pages + before;
}

static size_t round_up(size_t bytes)
{
	return (bytes + 4095) & ~(size_t)4095;
}

void *model_pages_new(size_t bytes)
{
	bytes = round_up(bytes);
	return bytes >= MODEL_PAGES_HUGE ? map_huge(bytes) : map(bytes);
}

void *model_pages_grow(void *pages, size_t bytes, size_t more_bytes)
{
	void *grown;

	if (round_up(more_bytes) < MODEL_PAGES_HUGE) {
		grown = mremap(pages, round_up(bytes), round_up(more_bytes), MREMAP_MAYMOVE);
		if (grown == MAP_FAILED)
			g_error("no memory for %" G_GSIZE_FORMAT " bytes", more_bytes);
		return grown;
	}
	/* moving would tear huge pages apart */
	grown = memcpy(model_pages_new(more_bytes), pages, bytes);
	model_pages_free(pages, bytes);
	return grown;
}

void model_pages_free(void *pages, size_t bytes)
{
	if (pages)
		munmap(pages, round_up(bytes));
}
