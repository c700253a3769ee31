/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_OPS_INTERNAL_H
#define SMB_OPS_INTERNAL_H

/**
 * What the block holds; private to protocol/ops.
 *
 * A command runs as a stack of tasks. The bottom one takes the next system call of the command's script; a system call
 * pushes a walk, the walk pushes lookups, and so on. A task that needs the server sends a chain and is called again
 * with what was answered. A task that fails takes everything above the script with it, as an errno returned.
 */

#include "protocol/ops/ops.h"

#define OPS_NONE UINT32_MAX
#define OPS_ROOT 0u /* dentry of the share's root */
#define OPS_NAME_MAX 61 /* bytes of one name with the final zero */
#define OPS_TASKS_MAX 24
#define OPS_FDS_MAX 2
#define OPS_MFSYMLINK_BYTES 1067u /* every such file is so long (cifs link.c, CIFS_MF_SYMLINK_FILE_SIZE) */
#define OPS_CACHE_READ 0x01u
#define OPS_CACHE_HANDLE 0x02u
#define OPS_CACHE_WRITE 0x04u
#define OPS_ATTRIBUTE_READONLY 0x01u
#define OPS_ATTRIBUTE_DIRECTORY 0x10u
#define OPS_ATTRIBUTE_NORMAL 0x80u

enum ops_dentry_state {
	OPS_DENTRY_FREE,
	OPS_DENTRY_UNKNOWN, /* a name that is being looked at: the kernel has no dentry, or has just dropped it */
	OPS_DENTRY_NEGATIVE,
	OPS_DENTRY_POSITIVE,
};

/** A name and the inode behind it. Hard links are names with inodes of their own, which only costs attributes. */
struct ops_dentry {
	uint32_t parent;
	uint32_t used; /* serial of the command that used it last */
	uint32_t listing; /* serial of the command that read it from its directory */
	uint8_t state; /* enum ops_dentry_state */
	bool is_directory;
	bool attributes_hold; /* since attributes_ns; false: cifsInode->time is 0 */
	bool was_leased; /* the key is known to the server */
	bool has_key;
	bool pages_hold; /* the whole content is in the page cache */
	uint8_t lease; /* OPS_CACHE_* while it is open */
	uint8_t length; /* of name */
	char name[OPS_NAME_MAX];
	uint8_t lease_key[16];
	uint32_t attributes;
	uint32_t links;
	uint32_t open_files;
	uint64_t file_number;
	uint64_t size;
	uint64_t attributes_ns;
	uint64_t looked_up_ns;
	uint64_t dirty_start; /* bytes written and not yet sent */
	uint64_t dirty_end;
};

enum ops_file_state {
	OPS_FILE_FREE,
	OPS_FILE_OPENING,
	OPS_FILE_OPEN,
	OPS_FILE_DEFERRED, /* closed by its process; CLOSE is due at close_ns */
	OPS_FILE_CLOSING, /* CLOSE is under way beside the command */
};

struct ops_file {
	uint8_t state; /* enum ops_file_state */
	bool is_directory;
	bool was_created;
	uint16_t flags; /* OPS_OPEN_* */
	uint32_t dentry;
	struct smb2_file_id id;
	uint64_t close_ns;
};

/* open(2). */
#define OPS_OPEN_READ 0x01u
#define OPS_OPEN_WRITE 0x02u
#define OPS_OPEN_CREATE 0x04u
#define OPS_OPEN_EXCLUSIVE 0x08u
#define OPS_OPEN_TRUNCATE 0x10u
#define OPS_OPEN_APPEND 0x20u

/* Why a name is looked up (include/linux/namei.h). */
#define OPS_LOOKUP_FOLLOW 0x01u
#define OPS_LOOKUP_CREATE 0x02u /* mkdir, link, symlink: the name is to be new */
#define OPS_LOOKUP_RENAME 0x04u /* target of a rename */
#define OPS_LOOKUP_OPEN 0x08u /* open with O_CREAT: the file system may create instead of looking */

/* The target may be a directory that the tool goes into; cp then looks at the name in it. */
#define OPS_ENTER 1u
#define OPS_ENTER_AND_STAT 2u
#define OPS_RENAME_NO_REPLACE 0x01u
#define OPS_RENAME_RETRIED 0x02u
#define OPS_LIST_LONG 0x01u /* each entry is looked at (ls -l) */
#define OPS_LIST_PLAIN 0x02u /* the directory did not fit one chain */

/* What setattr sets. */
#define OPS_SET_ACCESS 0x01u
#define OPS_SET_WRITE 0x02u
#define OPS_SET_CHANGE 0x04u
#define OPS_SET_SIZE 0x08u
#define OPS_SET_MODE 0x10u

