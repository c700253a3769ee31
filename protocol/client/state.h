/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_CLIENT_STATE_H
#define SMB_CLIENT_STATE_H

/**
 * What the block holds; private to protocol/client. The block is this struct and the arrays behind it, found by their
 * offsets, so that it may be copied anywhere.
 *
 * An operation is what a thread is in the kernel: it runs until it blocks, and is in at most one list at a time (run
 * queue, a channel's credit waiters, a READ's waiters, or those that wait for room).
 */

#include "protocol/client/client.h"
#include "protocol/flow/channels.h"
#include "protocol/flow/credits.h"
#include "protocol/flow/requests.h"
#include "protocol/flow/window.h"
#include "protocol/io/reader.h"
#include "protocol/io/writer.h"
#include "protocol/wire/message.h"

#define NONE UINT32_MAX
#define NEVER UINT64_MAX
/* Pushback does not say how long it holds: so many READs without one end the pause. */
#define CLIENT_PAUSE_READS 16
#define CLIENT_SILENT_INTERVALS 3 /* of echo_interval without any answer: the server is gone (server_unresponsive) */
#define CLIENT_HOST_MAX 64 /* bytes of a server or share name */
#define CLIENT_OUTPUT_RESERVE 8 /* outputs kept free for what an input causes at once */
#define CLIENT_REQUEST_RESERVE 2 /* request slots kept free for break acknowledgements and echoes */

struct client_list {
	uint32_t head;
	uint32_t tail;
};

enum channel_state {
	CHANNEL_UNUSED,
	CHANNEL_CONNECTING,
	CHANNEL_CONNECTED, /* TCP is up; another channel makes the new session first */
	CHANNEL_NEGOTIATING,
	CHANNEL_SESSION_FIRST,
	CHANNEL_SESSION_FINAL,
	CHANNEL_READY,
	CHANNEL_DOWN,
	CHANNEL_STATES,
};

struct client_channel {
	enum channel_state state;
	uint32_t interface;
	struct smb_credits credits;
	struct smb_window window;
	struct client_list waiters; /* operations that wait for credits, first come first */
	uint32_t server_index; /* IfIndex of `interface` as the server told it; 0 = the address that was mounted */
	uint64_t setup_session; /* SESSION_SETUP's SessionId: the one to bind to, or what its first leg brought */
	bool makes_session; /* its SESSION_SETUP makes a new session */
	bool was_ready; /* since it was opened */
	bool is_full; /* its socket has not taken the last WRITE yet (client.sends_block) */
	bool is_given_up; /* to be dropped as soon as there is room for the outputs */
	uint16_t io_timeouts; /* answers STATUS_IO_TIMEOUT on this connection (policy io_timeouts_max) */
	uint64_t retry_ns; /* DOWN: when to connect again; NEVER: not */
	uint64_t next_echo_ns; /* NEVER: no timer */
	uint64_t last_response_ns;
	enum smb_op_verdict verdict; /* why it went DOWN */
	uint32_t status; /* with SMB_OP_FAILED */
};

/** What a request is for: the row of the purpose table (purpose.c) and the way its answer takes. */
enum client_purpose {
	PURPOSE_NEGOTIATE,
	PURPOSE_SESSION_FIRST,
	PURPOSE_SESSION_FINAL,
	PURPOSE_TREE_IPC,
	PURPOSE_TREE_SHARE,
	PURPOSE_UNIX_QUERY, /* SMB1: what the Unix extensions can do */
	PURPOSE_UNIX_SET,
	PURPOSE_VALIDATE_IPC,
	PURPOSE_VALIDATE_SHARE,
	PURPOSE_REFERRAL,
	PURPOSE_ROOT_OPEN,
	PURPOSE_INTERFACES,
	PURPOSE_FS_ATTRIBUTE,
	PURPOSE_FS_DEVICE,
	PURPOSE_FS_VOLUME,
	PURPOSE_FS_SECTOR,
	PURPOSE_HANDLE_CLOSE,
	PURPOSE_STAT_OPEN,
	PURPOSE_STAT_INFO,
	PURPOSE_STAT_CLOSE,
	PURPOSE_OPEN,
	PURPOSE_FILE_NUMBER,
	PURPOSE_CLOSE,
	PURPOSE_TREE_DISCONNECT,
	PURPOSE_LOGOFF,
	PURPOSE_READ_WINDOW, /* a piece of a readahead window, into the page cache */
	PURPOSE_READ_PAGE, /* a piece of one page, the reader waits for it */
	PURPOSE_READ_DIRECT, /* a piece of an uncached read */
	PURPOSE_WRITE_BACK, /* dirty pages */
	PURPOSE_WRITE_THROUGH, /* a piece of a page that is not in the cache, the writer waits for it */
	PURPOSE_WRITE_DIRECT, /* a piece of an uncached write */
	PURPOSE_FLUSH,
	PURPOSE_REQUERY, /* the interfaces once more, while mounted */
	PURPOSE_REOPEN_DURABLE, /* a file of the lost session, by its durable handle */
	PURPOSE_REOPEN, /* the same, as a new open */
	PURPOSE_ECHO,
	PURPOSE_LEASE_BREAK,
	PURPOSE_OPLOCK_BREAK,
	PURPOSE_CANCELLED, /* nobody waits for its answer; `status` not 0: a handle that it brings is to be closed */
	PURPOSE_LATE_CLOSE, /* of a handle that nobody owns */
	PURPOSE_COMMAND, /* of a shell command: protocol/ops says what, `data_length` is the member of its chain */
	PURPOSES,
};

