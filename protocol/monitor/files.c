/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files by the hash of their name, open handles by FileId, and the READs in flight on a handle in offset order. */
#include "protocol/monitor/state.h"

static uint64_t name_hash_step(uint64_t hash, uint16_t unit)
{
	return (hash ^ unit) * UINT64_C(0x100000001b3);
}

/* 0 stands for "no name". */
uint64_t monitor_name_hash(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (; *name; name++)
		hash = name_hash_step(hash, (uint8_t)*name);
	return hash ? hash : 1;
}

uint64_t monitor_name_hash_utf16(struct smb_blob name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (uint32_t i = 0; i + 1 < name.length; i += 2)
		hash = name_hash_step(hash, (uint16_t)(name.data[i] | name.data[i + 1] << 8));
	return hash ? hash : 1;
}

static uint32_t *file_bucket(const struct smb_monitor *monitor, uint64_t name)
{
	return (uint32_t *)monitor_at(monitor, monitor->files.buckets) +
	       ((name ^ name >> 32) & monitor->files.bucket_mask);
}

static uint32_t *handle_bucket(const struct smb_monitor *monitor, struct smb2_file_id id)
{
	uint64_t hash = (id.persistent * 31 ^ id.volatile_id) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t *)monitor_at(monitor, monitor->handles.buckets) +
	       ((hash >> 32) & monitor->handles.bucket_mask);
}

void monitor_files_init(struct smb_monitor *monitor)
{
	for (uint32_t i = 0; i < monitor->files.capacity; i++)
		monitor_file_at(monitor, i)->next = i + 1 < monitor->files.capacity ? i + 1 : SLOT_NONE;
	for (uint32_t i = 0; i < monitor->handles.capacity; i++)
		monitor_handle_at(monitor, i)->next = i + 1 < monitor->handles.capacity ? i + 1 : SLOT_NONE;
	monitor_buckets_clear(monitor, monitor->files.buckets, monitor->files.bucket_mask);
	monitor_buckets_clear(monitor, monitor->handles.buckets, monitor->handles.bucket_mask);
}

uint32_t monitor_file_find(const struct smb_monitor *monitor, uint64_t name)
{
	uint32_t slot = *file_bucket(monitor, name);
	while (slot != SLOT_NONE && monitor_file_at(monitor, slot)->name != name)
		slot = monitor_file_at(monitor, slot)->next;
	return slot;
}

uint32_t monitor_file_need(struct smb_monitor *monitor, uint64_t name)
{
	uint32_t slot = monitor_file_find(monitor, name);
	if (slot != SLOT_NONE || monitor->files.free == SLOT_NONE)
		return slot;
	slot = monitor->files.free;
	struct monitor_file *file = monitor_file_at(monitor, slot);
	uint32_t *bucket = file_bucket(monitor, name);
	monitor->files.free = file->next;
	monitor->files.used++;
	*file = (struct monitor_file){ .name = name, .next = *bucket, .in_use = true };
	*bucket = slot;
	return slot;
}

static void file_release(struct smb_monitor *monitor, uint32_t slot)
{
	struct monitor_file *file = monitor_file_at(monitor, slot);
	if (--file->handles || file->registered)
		return;
	uint32_t *link = file_bucket(monitor, file->name);
	while (*link != slot)
		link = &monitor_file_at(monitor, *link)->next;
	*link = file->next;
	file->in_use = false;
	file->next = monitor->files.free;
	monitor->files.free = slot;
	monitor->files.used--;
}

uint32_t monitor_handle_find(const struct smb_monitor *monitor, struct smb2_file_id id)
{
	uint32_t slot = *handle_bucket(monitor, id);
	while (slot != SLOT_NONE) {
		const struct monitor_handle *handle = monitor_handle_at(monitor, slot);
		if (handle->id.persistent == id.persistent && handle->id.volatile_id == id.volatile_id)
			break;
		slot = handle->next;
	}
	return slot;
}

void monitor_handle_add(struct smb_monitor *monitor, struct smb2_file_id id, uint64_t name)
{
	uint32_t old = monitor_handle_find(monitor, id);
	if (old != SLOT_NONE)
		monitor_handle_remove(monitor, old);
	if (monitor->handles.free == SLOT_NONE)
		return;
	uint32_t file = monitor_file_need(monitor, name);
	if (file == SLOT_NONE)
		return;
	uint32_t slot = monitor->handles.free;
	struct monitor_handle *handle = monitor_handle_at(monitor, slot);
	uint32_t *bucket = handle_bucket(monitor, id);
	monitor->handles.free = handle->next;
	monitor->handles.used++;
	*handle = (struct monitor_handle){
		.id = id,
		.next = *bucket,
		.file = file,
		.first_read = SLOT_NONE,
		.last_read = SLOT_NONE,
		.in_use = true,
	};
	*bucket = slot;
	monitor_file_at(monitor, file)->handles++;
}

