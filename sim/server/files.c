/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/server/files.h"
#include "protocol/wire/endian.h"

#include <string.h>

static uint16_t fold(uint16_t unit)
{
	return unit >= 'a' && unit <= 'z' ? (uint16_t)(unit - 'a' + 'A') : unit;
}

static uint32_t *bucket_of(const struct smb_server *server, uint32_t directory, const uint16_t *text, uint16_t units)
{
	uint64_t hash = directory * UINT64_C(0x9e3779b97f4a7c15);

	for (uint16_t i = 0; i < units; i++)
		hash = (hash ^ fold(text[i])) * UINT64_C(0x100000001b3);
	hash ^= hash >> 32;
	return server_words(server, server->at.name_buckets) + (hash & (server->counts.name_buckets - 1));
}

static bool text_equals(const struct server_name *name, const struct server_text *text)
{
	if (name->units != text->units)
		return false;
	for (uint16_t i = 0; i < name->units; i++) {
		if (fold(name->text[i]) != fold(text->text[i]))
			return false;
	}
	return true;
}

void server_files_init(struct smb_server *server)
{
	uint32_t root = server_file_new(server, true, SERVER_ATTRIBUTE_DIRECTORY);

	assert(root == SERVER_ROOT);
	server_file(server, root)->links = 1;
}

uint32_t server_name_find(const struct smb_server *server, uint32_t directory, const struct server_text *text)
{
	uint32_t index = *bucket_of(server, directory, text->text, text->units);

	while (index != SERVER_NONE) {
		const struct server_name *name = server_name(server, index);
		if (name->parent == directory && text_equals(name, text))
			return index;
		index = name->next;
	}
	return SERVER_NONE;
}

uint32_t server_name_add(struct smb_server *server, uint32_t directory, const struct server_text *text, uint32_t file)
{
	uint32_t index = server->free.names;
	uint32_t *bucket = bucket_of(server, directory, text->text, text->units);
	struct server_file *parent = server_file(server, directory);

	if (index == SERVER_NONE)
		return SERVER_NONE;
	struct server_name *name = server_name(server, index);
	server->free.names = name->next;
	*name = (struct server_name){
		.next = *bucket,
		.parent = directory,
		.file = file,
		.before = parent->last_name,
		.after = SERVER_NONE,
		.units = text->units,
	};
	memcpy(name->text, text->text, text->units * sizeof(*text->text));
	*bucket = index;
	if (parent->last_name != SERVER_NONE)
		server_name(server, parent->last_name)->after = index;
	else
		parent->first_name = index;
	parent->last_name = index;
	parent->write_time = parent->change_time = server_filetime(server);
	server_file(server, file)->links++;
	server_file(server, file)->entry = index;
	return index;
}

/* Open handles must not point to an entry that goes away. */
static void handles_forget_name(struct smb_server *server, uint32_t index)
{
	const struct server_name *name = server_name(server, index);

	for (uint32_t i = server_file(server, name->parent)->first_handle; i != SERVER_NONE;) {
		struct server_handle *handle = server_handle(server, i);
		if (handle->scan_name == index)
			handle->scan_name = name->after;
		i = handle->next;
	}
	for (uint32_t i = server_file(server, name->file)->first_handle; i != SERVER_NONE;) {
		struct server_handle *handle = server_handle(server, i);
		if (handle->name == index)
			handle->name = SERVER_NONE;
		i = handle->next;
	}
}

void server_name_remove(struct smb_server *server, uint32_t index)
{
	struct server_name *name = server_name(server, index);
	struct server_file *parent = server_file(server, name->parent);
	uint32_t *link = bucket_of(server, name->parent, name->text, name->units);

	handles_forget_name(server, index);
	while (*link != index)
		link = &server_name(server, *link)->next;
	*link = name->next;
	if (name->before != SERVER_NONE)
		server_name(server, name->before)->after = name->after;
	else
		parent->first_name = name->after;
	if (name->after != SERVER_NONE)
		server_name(server, name->after)->before = name->before;
	else
		parent->last_name = name->before;
	parent->write_time = parent->change_time = server_filetime(server);
	server_file(server, name->file)->links--;
	*name = (struct server_name){ .next = server->free.names };
	server->free.names = index;
}

