/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_PAGES_H
#define MODEL_PAGES_H

/** Zeroed memory straight from the system, in huge pages where there is much of it: tables are looked into at random. */

#include <stddef.h>

#define MODEL_PAGES_HUGE ((size_t)2 << 20)

/** Ends the program when there is none, like g_malloc. */
void *model_pages_new(size_t bytes);
/** The same with more behind it, perhaps somewhere else. */
void *model_pages_grow(void *pages, size_t bytes, size_t more_bytes);
void model_pages_free(void *pages, size_t bytes);

#endif