void monitor_handle_remove(struct smb_monitor *monitor, uint32_t slot)
{
	struct monitor_handle *handle = monitor_handle_at(monitor, slot);
	uint32_t *link = handle_bucket(monitor, handle->id);

	while (handle->first_read != SLOT_NONE)
		monitor_read_unlink(monitor, handle->first_read);
	while (*link != slot)
		link = &monitor_handle_at(monitor, *link)->next;
	*link = handle->next;
	file_release(monitor, handle->file);
	handle->in_use = false;
	handle->next = monitor->handles.free;
	monitor->handles.free = slot;
	monitor->handles.used--;
}

static bool read_overlaps(const struct smb_monitor *monitor, uint32_t earlier, uint32_t later)
{
	const struct monitor_request *a = monitor_request_at(monitor, earlier);
	const struct monitor_request *b = monitor_request_at(monitor, later);
	return b->offset - a->offset < a->length && b->length;
}

uint32_t monitor_read_link(struct smb_monitor *monitor, uint32_t slot)
{
	struct monitor_request *request = monitor_request_at(monitor, slot);
	struct monitor_handle *handle = monitor_handle_at(monitor, request->handle);
	uint32_t before = handle->last_read;

	/* Sequential READs go to the end at once. */
	while (before != SLOT_NONE && monitor_request_at(monitor, before)->offset > request->offset)
		before = monitor_request_at(monitor, before)->read_before;
	uint32_t after = before == SLOT_NONE ? handle->first_read : monitor_request_at(monitor, before)->read_after;
	request->read_before = before;
	request->read_after = after;
	*(before == SLOT_NONE ? &handle->first_read : &monitor_request_at(monitor, before)->read_after) = slot;
	*(after == SLOT_NONE ? &handle->last_read : &monitor_request_at(monitor, after)->read_before) = slot;

	if (before != SLOT_NONE && read_overlaps(monitor, before, slot))
		return before;
	if (after != SLOT_NONE && read_overlaps(monitor, slot, after))
		return after;
	return SLOT_NONE;
}

void monitor_read_unlink(struct smb_monitor *monitor, uint32_t slot)
{
	struct monitor_request *request = monitor_request_at(monitor, slot);
	if (request->command != SMB2_READ || request->handle == SLOT_NONE)
		return;
	struct monitor_handle *handle = monitor_handle_at(monitor, request->handle);
	uint32_t before = request->read_before;
	uint32_t after = request->read_after;
	*(before == SLOT_NONE ? &handle->first_read : &monitor_request_at(monitor, before)->read_after) = after;
	*(after == SLOT_NONE ? &handle->last_read : &monitor_request_at(monitor, after)->read_before) = before;
	request->handle = SLOT_NONE;
}

static bool handle_is_valid(const struct smb_monitor *monitor, uint32_t slot)
{
	const struct monitor_handle *handle = monitor_handle_at(monitor, slot);
	if (handle->file >= monitor->files.capacity || !monitor_file_at(monitor, handle->file)->in_use)
		return false;
	uint32_t before = SLOT_NONE;
	for (uint32_t i = handle->first_read; i != SLOT_NONE; i = monitor_request_at(monitor, i)->read_after) {
		const struct monitor_request *read = monitor_request_at(monitor, i);
		if (!read->in_use || read->handle != slot || read->read_before != before)
			return false;
		if (before != SLOT_NONE && monitor_request_at(monitor, before)->offset > read->offset)
			return false;
		before = i;
	}
	return handle->last_read == before && monitor_handle_find(monitor, handle->id) == slot;
}

bool monitor_files_are_valid(const struct smb_monitor *monitor)
{
	uint32_t files = 0, handles = 0, opens = 0;
	for (uint32_t i = 0; i < monitor->files.capacity; i++) {
		const struct monitor_file *file = monitor_file_at(monitor, i);
		if (!file->in_use)
			continue;
		files++;
		opens += file->handles;
		if (monitor_file_find(monitor, file->name) != i)
			return false;
	}
	for (uint32_t i = 0; i < monitor->handles.capacity; i++) {
		if (!monitor_handle_at(monitor, i)->in_use)
			continue;
		handles++;
		if (!handle_is_valid(monitor, i))
			return false;
	}
	return files == monitor->files.used && handles == monitor->handles.used && opens == handles;
}
