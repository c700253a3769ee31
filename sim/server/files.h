/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_SERVER_FILES_H
#define SIM_SERVER_FILES_H

/**
 * The namespace: names in directories, the files they stand for, and what the files contain.
 *
 * Names are looked up without regard to ASCII case and kept as given (Samba's default for SMB2). Content is extents
 * of named sources (payload.h): exact for any mix of writes as long as the table has room, 4 extents per 3 files.
 */

#include "sim/server/internal.h"

#define SERVER_ROOT 0u /* file */

/** One component of a path, or a pattern: UTF-16 units in host order. */
struct server_text {
	uint16_t units;
	uint16_t text[SERVER_NAME_UNITS];
};

void server_files_init(struct smb_server *server);

/** The entry of `directory` called `text`; SERVER_NONE when there is none. */
uint32_t server_name_find(const struct smb_server *server, uint32_t directory, const struct server_text *text);
/** A new entry for an existing file; the caller knows that the name is free. SERVER_NONE: no room. */
uint32_t server_name_add(struct smb_server *server, uint32_t directory, const struct server_text *text, uint32_t file);
/** Remove an entry; scans of its directory that would have returned it next go on behind it. */
void server_name_remove(struct smb_server *server, uint32_t index);

/** A file without a name yet. SERVER_NONE: no room. */
uint32_t server_file_new(struct smb_server *server, bool is_directory, uint32_t attributes);
/** Forget a file that has neither names nor handles. */
void server_file_drop(struct smb_server *server, uint32_t index);

/** Where a path leads. */
struct server_path {
	uint32_t parent; /* directory of the last component */
	uint32_t name; /* the entry, SERVER_NONE when there is none or it is the root */
	uint32_t file; /* SERVER_NONE: the last component does not exist */
	struct server_text last;
};
/** Walk a UTF-16LE path with backslashes, the empty one being the root (MS-SMB2 2.2.13). SUCCESS also when only the
 *  last component does not exist; else OBJECT_PATH_NOT_FOUND, OBJECT_NAME_INVALID or INVALID_PARAMETER. */
uint32_t server_path_walk(const struct smb_server *server, struct smb_blob path, struct server_path *result);
/** The path of an entry from the root, UTF-16LE with a leading backslash. Returns bytes, at most `size`. */
uint32_t server_path_print(const struct smb_server *server, uint32_t index, uint8_t *buffer, uint32_t size);
/** True when `directory` is `ancestor` or lies below it. */
bool server_file_is_below(const struct smb_server *server, uint32_t directory, uint32_t ancestor);
/** Does a name fit a pattern of '*' and '?' (and their DOS forms)? UTF-16LE pattern; empty fits all. */
bool server_text_matches(const struct server_name *name, struct smb_blob pattern);

/** The content from `offset` on as one slice, as far as one source reaches; at most `length` bytes, all inside the
 *  file. */
struct smb_slice server_content_slice(const struct smb_server *server, uint32_t file, uint64_t offset, uint32_t length);
/** The same as bytes. */
void server_content_bytes(const struct smb_server *server, uint32_t file, uint64_t offset, uint8_t *bytes,
			  uint32_t length);
/** Is there room in the table for whatever the next write or resize does? */
bool server_content_can_write(const struct smb_server *server);
/** Write; the file grows as needed. Only when there is room. */
void server_content_write(struct smb_server *server, uint32_t file, uint64_t offset, struct smb_slice data);
/** Cut or extend (with zeros). */
void server_content_resize(struct smb_server *server, uint32_t file, uint64_t size);

/* As QUERY_INFO, CREATE and CLOSE report them. */
struct smb2_file_times server_file_times(const struct server_file *file);
uint64_t server_file_allocation(const struct server_file *file);

#endif
