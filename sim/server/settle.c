/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Free elements in ascending order, whatever the order in which they became free. */

#include "sim/server/internal.h"

/* One array with a free chain. */
struct pool {
	uint32_t *head;
	uint32_t *(*next)(const struct smb_server *server, uint32_t index);
};

static uint32_t *name_next(const struct smb_server *server, uint32_t index)
{
	return &server_name(server, index)->next;
}

static uint32_t *file_next(const struct smb_server *server, uint32_t index)
{
	return &server_file(server, index)->next;
}

static uint32_t *extent_next(const struct smb_server *server, uint32_t index)
{
	return &server_extent(server, index)->next;
}

static uint32_t *handle_next(const struct smb_server *server, uint32_t index)
{
	return &server_handle(server, index)->next;
}

static uint32_t *request_next(const struct smb_server *server, uint32_t index)
{
	return &server_request(server, index)->next;
}

static uint32_t *chunk_next(const struct smb_server *server, uint32_t index)
{
	return server_words(server, server->at.chunk_next) + index;
}

/* The chain is cut off in front and each element put where it belongs; chains are in order most of the time, so the
 * search begins at the element put last. */
static void sort(const struct smb_server *server, const struct pool *pool)
{
	uint32_t rest = *pool->head;
	uint32_t last = SERVER_NONE;

	*pool->head = SERVER_NONE;
	while (rest != SERVER_NONE) {
		uint32_t index = rest;
		uint32_t *link = last != SERVER_NONE && last < index ? pool->next(server, last) : pool->head;

		rest = *pool->next(server, index);
		while (*link != SERVER_NONE && *link < index)
			link = pool->next(server, *link);
		*pool->next(server, index) = *link;
		*link = index;
		last = index;
	}
}

void smb_server_settle(struct smb_server *server)
{
	const struct pool pools[] = {
		{ &server->free.names, name_next },	  { &server->free.files, file_next },
		{ &server->free.extents, extent_next },	  { &server->free.handles, handle_next },
		{ &server->free.requests, request_next }, { &server->free.chunks, chunk_next },
	};

	for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); i++)
		sort(server, &pools[i]);
}
