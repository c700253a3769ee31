/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/server/files.h"

#include <string.h>

static uint64_t extent_end(const struct server_extent *extent)
{
	return extent->offset + extent->length;
}

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The link that points to the first extent which ends behind `offset`. */
static uint32_t *extent_at(const struct smb_server *server, uint32_t file, uint64_t offset)
{
	uint32_t *link = &server_file(server, file)->first_extent;

	while (*link != SERVER_NONE && extent_end(server_extent(server, *link)) <= offset)
		link = &server_extent(server, *link)->next;
	return link;
}

struct smb_slice server_content_slice(const struct smb_server *server, uint32_t file, uint64_t offset, uint32_t length)
{
	uint32_t index = *extent_at(server, file, offset);
	struct smb_slice slice = { .offset = offset, .length = length };

	if (index == SERVER_NONE)
		return slice;
	const struct server_extent *extent = server_extent(server, index);
	if (extent->offset > offset) {
		slice.length = (uint32_t)min64(length, extent->offset - offset);
		return slice;
	}
	slice.source = extent->source;
	slice.offset = extent->position + (offset - extent->offset);
	slice.length = (uint32_t)min64(length, extent_end(extent) - offset);
	return slice;
}

void server_content_bytes(const struct smb_server *server, uint32_t file, uint64_t offset, uint8_t *bytes,
			  uint32_t length)
{
	while (length) {
		struct smb_slice slice = server_content_slice(server, file, offset, length);
		for (uint32_t i = 0; i < slice.length; i++)
			bytes[i] = smb_source_byte(slice.source, slice.offset + i);
		offset += slice.length;
		bytes += slice.length;
		length -= slice.length;
	}
}

static void extent_free(struct smb_server *server, uint32_t *link)
{
	uint32_t index = *link;
	struct server_extent *extent = server_extent(server, index);

	*link = extent->next;
	*extent = (struct server_extent){ .next = server->free.extents };
	server->free.extents = index;
}

static uint32_t extent_new(struct smb_server *server, const struct server_extent *value)
{
	uint32_t index = server->free.extents;

	assert(index != SERVER_NONE);
	server->free.extents = server_extent(server, index)->next;
	*server_extent(server, index) = *value;
	return index;
}

/* Writing splits at most one extent in two and adds one: two free ones are always enough. */
bool server_content_can_write(const struct smb_server *server)
{
	return server->free.extents != SERVER_NONE && server_extent(server, server->free.extents)->next != SERVER_NONE;
}

/* Make a hole [from, to); the caller has checked that an extent is free for a split. */
static void punch(struct smb_server *server, uint32_t file, uint64_t from, uint64_t to)
{
	uint32_t *link = extent_at(server, file, from);

	while (*link != SERVER_NONE && server_extent(server, *link)->offset < to) {
		struct server_extent *extent = server_extent(server, *link);
		struct server_extent tail = *extent;
		bool keep_head = extent->offset < from;
		bool keep_tail = extent_end(extent) > to;

		tail.position += to - tail.offset;
		tail.length = extent_end(&tail) - to;
		tail.offset = to;
		if (keep_head)
			extent->length = from - extent->offset;
		if (keep_head && keep_tail)
			extent->next = extent_new(server, &tail);
		else if (keep_tail)
			*extent = tail;
		if (!keep_head && !keep_tail)
			extent_free(server, link);
		else
			link = &extent->next;
		if (keep_tail)
			return;
	}
}

static bool continues(const struct server_extent *extent, uint64_t offset, struct smb_slice data)
{
	return extent_end(extent) == offset && extent->source == data.source &&
	       (!data.source || extent->position + extent->length == data.offset);
}

/* Join the extent that ends where `extent` starts in the same stream. */
static void join_after(struct smb_server *server, struct server_extent *extent)
{
	if (extent->next == SERVER_NONE)
		return;
	const struct server_extent *after = server_extent(server, extent->next);
	struct smb_slice data = { .source = after->source, .offset = after->position };
	if (!continues(extent, after->offset, data))
		return;
	extent->length += after->length;
	extent_free(server, &extent->next);
}

/* The link behind the last extent that ends at or before `offset`, and that extent when there is one. */
static uint32_t *insert_place(struct smb_server *server, uint32_t file, uint64_t offset, struct server_extent **before)
{
	uint32_t *link = &server_file(server, file)->first_extent;

	*before = NULL;
	while (*link != SERVER_NONE && server_extent(server, *link)->offset < offset) {
		*before = server_extent(server, *link);
		link = &(*before)->next;
	}
	return link;
}

void server_content_write(struct smb_server *server, uint32_t file, uint64_t offset, struct smb_slice data)
{
	struct server_file *target = server_file(server, file);
	struct server_extent *before;

	assert(server_content_can_write(server));
	punch(server, file, offset, offset + data.length);
	uint32_t *link = insert_place(server, file, offset, &before);
	if (before && continues(before, offset, data)) {
		before->length += data.length;
		join_after(server, before);
	} else {
		struct server_extent extent = { *link, offset, data.length, data.source, data.offset };
		*link = extent_new(server, &extent);
		join_after(server, server_extent(server, *link));
	}
	if (offset + data.length > target->size)
		target->size = offset + data.length;
}

void server_content_resize(struct smb_server *server, uint32_t file, uint64_t size)
{
	struct server_file *target = server_file(server, file);

	if (size < target->size)
		punch(server, file, size, target->size);
	target->size = size;
}
