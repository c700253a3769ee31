/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names, their attributes and how long both hold; open files. */
#include "protocol/ops/internal.h"

#include <assert.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)

/* ------------------------------------------------------------------------------------------------------------ names */

/** Is the name an open file's, or a directory above one? */
static bool leads_to_open_file(const struct smb_ops *ops, uint32_t name)
{
	for (uint32_t i = 0; i < ops->limits.files; i++) {
		if (ops_file(ops, i)->state == OPS_FILE_FREE)
			continue;
		for (uint32_t at = ops_file(ops, i)->dentry; at != OPS_NONE; at = ops_dentry(ops, at)->parent) {
			if (at == name)
				return true;
		}
	}
	return false;
}

void smb_ops_drop_caches(struct smb_ops *ops)
{
	struct ops_dentry *root = ops_dentry(ops, OPS_ROOT);

	assert(!ops->busy);
	for (uint32_t i = 1; i < ops->limits.dentries; i++) {
		struct ops_dentry *dentry = ops_dentry(ops, i);

		if (dentry->state != OPS_DENTRY_FREE && !leads_to_open_file(ops, i))
			*dentry = (struct ops_dentry){ 0 };
		else
			dentry->attributes_hold = false;
	}
	root->parent = OPS_NONE;
	root->state = OPS_DENTRY_POSITIVE;
	root->is_directory = true;
	root->links = 1;
	root->attributes_hold = false;
}

static bool is_parent(const struct smb_ops *ops, uint32_t dentry)
{
	for (uint32_t i = 1; i < ops->limits.dentries; i++) {
		if (ops_dentry(ops, i)->state != OPS_DENTRY_FREE && ops_dentry(ops, i)->parent == dentry)
			return true;
	}
	return false;
}

/** A free slot, or the name that was not used for the longest time and that nothing needs. */
static uint32_t dentry_slot(const struct smb_ops *ops)
{
	uint32_t oldest = OPS_NONE;

	for (uint32_t i = 1; i < ops->limits.dentries; i++) {
		const struct ops_dentry *dentry = ops_dentry(ops, i);

		if (dentry->state == OPS_DENTRY_FREE)
			return i;
		if (dentry->used == ops->serial || dentry->open_files)
			continue;
		if (oldest != OPS_NONE && dentry->used >= ops_dentry(ops, oldest)->used)
			continue;
		if (!is_parent(ops, i))
			oldest = i;
	}
	return oldest;
}

uint32_t ops_dentry_child(struct smb_ops *ops, uint32_t parent, const char *name, size_t length)
{
	struct ops_dentry *dentry;
	uint32_t slot;

	if (!length || length >= OPS_NAME_MAX)
		return OPS_NONE;
	for (uint32_t i = 1; i < ops->limits.dentries; i++) {
		dentry = ops_dentry(ops, i);
		if (dentry->state != OPS_DENTRY_FREE && dentry->parent == parent && dentry->length == length &&
		    !memcmp(dentry->name, name, length)) {
			dentry->used = ops->serial;
			return i;
		}
	}
	slot = dentry_slot(ops);
	if (slot == OPS_NONE)
		return OPS_NONE;
	dentry = ops_dentry(ops, slot);
	*dentry = (struct ops_dentry){
		.parent = parent,
		.used = ops->serial,
		.state = OPS_DENTRY_UNKNOWN,
		.length = (uint8_t)length,
	};
	memcpy(dentry->name, name, length);
	return slot;
}

size_t ops_dentry_path(const struct smb_ops *ops, uint32_t dentry, char separator, char path[SMB_OPS_PATH_MAX])
{
	size_t at = SMB_OPS_PATH_MAX - 1;
	size_t length;

	path[at] = 0;
	for (; dentry != OPS_ROOT; dentry = ops_dentry(ops, dentry)->parent) {
		const struct ops_dentry *part = ops_dentry(ops, dentry);
		size_t needed = part->length + (path[at] != 0);

		if (needed > at)
			break; /* ops_walk_run() lets no such path begin */
		if (path[at])
			path[--at] = separator;
		at -= part->length;
		memcpy(path + at, part->name, part->length);
	}
	length = SMB_OPS_PATH_MAX - 1 - at;
	memmove(path, path + at, length + 1);
	return length;
}