enum ops_member_kind {
	OPS_CREATE,
	OPS_CLOSE,
	OPS_FLUSH,
	OPS_QUERY_ALL,
	OPS_QUERY_NUMBER,
	OPS_QUERY_FS_SIZE,
	OPS_QUERY_DIRECTORY,
	OPS_SET_BASIC,
	OPS_SET_EOF,
	OPS_SET_DISPOSITION,
	OPS_SET_RENAME,
	OPS_SET_LINK,
	OPS_SET_REPARSE,
	OPS_READ,
	OPS_WRITE,
	OPS_WRITE_LINK, /* the text of a Minshall+French symlink */
	OPS_TREE_DISCONNECT,
	OPS_LOGOFF,
	OPS_MEMBER_KINDS,
};

enum ops_oplock { OPS_OPLOCK_NONE, OPS_OPLOCK_CACHE, OPS_OPLOCK_BATCH, OPS_OPLOCK_KEY };

struct ops_member {
	uint8_t kind; /* enum ops_member_kind */
	uint8_t oplock; /* CREATE: NONE, CACHE = lease or batch oplock, BATCH, KEY = the lease key without a lease */
	uint8_t disposition; /* CREATE */
	bool is_io; /* READ, WRITE: paid for as such */
	uint8_t set; /* SET_BASIC: OPS_SET_* */
	uint32_t dentry; /* CREATE: the name */
	uint32_t target; /* SET_RENAME, SET_LINK: the new name */
	uint32_t access;
	uint32_t options;
	uint32_t attributes; /* SET_BASIC */
	uint64_t offset; /* READ, WRITE; SET_EOF: the size */
	uint32_t length;
};

/** Requests that go out together, or one after the other. */
struct ops_chain {
	bool under_way;
	bool one_by_one;
	uint32_t count;
	uint32_t sent; /* members handed out by smb_ops_next() */
	uint32_t first; /* first member of what was handed out last */
	uint32_t answered;
	uint32_t file; /* takes the handle that CREATE brings, or names it; NONE: the chain's own */
	struct ops_member members[SMB_OPS_CHAIN_MAX];
	uint32_t status[SMB_OPS_CHAIN_MAX];
	bool done[SMB_OPS_CHAIN_MAX];
	struct smb2_file_id id; /* of a CREATE without file */
	bool is_open;
	/* what the answers said */
	uint32_t attributes;
	bool is_directory;
	uint32_t links;
	uint32_t lease;
	uint32_t action;
	uint64_t size;
	uint64_t file_number;
	uint32_t moved; /* bytes of READ or WRITE */
	uint32_t entries; /* of QUERY_DIRECTORY */
};

enum ops_task_kind {
	OPS_TASK_SCRIPT,
	OPS_TASK_WALK,
	OPS_TASK_LOOKUP,
	OPS_TASK_QUERY,
	OPS_TASK_CHECK_LINK,
	OPS_TASK_GETATTR,
	OPS_TASK_STAT,
	OPS_TASK_OPEN,
	OPS_TASK_OPEN_FILE,
	OPS_TASK_CLOSE,
	OPS_TASK_CLOSE_DEFERRED,
	OPS_TASK_FSTAT,
	OPS_TASK_UNLINK,
	OPS_TASK_RMDIR,
	OPS_TASK_MKDIR,
	OPS_TASK_RENAME,
	OPS_TASK_LINK,
	OPS_TASK_SYMLINK,
	OPS_TASK_UTIMENS,
	OPS_TASK_CHMOD,
	OPS_TASK_FTRUNCATE,
	OPS_TASK_SETATTR,
	OPS_TASK_STATFS,
	OPS_TASK_GETDENTS,
	OPS_TASK_STAT_LISTED,
	OPS_TASK_CLOSEDIR,
	OPS_TASK_READ,
	OPS_TASK_WRITE,
	OPS_TASK_WRITEBACK,
	OPS_TASK_UNMOUNT,
	OPS_TASKS,
};

struct ops_task {
	uint8_t kind; /* enum ops_task_kind */
	uint8_t step;
	uint16_t flags;
	uint32_t a;
	uint32_t b;
};

/* Which of the command's paths a system call names. */
enum { OPS_SOURCE, OPS_TARGET, OPS_SHARE_ROOT, OPS_PATHS };

struct ops_listing {
	uint32_t file; /* the directory's handle */
	bool is_over; /* NO_MORE_FILES came */
	uint32_t buffer_used; /* of what getdents(2) returns */
};