uint32_t server_file_new(struct smb_server *server, bool is_directory, uint32_t attributes)
{
	uint32_t index = server->free.files;
	uint64_t now = server_filetime(server);

	if (index == SERVER_NONE)
		return SERVER_NONE;
	struct server_file *file = server_file(server, index);
	server->free.files = file->next;
	*file = (struct server_file){
		.next = SERVER_NONE,
		.used = true,
		.is_directory = is_directory,
		.entry = SERVER_NONE,
		.first_name = SERVER_NONE,
		.last_name = SERVER_NONE,
		.first_extent = SERVER_NONE,
		.first_handle = SERVER_NONE,
		.attributes = attributes,
		.id = ++server->file_serial,
		.creation_time = now,
		.access_time = now,
		.write_time = now,
		.change_time = now,
	};
	return index;
}

void server_file_drop(struct smb_server *server, uint32_t index)
{
	struct server_file *file = server_file(server, index);

	assert(!file->links && file->first_handle == SERVER_NONE && file->first_name == SERVER_NONE);
	server_content_resize(server, index, 0);
	*file = (struct server_file){ .next = server->free.files };
	server->free.files = index;
}

/* Characters that no file name may have (MS-FSCC 2.1.5). */
static bool unit_is_allowed(uint16_t unit)
{
	return unit >= 0x20 && unit != '"' && unit != '*' && unit != '/' && unit != ':' && unit != '<' && unit != '>' &&
	       unit != '?' && unit != '|';
}

/* The component that starts at unit `at`; moves `at` behind it and its backslash. False: not a name. */
static bool next_component(struct smb_blob path, uint32_t *at, struct server_text *text)
{
	text->units = 0;
	while (*at < path.length / 2) {
		uint16_t unit = smb_get16(path.data + 2 * (*at)++);
		if (unit == '\\')
			return text->units > 0 && *at < path.length / 2;
		if (!unit_is_allowed(unit) || text->units == SERVER_NAME_UNITS)
			return false;
		text->text[text->units++] = unit;
	}
	return text->units > 0;
}

uint32_t server_path_walk(const struct smb_server *server, struct smb_blob path, struct server_path *result)
{
	uint32_t at = 0;

	*result = (struct server_path){ .parent = SERVER_ROOT, .name = SERVER_NONE, .file = SERVER_ROOT };
	if (path.length >= 2 && smb_get16(path.data) == '\\')
		return STATUS_INVALID_PARAMETER; /* MS-SMB2 3.3.5.9 */
	while (at < path.length / 2) {
		if (result->file == SERVER_NONE || !server_file(server, result->file)->is_directory)
			return STATUS_OBJECT_PATH_NOT_FOUND;
		if (!next_component(path, &at, &result->last))
			return STATUS_OBJECT_NAME_INVALID;
		result->parent = result->file;
		result->name = server_name_find(server, result->parent, &result->last);
		result->file = result->name == SERVER_NONE ? SERVER_NONE : server_name(server, result->name)->file;
	}
	return STATUS_SUCCESS;
}

uint32_t server_path_print(const struct smb_server *server, uint32_t index, uint8_t *buffer, uint32_t size)
{
	uint32_t used = 0;

	if (index == SERVER_NONE) {
		if (size < 2)
			return 0;
		smb_put16(buffer, '\\');
		return 2;
	}
	const struct server_name *name = server_name(server, index);
	if (name->parent != SERVER_ROOT)
		used = server_path_print(server, server_file(server, name->parent)->entry, buffer, size);
	if (used + 2 + 2 * name->units > size)
		return used;
	smb_put16(buffer + used, '\\');
	for (uint16_t i = 0; i < name->units; i++)
		smb_put16(buffer + used + 2 + 2 * i, name->text[i]);
	return used + 2 + 2 * name->units;
}

bool server_file_is_below(const struct smb_server *server, uint32_t directory, uint32_t ancestor)
{
	while (directory != ancestor) {
		if (directory == SERVER_ROOT)
			return false;
		directory = server_name(server, server_file(server, directory)->entry)->parent;
	}
	return true;
}

bool server_text_matches(const struct server_name *name, struct smb_blob pattern)
{
	uint32_t count = pattern.length / 2;
	uint32_t star = SERVER_NONE, star_at = 0, p = 0, n = 0;

	if (!count)
		return true;
	while (n < name->units) {
		uint16_t unit = p < count ? smb_get16(pattern.data + 2 * p) : 0;
		if (unit == '*' || unit == '<') {
			star = p++;
			star_at = n;
		} else if (p < count && (unit == '?' || unit == '>' || fold(unit) == fold(name->text[n]))) {
			p++;
			n++;
		} else if (star != SERVER_NONE) {
			p = star + 1;
			n = ++star_at;
		} else {
			return false;
		}
	}
	while (p < count && (smb_get16(pattern.data + 2 * p) == '*' || smb_get16(pattern.data + 2 * p) == '<'))
		p++;
	return p == count;
}