bool ops_needs_query(const struct smb_ops *ops, const struct ops_dentry *dentry)
{
	uint64_t lives_ns = ops->config.actimeo_ms * NS_PER_MS;

	if (!dentry->attributes_hold)
		return true;
	if (dentry->lease & OPS_CACHE_READ)
		return false;
	if (ops->now_ns > dentry->attributes_ns + lives_ns)
		return true;
	/* Without server inode numbers the attributes of hard links are not trusted. */
	return !ops->config.serverino && !dentry->is_directory && dentry->links > 1;
}

void ops_dentry_set_positive(struct smb_ops *ops, uint32_t index, const struct ops_chain *chain)
{
	struct ops_dentry *dentry = ops_dentry(ops, index);

	if (dentry->state != OPS_DENTRY_POSITIVE)
		dentry->looked_up_ns = ops->now_ns;
	if (dentry->state == OPS_DENTRY_POSITIVE && dentry->file_number != chain->file_number && !dentry->open_files)
		dentry->has_key = dentry->was_leased = false; /* another inode under this name */
	dentry->state = OPS_DENTRY_POSITIVE;
	dentry->is_directory = chain->is_directory || index == OPS_ROOT;
	dentry->attributes = chain->attributes;
	dentry->file_number = chain->file_number;
	dentry->links = chain->links ? chain->links : 1;
	if (dentry->dirty_start == dentry->dirty_end)
		dentry->size = chain->size;
	dentry->attributes_hold = true;
	dentry->attributes_ns = ops->now_ns;
}

static void forget_inode(struct ops_dentry *dentry)
{
	dentry->is_directory = false;
	dentry->attributes_hold = dentry->was_leased = dentry->has_key = dentry->pages_hold = false;
	dentry->lease = 0;
	dentry->dirty_start = dentry->dirty_end = dentry->size = 0;
}

void ops_dentry_set_negative(struct smb_ops *ops, uint32_t index)
{
	struct ops_dentry *dentry = ops_dentry(ops, index);

	/* The time is that of the lookup: an unlinked name keeps the one it was found by (cifs dir.c). */
	if (dentry->state != OPS_DENTRY_POSITIVE)
		dentry->looked_up_ns = ops->now_ns;
	dentry->state = OPS_DENTRY_NEGATIVE;
	forget_inode(dentry);
}

void ops_dentry_drop(struct smb_ops *ops, uint32_t index)
{
	forget_inode(ops_dentry(ops, index));
	ops_dentry(ops, index)->state = OPS_DENTRY_UNKNOWN;
}

void ops_parent_expires(struct smb_ops *ops, uint32_t index)
{
	uint32_t parent = ops_dentry(ops, index)->parent;

	if (parent != OPS_NONE)
		ops_dentry(ops, parent)->attributes_hold = false;
}

void ops_dentry_move(struct smb_ops *ops, uint32_t source, uint32_t target)
{
	struct ops_dentry *from = ops_dentry(ops, source);
	struct ops_dentry old = *from;
	const struct ops_dentry *to = ops_dentry(ops, target);

	/* The slot of the source takes the new name, so that what is open and what lies below it follows. */
	from->parent = to->parent;
	from->length = to->length;
	memcpy(from->name, to->name, sizeof(from->name));
	*ops_dentry(ops, target) = (struct ops_dentry){
		.parent = old.parent,
		.used = ops->serial,
		.state = OPS_DENTRY_UNKNOWN,
		.length = old.length,
	};
	memcpy(ops_dentry(ops, target)->name, old.name, sizeof(old.name));
}

void ops_make_key(struct smb_ops *ops, uint32_t index)
{
	struct ops_dentry *dentry = ops_dentry(ops, index);

	if (dentry->has_key)
		return;
	ops->leases++;
	memcpy(dentry->lease_key, ops->config.lease_seed, sizeof(dentry->lease_key));
	for (uint32_t i = 0; i < 4; i++)
		dentry->lease_key[8 + i] ^= (uint8_t)(ops->leases >> (8 * i));
	dentry->has_key = true;
}