enum op_wait {
	OP_FREE,
	OP_RUNNABLE, /* in the run queue */
	OP_CREDITS, /* in the waiters of `channel` */
	OP_REPLY, /* `outstanding` own requests are not answered */
	OP_READ, /* in the waiters of a request */
	OP_COPY, /* smb_client_copied is due */
	OP_CHANNEL, /* MOUNT: a channel is being set up */
	OP_COMMAND, /* COMMAND: between two chains */
	OP_ROOM, /* in the list of those that wait for any request to end */
	OP_SESSION, /* in the list of those that wait for a channel, a session or their file's handle */
	OP_ENDED, /* DONE is among the outputs */
};

enum op_need { NEED_NOTHING, NEED_HEADERS, NEED_IO };

/** Soft mounts: so often an operation is begun again whose requests end their connection. */
#define CLIENT_LOSSES_MAX 10

/** The reconnect worker's jobs; it has an operation slot of its own, behind those of the host. */
enum client_work {
	WORK_NONE, /* an operation of the host */
	WORK_TREES, /* a new session's TREE_CONNECTs */
	WORK_REOPEN, /* one file's handle */
	WORK_FLUSH, /* the flusher: background passes, in a slot of its own behind the worker's */
};

/** A readahead window that is being issued. */
struct op_window {
	uint64_t start; /* bytes: what is still to be issued */
	uint64_t end;
	uint64_t mark; /* page, UINT64_MAX = none */
	uint32_t issued; /* READs */
	uint32_t wait_for; /* read_mode SYNC: the READ whose end is due before the next */
	uint32_t before; /* the READ under way whose last bytes are in the page that `start` is in; NONE */
	struct smb_slice head; /* its data when it has ended; empty: `start` begins a page, or the data did not come */
};

/** One page read alone, or one uncached read(2) or write(2). */
struct op_transfer {
	uint64_t position; /* next byte to ask for */
	uint64_t end;
	uint32_t head; /* requests in order of offset; READ_PAGE: the one slot; WRITE: those to be sent again */
	uint32_t tail;
	struct smb_slice data; /* what came so far, as one piece */
	bool at_end; /* the server said end of file, or the answer was short */
	bool again; /* a piece was refused or lost: ask for it again */
};

struct client_op {
	enum smb_op_kind kind;
	enum op_wait wait;
	uint32_t link;
	/* flow */
	uint32_t channel; /* picked for what comes next, NONE = not picked */
	enum op_need need;
	uint32_t need_headers;
	uint32_t need_bytes;
	bool headers_taken;
	bool io_taken;
	bool stalled; /* what is waited for can never come */
	bool failed; /* a script's step was refused, see `status` */
	struct smb_credit_take take; /* with io_taken */
	uint32_t outstanding;
	bool lost; /* a request went down with its channel: do the step again */
	uint8_t losses; /* soft mounts: how often that happened to the operation */
	enum client_work work;
	uint32_t session_count; /* scripts: client_session.count when the script began */
	uint64_t give_up_ns; /* SESSION: soft mounts wait until then */
	bool gave_up; /* no channel or no handle in time: end with `verdict` and `status` */
	/* scripts */
	uint32_t step;
	uint32_t tries;
	uint32_t status; /* of the last answer that matters; STATUS_SUCCESS */
	struct smb2_file_id handle; /* of ROOT_OPEN and STAT_OPEN */
	bool handle_is_open; /* and its CLOSE is a step to come */
	uint32_t file;
	bool random_hint;
	/* OPEN */
	uint8_t access; /* enum smb_open_access */
	bool create;
	bool truncate;
	bool absent; /* the look at the file found none */
	/* COMMAND */
	uint32_t lane; /* of smb_ops_next() */
	uint32_t members; /* of its chain */
	enum smb_ops_error error;
	/* READ */
	struct smb_reader reader;
	struct op_window window;
	struct op_transfer transfer;
	uint64_t offset;
	uint64_t length;
	/* WRITE */
	struct smb_writer writer;
	bool uncached; /* past the page cache */
	/* WRITE, FSYNC, CLOSE, and a READ of what is dirty */
	struct smb_writeback pass;
	uint32_t wrote_on; /* the channel of its last WRITE; NONE */
	bool passing; /* `pass` has begun and is not done */
	bool passed; /* scripts: it has begun once */
	uint32_t lost_data; /* CLOSE: NT status for what could not be written; STATUS_SUCCESS */
	bool without_flush; /* FSYNC as close(2) does it */
	/* DONE */
	enum smb_op_verdict verdict;
	uint64_t bytes;
	char name[SMB_NAME_MAX];
};

