/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_CLIENT_CLIENT_H
#define SMB_CLIENT_CLIENT_H

/**
 * The SMB3 client core: one relocatable block of state, no I/O (the contract of this project's every host).
 *
 * In: application operations, PDUs and state changes of channels, the time. Out, drained by the host with
 * smb_client_next(): PDUs to send, channels to open and close, bytes to copy to the application, completed
 * operations, the time to be called again. Nothing happens inside unless the host calls; nothing is allocated,
 * read from a clock or drawn at random. Copying the block is a snapshot (indices, not pointers, inside).
 *
 * Once mounted, a channel that goes down comes back by itself: OPEN_CHANNEL at once, then every 3 s until the host
 * answers SMB_CHANNEL_CONNECTED. Meanwhile its requests go to another channel; with the last one the session is lost, and
 * operations wait for the next: for ever on hard mounts, 10 s for a TCP connection on soft ones (SMB_OP_DISCONNECTED
 * then). Files are opened again by themselves. PDUs of an old connection must not be given to smb_client_receive
 * once the new one is up.
 *
 * Order of work for a host: call one input function, then smb_client_next() until SMB_CLIENT_IDLE.
 */

#include "protocol/client/mount_options.h"
#include "protocol/eras/policy.h"
#include "protocol/io/writeback.h"
#include "protocol/ops/ops.h"
#include "protocol/wire/payload.h"
#include "protocol/wire/smb2.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct smb_client; /* the block */

#define SMB_CHANNELS_MAX 16
#define SMB_NAME_MAX 256 /* bytes of a path relative to the share, ASCII, '/' between components */

/** How large the block is. The model checker takes the smallest that holds its model. */
struct smb_client_limits {
	uint32_t channels; /* 1 to SMB_CHANNELS_MAX */
	uint32_t requests; /* sent and not finally answered, all channels together */
	uint32_t ops; /* application operations under way */
	uint32_t files; /* open files */
	uint32_t page_runs; /* page cache runs per open file, >= 4 */
	uint32_t dirty_runs; /* dirty and under way, per open file, >= 16; 0 = files are only read */
	uint32_t writes; /* WRITEs under way from the page cache, per open file, >= 1 with dirty_runs */
	uint32_t outputs; /* outputs waiting to be drained, >= 16 */
	uint32_t names; /* known to shell commands; 0 = there are no COMMANDs, else as smb_ops_limits.dentries */
	uint32_t command_files; /* open in shell commands; as smb_ops_limits.files */
};

/** Limits that fit any simulation of this project (thousands of requests; some hundred KiB). */
extern const struct smb_client_limits smb_client_limits_simulation;

#define SMB_CLIENT_MEMORY_DEFAULT (UINT64_C(4) << 30) /* dirtyable, for the limits of dirty pages */

struct smb_client_config {
	struct smb_policy policy;
	struct smb_mount_options mount;
	uint32_t page_bytes; /* 4096 to 65536, a power of two */
	uint8_t client_guid[16];
	const char *server; /* for the TREE_CONNECT path; copied */
	const char *share;
	bool copy_is_free; /* no SMB_CLIENT_COPY outputs: data goes to the application, and comes from it, in no time */
	bool sends_block; /* sockets take the data of a WRITE in their own time: whoever sent it, and whoever wants to send one on
			   * the same channel, waits for SMB_CHANNEL_WRITABLE */
	struct smb_dirty_limits dirty_limits; /* all 0: those of SMB_CLIENT_MEMORY_DEFAULT */
};

/** Bytes a block of these limits takes; 0 when a limit is out of range. */
size_t smb_client_size(const struct smb_client_limits *limits);
/** Make a client in `block` (aligned for uint64_t, at least smb_client_size bytes). Nothing is sent yet.
 *  NULL when limits or config are not valid. */
struct smb_client *smb_client_init(void *block, const struct smb_client_limits *limits,
				   const struct smb_client_config *config);
/** Bytes of this block, for copying it. */
size_t smb_client_block_size(const struct smb_client *client);
bool smb_client_is_valid(const struct smb_client *client);
/** The state in canonical form for hashing: MessageIds relative to the window, no padding, counters that do not
 *  matter left out. Returns bytes written, 0 when `size` is too small. */
size_t smb_client_encode(const struct smb_client *client, uint8_t *buffer, size_t size);

/* ------------------------------------------------------------------------------------------------ operations */