struct smb_ops {
	struct smb_ops_limits limits;
	struct smb_ops_config config;
	uint64_t now_ns;
	uint32_t leases; /* keys made */
	/* the command */
	bool busy;
	uint32_t serial;
	struct smb_ops_command command;
	struct ops_task tasks[OPS_TASKS_MAX];
	uint32_t depth;
	struct ops_task sender; /* the task whose chain is under way */
	struct ops_chain chain;
	enum smb_ops_error error; /* of the system call that just failed */
	enum smb_ops_error verdict; /* of the command */
	bool target_entered; /* it was a directory, and the command now means a name in it */
	bool target_found; /* the last stat of the target found it */
	bool name_existed; /* the last rename or link found its new name taken */
	bool was_directory; /* the last open failed with EISDIR */
	uint32_t found; /* dentry that the last walk led to */
	uint32_t fds[OPS_FDS_MAX]; /* files */
	struct ops_listing listing;
	uint64_t position; /* READ, WRITE */
	uint64_t set_size; /* SETATTR */
	uint32_t listed;
	uint64_t bytes_read;
	uint64_t bytes_written;
};

static inline struct ops_dentry *ops_dentry(const struct smb_ops *ops, uint32_t i)
{
	return (struct ops_dentry *)((uintptr_t)ops + sizeof(struct smb_ops)) + i;
}

static inline struct ops_file *ops_file(const struct smb_ops *ops, uint32_t i)
{
	return (struct ops_file *)ops_dentry(ops, ops->limits.dentries) + i;
}

/* ------------------------------------------------------------------------------------------------------ tasks (ops.c) */

typedef void (*ops_run_function)(struct smb_ops *ops, struct ops_task *task);

void ops_push(struct smb_ops *ops, struct ops_task task);
/** Push `task` again with the next step, to go on when what is pushed after it is over. */
void ops_push_next(struct smb_ops *ops, const struct ops_task *task, uint8_t step);
/** The system call fails: all tasks down to the script go. */
void ops_fail(struct smb_ops *ops, enum smb_ops_error error);
enum smb_ops_error ops_error_of(uint32_t status);

/** Begin a chain; add members with ops_add(); ops_send() makes `task` wait for its answers, given to its `answer`. */
struct ops_chain *ops_chain_begin(struct smb_ops *ops);
struct ops_member *ops_add(struct smb_ops *ops, enum ops_member_kind kind);
struct ops_member *ops_add_create(struct smb_ops *ops, uint32_t dentry, uint32_t access, uint32_t options);
void ops_send(struct smb_ops *ops, const struct ops_task *task);
/** Requests that no kernel ever puts into a chain. */
void ops_send_singly(struct smb_ops *ops, const struct ops_task *task);
/** The first status of the chain that is an error, or SUCCESS. */
uint32_t ops_chain_status(const struct ops_chain *chain);

/* ------------------------------------------------------------------------------------------- answers (answers.c) */

/** Is it the body that a successful answer to such a request has? */
bool ops_answer_fits(enum ops_member_kind kind, const struct smb2_message *message);
/** Note what a member's answer brought. */
void ops_note(struct smb_ops *ops, uint32_t index, const struct smb2_message *message);
void ops_note_closed(struct smb_ops *ops, uint32_t file);

/* ---------------------------------------------------------------------------------------------- caches (dentry.c) */

/** The name in its directory, made if the cache does not have it; NONE: no room or too long. */
uint32_t ops_dentry_child(struct smb_ops *ops, uint32_t parent, const char *name, size_t length);
/** Its path from the share's root, components separated by `separator`. Returns the length; 0 also for the root. */
size_t ops_dentry_path(const struct smb_ops *ops, uint32_t dentry, char separator, char path[SMB_OPS_PATH_MAX]);
/** Must the attributes be asked again (cifs inode.c, cifs_inode_needs_reval)? */
bool ops_needs_query(const struct smb_ops *ops, const struct ops_dentry *dentry);
void ops_dentry_set_positive(struct smb_ops *ops, uint32_t dentry, const struct ops_chain *chain);
void ops_dentry_set_negative(struct smb_ops *ops, uint32_t dentry);
/** d_drop: the next use looks the name up. */
void ops_dentry_drop(struct smb_ops *ops, uint32_t dentry);
/** The attributes of a directory are asked again at its next use: an entry came or went. */
void ops_parent_expires(struct smb_ops *ops, uint32_t dentry);
/** d_move: `target` becomes what `source` was. */
void ops_dentry_move(struct smb_ops *ops, uint32_t source, uint32_t target);
uint32_t ops_file_new(struct smb_ops *ops, uint32_t dentry, uint16_t flags);
void ops_file_opened(struct smb_ops *ops, uint32_t file, const struct ops_chain *chain);
/** A file open for writing on this dentry, deferred ones included; NONE. */
uint32_t ops_writable_file(const struct smb_ops *ops, uint32_t dentry);
uint32_t ops_deferred_file(const struct smb_ops *ops, uint32_t dentry);
void ops_make_key(struct smb_ops *ops, uint32_t dentry);
bool ops_caches_valid(const struct smb_ops *ops);