enum file_state { FILE_FREE, FILE_OPENING, FILE_OPEN, FILE_CLOSING };

/** A break that ends write caching is acknowledged when what is dirty is with the server (cifs 6.1, cifs_oplock_break). */
enum client_flush { FLUSH_NOTHING, FLUSH_WANTED, FLUSH_DONE };

struct client_file {
	enum file_state state;
	struct smb2_file_id id;
	uint64_t bytes;
	uint8_t lease_key[16];
	uint32_t lease_state; /* SMB2_LEASE_* */
	uint8_t oplock_level;
	bool random_hint;
	bool break_pending; /* an acknowledgement is due */
	bool broken_early; /* a break came before the answer to the CREATE: `lease_state` is what it left */
	bool early_break_waits; /* and it is to be acknowledged */
	uint32_t reads; /* READs under way */
	uint32_t users; /* READ operations under way */
	bool is_invalid; /* the handle was the lost session's */
	bool reopen_wanted;
	uint64_t failed_start; /* pages whose READ failed are read alone (policy lost_read) */
	uint64_t failed_end;
	char name[SMB_NAME_MAX];
	struct smb_page_cache cache;
	struct smb_readahead ra;
	uint8_t access; /* enum smb_open_access */
	bool direct; /* O_DIRECT */
	enum client_flush flush;
	uint32_t writes; /* uncached WRITEs under way; those from the page cache are counted in `dirty` */
	uint64_t dirty_since_ns; /* NEVER: nothing is dirty or under way */
	bool has_expired; /* what is dirty has been for 30 s */
	struct smb_dirty dirty;
};

/** An output that waits to be drained; what a PDU says is encoded only then. */
struct client_output {
	enum smb_client_output_kind kind;
	uint32_t channel;
	uint32_t interface;
	uint32_t op;
	uint32_t request; /* SEND: the chain's first */
	uint64_t message_id; /* SEND: still the same request? */
	struct smb_slice data;
	uint64_t offset; /* COPY; WAKE: the time */
};

struct client_interface {
	struct smb2_network_interface info;
	uint32_t channels; /* opened on it */
	uint32_t round; /* opened on it in this round of the weighted order */
};

#define CLIENT_INTERFACES_MAX 16

struct client_session {
	uint16_t dialect; /* 0 before NEGOTIATE is answered */
	uint16_t security_mode; /* the server's */
	uint32_t capabilities; /* the server's */
	uint8_t server_guid[16];
	uint64_t session_id;
	uint32_t tree_ipc;
	uint32_t tree_share;
	uint32_t max_transact;
	uint32_t max_read;
	uint32_t max_write;
	uint32_t max_buf;
	uint32_t rsize;
	uint32_t wsize;
	uint32_t ra_pages;
	uint32_t smb1_capabilities; /* the server's, SMB1_CAP_* */
	uint32_t smb1_unix; /* SMB1_UNIX_*, 0 without the extensions */
	bool mounted;
	uint64_t previous_id; /* of the session that was lost; 0 = none */
	uint32_t count; /* sessions lost so far */
	bool trees_lost; /* the trees were the lost session's: TREE_CONNECT is due */
	uint16_t channel_sequence; /* MS-SMB2 3.2.1.8, ChannelSequence */
	uint32_t pause_reads; /* READs that have to succeed before readahead goes on (policy readahead_pause) */
	uint64_t reads_started; /* numbers READs */
	uint64_t paused_at; /* reads_started when the last one was refused or lost */
	uint32_t interface_count;
	struct client_interface interfaces[CLIENT_INTERFACES_MAX];
};

struct client_layout {
	size_t channels;
	size_t requests;
	size_t buckets;
	size_t ops;
	size_t files;
	size_t runs;
	size_t dirty_runs;
	size_t writes;
	size_t outputs;
	size_t commands;
	size_t size;
};