/* ------------------------------------------------------------------------------------------------------------ files */

uint32_t ops_file_new(struct smb_ops *ops, uint32_t dentry, uint16_t flags)
{
	for (uint32_t i = 0; i < ops->limits.files; i++) {
		if (ops_file(ops, i)->state != OPS_FILE_FREE)
			continue;
		*ops_file(ops, i) = (struct ops_file){
			.state = OPS_FILE_OPENING,
			.flags = flags,
			.dentry = dentry,
		};
		return i;
	}
	return OPS_NONE;
}

void ops_file_opened(struct smb_ops *ops, uint32_t index, const struct ops_chain *chain)
{
	struct ops_dentry *dentry = ops_dentry(ops, ops_file(ops, index)->dentry);

	ops_file(ops, index)->state = OPS_FILE_OPEN;
	if (!dentry->open_files)
		dentry->pages_hold = false; /* CIFS_INO_INVALID_MAPPING since the last close */
	dentry->open_files++;
	dentry->lease = (uint8_t)chain->lease;
	dentry->was_leased |= chain->lease != 0;
}

void ops_note_closed(struct smb_ops *ops, uint32_t index)
{
	struct ops_file *file = ops_file(ops, index);
	struct ops_dentry *dentry = ops_dentry(ops, file->dentry);

	if (file->state != OPS_FILE_OPENING && !file->is_directory) {
		assert(dentry->open_files);
		if (--dentry->open_files == 0)
			dentry->lease = 0;
	}
	*file = (struct ops_file){ .state = OPS_FILE_FREE };
}

uint32_t ops_writable_file(const struct smb_ops *ops, uint32_t dentry)
{
	for (uint32_t i = 0; i < ops->limits.files; i++) {
		const struct ops_file *file = ops_file(ops, i);

		if ((file->state == OPS_FILE_OPEN || file->state == OPS_FILE_DEFERRED) && file->dentry == dentry &&
		    (file->flags & OPS_OPEN_WRITE))
			return i;
	}
	return OPS_NONE;
}

uint32_t ops_deferred_file(const struct smb_ops *ops, uint32_t dentry)
{
	for (uint32_t i = 0; i < ops->limits.files; i++) {
		if (ops_file(ops, i)->state == OPS_FILE_DEFERRED && ops_file(ops, i)->dentry == dentry)
			return i;
	}
	return OPS_NONE;
}

/* ---------------------------------------------------------------------------------------------------------- checks */

static bool dentry_is_valid(const struct smb_ops *ops, uint32_t i)
{
	const struct ops_dentry *dentry = ops_dentry(ops, i);

	if (dentry->state == OPS_DENTRY_FREE)
		return i != OPS_ROOT;
	if (i == OPS_ROOT)
		return dentry->state == OPS_DENTRY_POSITIVE && dentry->is_directory && dentry->parent == OPS_NONE;
	return dentry->state <= OPS_DENTRY_POSITIVE && dentry->parent < ops->limits.dentries && dentry->parent != i &&
	       ops_dentry(ops, dentry->parent)->state != OPS_DENTRY_FREE && dentry->length &&
	       dentry->length < OPS_NAME_MAX && dentry->dirty_start <= dentry->dirty_end;
}

bool ops_caches_valid(const struct smb_ops *ops)
{
	for (uint32_t i = 0; i < ops->limits.dentries; i++) {
		if (!dentry_is_valid(ops, i))
			return false;
	}
	for (uint32_t i = 0; i < ops->limits.files; i++) {
		const struct ops_file *file = ops_file(ops, i);

		if (file->state > OPS_FILE_CLOSING)
			return false;
		if (file->state != OPS_FILE_FREE &&
		    (file->dentry >= ops->limits.dentries || ops_dentry(ops, file->dentry)->state == OPS_DENTRY_FREE))
			return false;
	}
	return true;
}