/* ------------------------------------------------------------------------------------------- requests (members.c) */

void ops_build(const struct smb_ops *ops, const struct ops_member *member, struct smb2_file_id id,
	       struct smb2_message *message, struct smb_ops_scratch *scratch);

/* ---------------------------------------------------------------------------------- one function per task and file */

bool ops_script_exists(enum smb_ops_command_kind kind);
void ops_script_run(struct smb_ops *ops, struct ops_task *task); /* scripts.c */

void ops_walk_run(struct smb_ops *ops, struct ops_task *task); /* lookup.c */
void ops_lookup_run(struct smb_ops *ops, struct ops_task *task);
void ops_query_run(struct smb_ops *ops, struct ops_task *task);
void ops_query_answer(struct smb_ops *ops, struct ops_task *task);
void ops_check_link_run(struct smb_ops *ops, struct ops_task *task);
void ops_getattr_run(struct smb_ops *ops, struct ops_task *task);
void ops_stat_run(struct smb_ops *ops, struct ops_task *task);
void ops_fstat_run(struct smb_ops *ops, struct ops_task *task);

void ops_open_run(struct smb_ops *ops, struct ops_task *task); /* create.c */
void ops_open_file_run(struct smb_ops *ops, struct ops_task *task);
void ops_open_file_answer(struct smb_ops *ops, struct ops_task *task);
void ops_close_run(struct smb_ops *ops, struct ops_task *task);
void ops_close_deferred_run(struct smb_ops *ops, struct ops_task *task);
void ops_close_answer(struct smb_ops *ops, struct ops_task *task);
void ops_mkdir_run(struct smb_ops *ops, struct ops_task *task);
void ops_mkdir_answer(struct smb_ops *ops, struct ops_task *task);

void ops_unlink_run(struct smb_ops *ops, struct ops_task *task); /* remove.c */
void ops_unlink_answer(struct smb_ops *ops, struct ops_task *task);
void ops_rmdir_run(struct smb_ops *ops, struct ops_task *task);
void ops_rmdir_answer(struct smb_ops *ops, struct ops_task *task);

void ops_rename_run(struct smb_ops *ops, struct ops_task *task); /* rename.c */
void ops_rename_answer(struct smb_ops *ops, struct ops_task *task);

void ops_link_run(struct smb_ops *ops, struct ops_task *task); /* link.c */
void ops_link_answer(struct smb_ops *ops, struct ops_task *task);
void ops_symlink_run(struct smb_ops *ops, struct ops_task *task);
void ops_symlink_answer(struct smb_ops *ops, struct ops_task *task);

void ops_utimens_run(struct smb_ops *ops, struct ops_task *task); /* attributes.c */
void ops_chmod_run(struct smb_ops *ops, struct ops_task *task);
void ops_ftruncate_run(struct smb_ops *ops, struct ops_task *task);
void ops_setattr_run(struct smb_ops *ops, struct ops_task *task);
void ops_setattr_answer(struct smb_ops *ops, struct ops_task *task);
void ops_statfs_run(struct smb_ops *ops, struct ops_task *task);

void ops_getdents_run(struct smb_ops *ops, struct ops_task *task); /* directory.c */
void ops_getdents_answer(struct smb_ops *ops, struct ops_task *task);
void ops_stat_listed_run(struct smb_ops *ops, struct ops_task *task);
void ops_closedir_run(struct smb_ops *ops, struct ops_task *task);
void ops_closedir_answer(struct smb_ops *ops, struct ops_task *task);
void ops_note_entries(struct smb_ops *ops, struct smb_blob buffer);

void ops_read_run(struct smb_ops *ops, struct ops_task *task); /* data.c */
void ops_read_answer(struct smb_ops *ops, struct ops_task *task);
void ops_write_run(struct smb_ops *ops, struct ops_task *task);
void ops_write_answer(struct smb_ops *ops, struct ops_task *task);
void ops_writeback_run(struct smb_ops *ops, struct ops_task *task);
void ops_writeback_answer(struct smb_ops *ops, struct ops_task *task);

void ops_unmount_run(struct smb_ops *ops, struct ops_task *task); /* mount.c */
void ops_unmount_answer(struct smb_ops *ops, struct ops_task *task);

/** An answer that only succeeds or fails. */
void ops_plain_answer(struct smb_ops *ops, struct ops_task *task);
/** An answer that does not matter. */
void ops_any_answer(struct smb_ops *ops, struct ops_task *task);

#endif