struct smb_client {
	struct smb_client_limits limits;
	struct client_layout at;
	struct smb_policy policy;
	struct smb_mount_options mount;
	uint32_t page_bytes;
	uint8_t client_guid[16];
	char server[CLIENT_HOST_MAX];
	char share[CLIENT_HOST_MAX];
	bool copy_is_free;
	bool sends_block;

	struct client_session session;
	uint32_t mount_op; /* MOUNT or UNMOUNT under way; NONE */
	uint32_t channels_used; /* no channel from this number on was ever opened */
	struct smb_channel_picker picker;
	struct smb_requests requests;
	struct client_list runnable;
	struct client_list for_room;
	struct client_list for_session;
	struct client_list closes; /* LATE_CLOSEs to be sent; slots linked by `chain` */
	uint32_t lost_head; /* READs that went down with their channel and are sent again; slots linked by `chain` */
	uint32_t lost_tail;
	uint64_t lost_give_up_ns; /* soft mounts: the lost READs fail then */
	bool reconnect_due; /* client_reconnect_run has something to do */
	uint64_t work_retry_ns; /* when the worker tries again; NEVER */
	uint32_t reconnects; /* channels that came back */
	uint32_t outputs_head;
	uint32_t outputs_count;
	uint32_t command_op; /* COMMAND under way; NONE */
	bool command_unmounts;
	bool command_due; /* smb_ops_next() may have something */
	uint32_t command_session; /* client_session.count when protocol/ops began */
	uint64_t command_wake_ns; /* it will have then; NEVER */
	uint32_t breaks_pending;
	uint32_t leases; /* keys handed out */
	uint32_t waiting_for_credits;
	uint64_t read_bytes_in_flight;
	uint64_t write_bytes_in_flight;
	struct smb_dirty_limits dirty_limits;
	uint64_t now_ns;
	uint64_t wake_ns; /* asked of the host; NEVER = none */
	bool timers_changed;
	uint64_t requery_ns; /* when the interfaces are asked for again; NEVER */
};

static inline struct client_channel *client_channel_at(const struct smb_client *client, uint32_t i)
{
	return (struct client_channel *)((uintptr_t)client + client->at.channels) + i;
}

static inline struct smb_request_arrays client_request_arrays(const struct smb_client *client)
{
	return (struct smb_request_arrays){
		.slots = (struct smb_request *)((uintptr_t)client + client->at.requests),
		.buckets = (uint32_t *)((uintptr_t)client + client->at.buckets),
	};
}

static inline struct smb_request *client_request_at(const struct smb_client *client, uint32_t i)
{
	return (struct smb_request *)((uintptr_t)client + client->at.requests) + i;
}

static inline struct client_op *client_op_at(const struct smb_client *client, uint32_t i)
{
	return (struct client_op *)((uintptr_t)client + client->at.ops) + i;
}

/** Slots of operations: the host's, the reconnect worker's and the flusher's behind them. */
static inline uint32_t client_op_slots(const struct smb_client *client)
{
	return client->limits.ops + 2;
}

static inline struct client_op *client_worker(const struct smb_client *client)
{
	return client_op_at(client, client->limits.ops);
}

static inline struct client_op *client_flusher(const struct smb_client *client)
{
	return client_op_at(client, client->limits.ops + 1);
}

static inline uint32_t client_op_index(const struct smb_client *client, const struct client_op *op)
{
	return (uint32_t)(op - client_op_at(client, 0));
}

static inline struct client_file *client_file_at(const struct smb_client *client, uint32_t i)
{
	return (struct client_file *)((uintptr_t)client + client->at.files) + i;
}

static inline struct smb_page_run *client_runs_of(const struct smb_client *client, uint32_t file)
{
	return (struct smb_page_run *)((uintptr_t)client + client->at.runs) + (size_t)file * client->limits.page_runs;
}

static inline struct smb_dirty_run *client_dirty_runs_of(const struct smb_client *client, uint32_t file)
{
	return (struct smb_dirty_run *)((uintptr_t)client + client->at.dirty_runs) +
	       (size_t)file * client->limits.dirty_runs;
}

static inline struct smb_dirty_write *client_writes_of(const struct smb_client *client, uint32_t file)
{
	return (struct smb_dirty_write *)((uintptr_t)client + client->at.writes) + (size_t)file * client->limits.writes;
}

/** The state of shell commands; NULL when the block has none, nothing is mounted, or over SMB1 (protocol/ops speaks SMB2). */
static inline struct smb_ops *client_commands(const struct smb_client *client)
{
	if (!client->limits.names || !client->session.mounted || client->mount.vers == SMB_VERS_1)
		return NULL;
	return (struct smb_ops *)((uintptr_t)client + client->at.commands);
}

static inline struct client_output *client_outputs(const struct smb_client *client)
{
	return (struct client_output *)((uintptr_t)client + client->at.outputs);
}

#endif