enum smb_op_kind {
	SMB_OP_MOUNT, /* connect, NEGOTIATE, SESSION_SETUP, TREE_CONNECT and what the era asks for; channels follow */
	SMB_OP_UNMOUNT, /* TREE_DISCONNECT, LOGOFF, close the channels */
	SMB_OP_OPEN, /* name -> file, as open(2) for dd does it */
	SMB_OP_READ, /* one read(2) on a file, through the page cache or (cache=none) past it */
	SMB_OP_CLOSE, /* what is dirty is written back first; FAILED if any of it was lost since the last FSYNC */
	SMB_OP_COMMAND, /* a shell command; one at a time. umount unmounts, mount is SMB_OP_MOUNT */
	SMB_OP_WRITE, /* one write(2) on a file, through the page cache or (cache=none, O_DIRECT, no write caching
		       * granted) past it */
	SMB_OP_FSYNC, /* write back what is dirty, then FLUSH; FAILED if any data was lost */
};

enum smb_open_access { SMB_OPEN_READ, SMB_OPEN_WRITE, SMB_OPEN_READ_WRITE };

struct smb_op {
	enum smb_op_kind kind;
	const char *name; /* OPEN */
	uint32_t file; /* READ, WRITE, FSYNC, CLOSE: from OPEN's completion */
	uint64_t offset; /* READ, WRITE */
	uint64_t length; /* READ, WRITE; bytes */
	uint64_t source; /* WRITE: the stream that its data is from; 0 = zeros */
	uint64_t source_offset; /* WRITE: stream position of its first byte. A WRITE on the wire is cut where the stream
				 * does not continue, so let it be the file offset */
	enum smb_open_access access; /* OPEN */
	bool create; /* OPEN: O_CREAT */
	bool truncate; /* OPEN: O_TRUNC */
	bool without_flush; /* FSYNC: no FLUSH, as close(2) writes back (cifs 6.1, cifs_flush) */
	bool random_hint; /* OPEN: POSIX_FADV_RANDOM */
	const struct smb_ops_command *command; /* COMMAND; copied */
	bool direct; /* OPEN: O_DIRECT, every read and write of this file goes past the page cache, as with cache=none */
};

enum smb_op_verdict {
	SMB_OP_OK,
	SMB_OP_FAILED, /* with an NT status in the completion */
	SMB_OP_STALLED, /* the server left no way on: zero credits and nothing outstanding (invariant C11) */
	SMB_OP_DISCONNECTED,
	SMB_OP_CANCELLED, /* smb_client_cancel; `bytes` of it are done */
};

#define SMB_OP_NONE UINT32_MAX

/** Start an operation; its number comes back in its outputs. SMB_OP_NONE when `limits.ops` are under way, the file is
 *  not open, or nothing is mounted. */
uint32_t smb_client_submit(struct smb_client *client, const struct smb_op *op, uint64_t now_ns);

/**
 * A signal ends the wait of the application's thread in operation `op` (of smb_client_submit; the outputs are drained). It
 * ends with SMB_OP_CANCELLED as soon as its thread looks: at once when it waits for an answer, credits, a slot or a
 * session, after smb_client_copied when it copies. A COMMAND fails as when an answer is lost. What is on the wire stays
 * there (cifs sends no SMB2 CANCEL): the late answer's credits count, and a handle that it brings is closed. A MOUNT
 * closes its channels.
 * False: it is over, or in a wait that no signal ends (write-back of dirty pages, CLOSE, UNMOUNT, between two chains of a
 * COMMAND).
 */
bool smb_client_cancel(struct smb_client *client, uint32_t op, uint64_t now_ns);

/* ------------------------------------------------------------------------------------------------ input */

enum smb_receive_verdict {
	SMB_RECEIVE_OK,
	SMB_RECEIVE_MALFORMED, /* the client gives up this channel, as cifs reconnects on a bad header */
	SMB_RECEIVE_UNMATCHED, /* no request waits for it; its credits were counted all the same (C9) */
};

enum smb_channel_event {
	SMB_CHANNEL_CONNECTED,
	SMB_CHANNEL_FAILED,
	SMB_CHANNEL_CLOSED,
	SMB_CHANNEL_WRITABLE, /* sends_block: its socket has taken the WRITE that was sent last */
};

enum smb_receive_verdict smb_client_receive(struct smb_client *client, uint32_t channel, const struct smb_pdu *pdu,
					    uint64_t now_ns);
void smb_client_channel(struct smb_client *client, uint32_t channel, enum smb_channel_event event, uint64_t now_ns);
/**
 * The SEND with this `message_id` on `channel` was not put on the wire, nor anything behind it, and the connection is up
 * all the same (cifs 6.1, __smb_send_rqst failed before its first byte). Its MessageIds and credits are free again
 * (revert_current_mid: a hole would stop the server's grants, C2), its owner tries again as after a lost channel; a channel
 * that is being set up is given up. To be called before anything else is put in. False: no such request is under way.
 */
