/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_CLIENT_TESTS_PEER_H
#define SMB_CLIENT_TESTS_PEER_H

/**
 * A scripted server and the host around one client: everything the client sends is judged against the window that the
 * peer granted, noted in a log and answered into a queue that the test empties, at once or in its own order.
 * Grants follow Samba (facts B1): charge + asked - 1, one at NEGOTIATE and on the first leg of SESSION_SETUP, a
 * chain's sum in its last answer.
 */

#include "protocol/client/client.h"
#include "protocol/wire/message.h"

#define PEER_LOG_MAX 4096
#define PEER_QUEUE_MAX 2048
#define PEER_ID_BITS 65536

struct peer_entry {
	uint32_t channel;
	uint32_t chain; /* members of the chain this one starts; 0 for later members */
	uint16_t command;
	uint16_t charge;
	uint16_t asked;
	uint16_t granted;
	uint64_t message_id;
	uint64_t offset;
	uint32_t length;
	uint32_t code; /* IOCTL: control code; QUERY_INFO: class */
	uint32_t flags;
	int64_t credits_left; /* by the PDUs alone */
	uint32_t connection; /* peer_channel.connection when it came */
	uint16_t sequence; /* ChannelSequence */
	bool durable; /* CREATE: asks for its old handle */
	bool binding; /* SESSION_SETUP */
	uint64_t previous_session; /* SESSION_SETUP */
	struct smb_slice data; /* WRITE */
	uint32_t disposition; /* CREATE */
	uint32_t options; /* CREATE */
};

struct peer_reply {
	uint32_t channel;
	uint32_t connection;
	uint32_t length;
	struct smb_slice payload;
	uint8_t bytes[1024];
};

struct peer_channel {
	bool open;
	bool bound; /* its SESSION_SETUP is complete */
	uint32_t connection; /* counts the connections of all channels */
	int64_t credits; /* 1 + grants - charges */
	uint64_t next_id; /* ids must come without holes here */
	uint64_t ids_end; /* first id not granted yet */
	uint64_t overdraft; /* ids that break acknowledgements used beyond it: they never wait (C6, C19) */
};

struct peer {
	/* knobs */
	uint16_t dialect; /* answered to NEGOTIATE; 0: the highest offered */
	uint32_t max_read;
	uint32_t capabilities;
	uint64_t file_bytes;
	uint32_t interfaces; /* told to the client */
	bool read_interim; /* READs are answered by STATUS_PENDING first */
	uint32_t read_status; /* other than success: READs fail like that ... */
	uint32_t read_failures; /* ... so many times */
	uint32_t short_bytes; /* not 0: READs bring at most this */
	uint32_t grant_cap; /* no answer grants more, 0 = no cap */
	bool grant_nothing;
	uint32_t open_status;
	uint32_t refuse_channels; /* bit i: SESSION_SETUP on channel i is refused */
	uint32_t unreachable; /* bit i: channel i cannot connect */
	bool keeps_handles; /* a durable handle survives its session */
	uint32_t tree_status; /* TREE_CONNECT of the share is answered so */
	bool hold_reads; /* READ answers are not queued: peer_answer_read does it */
	bool hold_writes; /* the same for WRITEs */
	uint32_t write_status; /* other than success: WRITEs fail like that ... */
	uint32_t write_failures; /* ... so many times */
	uint32_t short_write_bytes; /* not 0: WRITEs take at most this */
	bool absent; /* there is no file yet: only a CREATE that may make it succeeds */
	uint8_t oplock; /* not 0: granted instead of what was asked */
	uint8_t *content; /* not NULL: the source of each byte of the file at the server, for `content_bytes`; positions
			   * are file offsets */
	const uint8_t *expected; /* with it: the same as the application has it, what a READ must bring */
	uint64_t content_bytes;
	bool move_block; /* the client's block moves to another address after every call */
	/* state */
	struct smb_client *client;
	uint8_t *block;
	size_t block_bytes;
	uint64_t now_ns;
	uint64_t session_id; /* the session that counts; 0 = none */
	uint64_t file_id; /* the open handle of this session; 0 = none */
	uint32_t attempts; /* to connect */
	uint64_t last_attempt_ns;
	struct peer_channel channels[SMB_CHANNELS_MAX];
	struct peer_entry log[PEER_LOG_MAX];
	uint32_t log_count;
	struct peer_reply queue[PEER_QUEUE_MAX];
	uint32_t queue_head;
	uint32_t queue_count;
	uint32_t held[PEER_QUEUE_MAX]; /* log numbers of READs and WRITEs held back */
	uint32_t held_count;
	/* what the application saw */
	uint32_t done_count;
	struct smb_client_output done; /* the last DONE */
	uint64_t copied_bytes;
	uint64_t taken_bytes; /* copied from the application by WRITEs */
	bool writing[64]; /* operations by number: a WRITE */
	uint32_t wrong_copies; /* other bytes than the file has there, or out of order */
	bool any_copy_order; /* several readers at once: order is not judged */
	uint64_t copy_next;
	uint64_t wake_ns;
	uint32_t opened;
	uint32_t closed;
	uint64_t digest; /* of everything the client put out, for comparing runs */
};

#define PEER_SOURCE 77 /* stream that the file is made of */

/** A client of this era and these mount options behind a fresh peer; NULL when the options are refused. */
struct peer *peer_new(const char *era, const char *mount, uint32_t page_bytes);
struct peer *peer_new_limits(const char *era, const char *mount, uint32_t page_bytes,
			     const struct smb_client_limits *limits);
void peer_free(struct peer *peer);
/** Drain the client's outputs into log and queue. */
void peer_drain(struct peer *peer);
/** Deliver the oldest queued answer; false: the queue is empty. */
bool peer_deliver(struct peer *peer);
/** Until nothing is left to deliver. */
void peer_run(struct peer *peer);
/** Submit and run; the verdict of the operation's DONE. */
enum smb_op_verdict peer_do(struct peer *peer, const struct smb_op *op);
uint32_t peer_submit(struct peer *peer, const struct smb_op *op);
/** Answer the i-th READ or WRITE held back, final answer (after the interim with read_interim). */
void peer_answer_read(struct peer *peer, uint32_t held);
enum smb_receive_verdict peer_send(struct peer *peer, uint32_t channel, const struct smb2_message *message);
/** Let the clock run to `when_ns`, waking the client and answering it on the way. */
void peer_pass(struct peer *peer, uint64_t when_ns);
void peer_fail_channel(struct peer *peer, uint32_t channel);
/** MOUNT, then OPEN; returns the file. */
uint32_t peer_mount_and_open(struct peer *peer);
/** Read the whole file in calls of `bytes`; returns bytes read. */
uint64_t peer_read_all(struct peer *peer, uint32_t file, uint64_t bytes);
/** Log numbers of WRITEs, in order, and how many. */
uint32_t peer_writes(const struct peer *peer, uint32_t *list, uint32_t max);
/** Log numbers of READs, in order, from `from` on. Returns how many. */
uint32_t peer_reads(const struct peer *peer, uint32_t *list, uint32_t max);

#endif