bool smb_client_unsent(struct smb_client *client, uint32_t channel, uint64_t message_id, uint64_t now_ns);
/** The application took the bytes of SMB_CLIENT_COPY (the host has spent the time that copying takes). */
void smb_client_copied(struct smb_client *client, uint32_t op, uint64_t now_ns);
/** The time of the last SMB_CLIENT_WAKE has come. Calling it early is harmless. */
void smb_client_wake(struct smb_client *client, uint64_t now_ns);

/* ------------------------------------------------------------------------------------------------ output */

enum smb_client_output_kind {
	SMB_CLIENT_IDLE, /* nothing to do now */
	SMB_CLIENT_SEND, /* put `pdu` on `channel` */
	SMB_CLIENT_OPEN_CHANNEL, /* open `channel` to interface `interface`; answer with smb_client_channel */
	SMB_CLIENT_CLOSE_CHANNEL,
	SMB_CLIENT_COPY, /* READ `op`: hand `data` at file offset `offset` to the application, then smb_client_copied. WRITE:
			  * the same, from the application to the page cache */
	SMB_CLIENT_DONE, /* `op` is complete */
	SMB_CLIENT_WAKE, /* call smb_client_wake at `when_ns`; replaces an earlier one */
};

struct smb_client_output {
	enum smb_client_output_kind kind;
	uint32_t channel;
	uint32_t interface; /* index in the server's interface list; 0 for the first channel */
	uint32_t server_index; /* OPEN_CHANNEL: IfIndex of that interface (MS-SMB2 2.2.32.5); 0: the address that was
				* mounted, as the first channel's always is */
	uint32_t op;
	struct smb_pdu pdu; /* bytes are in the buffer given to smb_client_next */
	uint64_t message_id; /* SEND: of its first member, for smb_client_unsent */
	struct smb_slice data;
	uint64_t offset;
	bool direct; /* COPY with cache=none: the data landed in the application's buffer, copying takes no time */
	uint64_t when_ns;
	/* DONE */
	enum smb_op_verdict verdict;
	uint32_t status; /* NT status */
	uint32_t file; /* OPEN */
	uint64_t
		bytes; /* READ: bytes read, 0 at end of file. WRITE: bytes taken. OPEN: size of the file. COMMAND: bytes
			* read and written */
	enum smb_ops_error error; /* COMMAND: how it ended; its verdict is OK or FAILED */
};

#define SMB_CLIENT_PDU_MAX 4096 /* no PDU of the core is longer, payload aside */

/** Take the next output. `buffer` holds the PDU's bytes for SEND (at least SMB_CLIENT_PDU_MAX). */
void smb_client_next(struct smb_client *client, struct smb_client_output *output, uint8_t *buffer, uint32_t size);

/* ------------------------------------------------------------------------------------------------ looking in */

/** Numbers for traces, plots and predicates; never needed to drive the client. */
struct smb_channel_info {
	bool usable;
	uint32_t credits; /* available for ordinary requests */
	uint32_t credits_echo;
	uint32_t credits_oplock;
	uint32_t in_flight; /* as the kernel counts: requests sent and not finally answered */
	uint64_t next_message_id;
};

struct smb_client_info {
	uint32_t channels; /* open or opening */
	uint32_t in_flight; /* sum */
	uint64_t in_flight_read_bytes; /* asked by READs under way */
	uint64_t in_flight_write_bytes; /* of WRITEs under way */
	uint64_t dirty_bytes; /* written and in no WRITE yet, all files */
	uint32_t waiting_for_credits; /* requests or windows that wait */
	uint16_t dialect; /* 0 before NEGOTIATE is answered */
	uint32_t rsize;
	uint32_t wsize;
	uint32_t max_read;
	uint32_t ra_pages;
	uint32_t reconnects; /* channels that came back since the mount */
};

void smb_client_look(const struct smb_client *client, struct smb_client_info *info);
/** `echo 2 > /proc/sys/vm/drop_caches` for shell commands: names and attributes are forgotten. False: a command is
 *  under way, or there are none. */
bool smb_client_drop_names(struct smb_client *client);
void smb_client_look_channel(const struct smb_client *client, uint32_t channel, struct smb_channel_info *info);
/** Is there an open file with this handle? A break of any other is nothing to the client (MS-SMB2 3.2.5.19.1,
 *  3.2.5.19.2). */
bool smb_client_has_handle(const struct smb_client *client, struct smb2_file_id id);

#endif
