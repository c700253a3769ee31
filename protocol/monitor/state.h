/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_MONITOR_STATE_H
#define SMB_MONITOR_STATE_H

/**
 * The inside of the rule monitor: its tables and what one group of rules offers the others.
 *
 * Everything lies in one block behind struct smb_monitor; tables refer to each other by slot number, never by
 * address, so that a copied block works. SLOT_NONE ends every list. Free slots are chained through `next`.
 */

#include "protocol/monitor/monitor.h"

#define SLOT_NONE UINT32_MAX

/** C2: a MessageId that stays unused while this many later requests leave on its connection is a permanent hole. */
#define MONITOR_HOLE_REQUESTS 64u

/** C6: credits that a client may hold back for echoes and oplock breaks when it counts (cifs, change_conf). */
#define MONITOR_RESERVED_CREDITS 2

struct monitor_channel {
	bool open;
	bool encrypted; /* an encrypted PDU was seen: nothing can be judged from then on */
	bool smb1; /* the server answered in SMB1: nothing is judged, requests are only counted */
	bool negotiated;
	bool multi_credit; /* Connection.SupportsMultiCredit, MS-SMB2 3.2.5.2 */
	bool hole_reported;
	uint16_t dialect; /* from the NEGOTIATE response, as what follows */
	uint32_t max_read; /* bytes */
	uint32_t max_write;
	/* The MessageId window, MS-SMB2 3.2.4.1.6: ids below `low` are used up, ids from `top` on are not granted. */
	uint64_t low;
	uint64_t next; /* above the highest id used; low == next while there is no hole */
	uint64_t top;
	uint64_t hole_since; /* value of `requests` when the hole at `low` opened */
	uint64_t requests; /* sent, CANCEL not counted */
	int64_t credits;
	int64_t let_go; /* of them: what the client may have let go of above its limit while it was idle */
	uint32_t in_flight;
	uint32_t echoes; /* of in_flight: ECHOs */
	uint64_t session; /* of its last complete SESSION_SETUP; 0 = none */
	uint32_t forgotten; /* of in_flight: sent but without a slot in the table */
	uint64_t read_bytes;
	uint64_t sent;
	uint64_t received;
	uint64_t pairs;
};

/** A request that was sent and not finally answered. */
struct monitor_request {
	uint64_t message_id;
	uint64_t async_id; /* 0 before the interim response */
	uint64_t offset; /* READ */
	uint64_t name; /* CREATE: hash of the name */
	uint32_t next; /* same bucket, or free list */
	uint32_t async_next; /* same bucket of AsyncIds */
	uint32_t channel;
	uint32_t chain;
	uint32_t chain_before; /* the member before, while it is outstanding */
	uint32_t chain_after;
	uint32_t handle; /* READ */
	uint32_t read_before; /* neighbours by offset among the READs of the handle */
	uint32_t read_after;
	uint32_t length; /* READ */
	uint32_t create; /* CREATE with a CreateGuid: its entry; else SLOT_NONE */
	uint16_t command;
	uint16_t sequence; /* ChannelSequence */
	bool in_use;
	bool interim; /* STATUS_PENDING came */
	bool related;
};

/** A compound with unanswered members. */
struct monitor_chain {
	uint64_t name; /* of the last CREATE in it, 0 = none */
	uint32_t next;
	uint32_t members;
	uint32_t left;
	uint32_t asked; /* sum of CreditRequest */
	uint32_t granted; /* sum of CreditResponse so far */
	uint32_t producer_status; /* of the last CREATE answered */
	bool producer_answered;
	bool closes; /* the file of its CREATE is closed by a member */
	bool in_use;
};

/** A file by name: its content as the host made it, and how far it was asked for and handed out. */
struct monitor_file {
	uint64_t name; /* hash */
	uint64_t source;
	uint64_t bytes;
	uint64_t run_start; /* of the present run of adjoining READs */
	uint64_t requested_end;
	uint64_t handed_end;
	uint32_t next;
	uint32_t handles;
	bool in_use;
	bool registered; /* smb_monitor_file named it */
	bool known; /* content is still what the host made */
};

struct monitor_handle {
	struct smb2_file_id id;
	uint32_t next;
	uint32_t file;
	uint32_t first_read; /* in flight, by offset */
	uint32_t last_read;
	bool in_use;
};

/** A CREATE that may be sent again. */
struct monitor_create {
	uint8_t guid[16];
	struct smb2_file_id id; /* is_open: of the open that came of it */
	bool is_open;
	bool in_use;
};

/** Slots of one kind: an array with a free list, and hash buckets that lead to the slots. */
struct monitor_table {
	size_t slots; /* byte offset in the block */
	size_t buckets; /* byte offset; uint32_t each */
	uint32_t capacity;
	uint32_t bucket_mask;
	uint32_t used;
	uint32_t free;
};

/** The event being judged, for the text of violations. */
struct monitor_event {
	uint64_t number;
	uint64_t when_ns;
	uint64_t message_id;
	uint32_t channel;
	uint16_t command;
	bool received; /* by the client */
	uint32_t violations; /* found in it so far */
};

struct smb_monitor {
	struct smb_monitor_limits limits;
	struct smb_monitor_expect expect;
	struct monitor_event event;
	uint64_t violations;
	smb_violation_fn report;
	void *report_context;
	struct monitor_table requests;
	struct monitor_table chains; /* no buckets */
	struct monitor_table files;
	struct monitor_table handles;
	size_t async_buckets;
	size_t channels;
	size_t used_bits; /* limits.window bits per channel: ids in use, a ring */
	size_t first_bits; /* the same: ids that were the first of their request */
	size_t creates; /* limits.files of them, a ring */
	uint32_t creates_seen;
	uint32_t largest_application_read; /* bytes */
	uint64_t session; /* the last one that was set up; 0: none was seen */
	uint32_t connections; /* made so far */
	uint32_t breaks_due; /* notifications that are to be acknowledged */
	uint16_t sequence; /* the highest ChannelSequence */
	bool watches_all; /* the first request was NEGOTIATE */
	bool signs; /* a signature was seen */
	bool guid_is_known;
	uint8_t client_guid[16];
	size_t size;
};

static inline void *monitor_at(const struct smb_monitor *monitor, size_t offset)
{
	return (uint8_t *)(uintptr_t)monitor + offset;
}

static inline struct monitor_channel *monitor_channel_at(const struct smb_monitor *monitor, uint32_t channel)
{
	return (struct monitor_channel *)monitor_at(monitor, monitor->channels) + channel;
}

static inline struct monitor_request *monitor_request_at(const struct smb_monitor *monitor, uint32_t slot)
{
	return (struct monitor_request *)monitor_at(monitor, monitor->requests.slots) + slot;
}

static inline struct monitor_chain *monitor_chain_at(const struct smb_monitor *monitor, uint32_t slot)
{
	return (struct monitor_chain *)monitor_at(monitor, monitor->chains.slots) + slot;
}

static inline struct monitor_file *monitor_file_at(const struct smb_monitor *monitor, uint32_t slot)
{
	return (struct monitor_file *)monitor_at(monitor, monitor->files.slots) + slot;
}

static inline struct monitor_handle *monitor_handle_at(const struct smb_monitor *monitor, uint32_t slot)
{
	return (struct monitor_handle *)monitor_at(monitor, monitor->handles.slots) + slot;
}

static inline struct monitor_create *monitor_create_at(const struct smb_monitor *monitor, uint32_t index)
{
	return (struct monitor_create *)monitor_at(monitor, monitor->creates) + index;
}

static inline uint64_t *monitor_bits(const struct smb_monitor *monitor, size_t bits, uint32_t channel)
{
	return (uint64_t *)monitor_at(monitor, bits) + (size_t)channel * (monitor->limits.window / 64);
}

/** One member of a sent PDU. */
struct monitor_member {
	const struct smb2_header *header;
	const struct smb2_message *message; /* NULL: the body was not needed or could not be decoded */
	uint32_t index; /* in its PDU, from 0 */
	uint32_t chain; /* slot, or SLOT_NONE for a single message */
	bool has_next; /* another member follows in the PDU */
	bool chain_related; /* the second member says so for all after it */
	bool chain_signed; /* the first member says so for all after it */
};

/** Count and hand on one violation of the event under judgement. */
void monitor_report(struct smb_monitor *monitor, enum smb_rule rule, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* tables.c: outstanding requests and chains. */
void monitor_tables_init(struct smb_monitor *monitor);
void monitor_buckets_clear(struct smb_monitor *monitor, size_t buckets, uint32_t mask);
/* smb1.c */
void monitor_smb1_sent(struct monitor_channel *channel);
void monitor_smb1_received(struct monitor_channel *channel, const struct smb_pdu *pdu);

uint32_t monitor_request_find(const struct smb_monitor *monitor, uint32_t channel, uint64_t message_id);
/** Returns the slot: SLOT_NONE when the table is full or the id is outstanding already; the request is then only counted. */
uint32_t monitor_request_add(struct smb_monitor *monitor, uint32_t channel, uint64_t message_id);
void monitor_request_remove(struct smb_monitor *monitor, uint32_t slot);
uint32_t monitor_async_find(const struct smb_monitor *monitor, uint32_t channel, uint64_t async_id);
void monitor_async_add(struct smb_monitor *monitor, uint32_t slot, uint64_t async_id);
uint32_t monitor_chain_add(struct smb_monitor *monitor);
void monitor_chain_remove(struct smb_monitor *monitor, uint32_t slot);
bool monitor_tables_are_valid(const struct smb_monitor *monitor);

/* files.c: names, handles and the READs in flight on each. */
void monitor_files_init(struct smb_monitor *monitor);
uint64_t monitor_name_hash(const char *name);
uint64_t monitor_name_hash_utf16(struct smb_blob name);
uint32_t monitor_file_find(const struct smb_monitor *monitor, uint64_t name);
uint32_t monitor_file_need(struct smb_monitor *monitor, uint64_t name);
uint32_t monitor_handle_find(const struct smb_monitor *monitor, struct smb2_file_id id);
void monitor_handle_add(struct smb_monitor *monitor, struct smb2_file_id id, uint64_t name);
void monitor_handle_remove(struct smb_monitor *monitor, uint32_t slot);
/** Enter a READ among those in flight on its handle; returns one that it overlaps, or SLOT_NONE. */
uint32_t monitor_read_link(struct smb_monitor *monitor, uint32_t slot);
void monitor_read_unlink(struct smb_monitor *monitor, uint32_t slot);
bool monitor_files_are_valid(const struct smb_monitor *monitor);

/* window.c: C1, C2, C3. */
void monitor_window_reset(struct smb_monitor *monitor, uint32_t channel);
void monitor_window_take(struct smb_monitor *monitor, uint32_t channel, const struct smb2_header *header);
void monitor_window_idle(struct smb_monitor *monitor, uint32_t channel);
bool monitor_window_is_valid(const struct smb_monitor *monitor, uint32_t channel);

/* credits.c: C4, C5, C6, C7, C11. */
void monitor_charge_check(struct smb_monitor *monitor, const struct monitor_channel *channel,
			  const struct monitor_member *member);
void monitor_credits_spend(struct smb_monitor *monitor, struct monitor_channel *channel,
			   const struct monitor_member *member);
/** `charge`: what was spent just now. */
void monitor_credits_let_go(const struct smb_monitor *monitor, struct monitor_channel *channel, uint32_t charge);
void monitor_credits_grant(struct monitor_channel *channel, uint16_t credits);
void monitor_credits_after_reply(struct smb_monitor *monitor, const struct monitor_channel *channel);
void monitor_credits_idle(struct smb_monitor *monitor, const struct monitor_channel *channel);

/* chains.c: C10, C12 to C15. */
/** Whether the header's place in the PDU and its NextCommand are sound; reports C12 otherwise. */
bool monitor_next_command_check(struct smb_monitor *monitor, enum smb_wire_verdict verdict, uint32_t next_command,
				uint32_t left);
void monitor_body_check(struct smb_monitor *monitor, enum smb_wire_verdict verdict);
void monitor_related_check(struct smb_monitor *monitor, const struct monitor_member *member);
void monitor_chain_member_sent(struct smb_monitor *monitor, const struct monitor_member *member, uint32_t slot);
void monitor_chain_member_answered(struct smb_monitor *monitor, uint32_t slot, const struct smb2_header *header);

/* session.c: C17, C19, C21, C22, C23, C26, C29, C32. */
void monitor_session_sent(struct smb_monitor *monitor, uint32_t channel, const struct monitor_member *member);
void monitor_cancel_sent(struct smb_monitor *monitor, uint32_t channel, const struct smb2_header *header);
/** `message` NULL: it could not be decoded. */
void monitor_break_received(struct smb_monitor *monitor, const struct smb2_header *header,
			    const struct smb2_message *message);
/** The final answer to `request`. */
void monitor_sequence_answered(struct smb_monitor *monitor, const struct monitor_request *request,
			       const struct smb2_header *header);
void monitor_session_answered(struct smb_monitor *monitor, uint32_t channel, const struct smb2_header *header);

/* signing.c: C16. */
void monitor_signature_check(struct smb_monitor *monitor, const struct monitor_member *member);

/* replay.c: C24. */
/** A CREATE left; its body could be decoded. `slot` may be SLOT_NONE. */
void monitor_create_sent(struct smb_monitor *monitor, const struct monitor_member *member, uint32_t slot);
/** It succeeded. */
void monitor_create_answered(struct smb_monitor *monitor, uint32_t slot, const struct smb2_create_rsp *rsp);

/* async.c: C9, C18. */
void monitor_interim(struct smb_monitor *monitor, uint32_t slot, const struct smb2_header *header);
void monitor_final(struct smb_monitor *monitor, uint32_t slot, const struct smb2_header *header);

/* reads.c: C27, C30, C31. */
void monitor_sizes_check(struct smb_monitor *monitor, const struct monitor_channel *channel,
			 const struct smb2_message *message);
void monitor_read_sent(struct smb_monitor *monitor, uint32_t slot, const struct smb2_read_req *read);
void monitor_read_answered(struct smb_monitor *monitor, uint32_t slot, const struct smb2_header *header,
			   const struct smb_slice *payload);
/** A sent WRITE or SET_INFO changes what a file holds: its content is not judged any more. */
void monitor_content_changes(struct smb_monitor *monitor, const struct monitor_member *member);
/** A CREATE succeeded. */
void monitor_file_opened(struct smb_monitor *monitor, uint32_t slot, const struct smb2_create_rsp *create);

/** The FileId in a request body; NULL for commands that have none. */
const struct smb2_file_id *monitor_file_id(const struct smb2_message *message);

static inline bool monitor_file_id_is_related(const struct smb2_file_id *id)
{
	return id->persistent == UINT64_MAX && id->volatile_id == UINT64_MAX;
}

/** Credits a request takes: with CreditCharge 0 one all the same (MS-SMB2 3.2.4.1.3, C5). */
static inline uint32_t monitor_charge(const struct smb2_header *header)
{
	return header->credit_charge ? header->credit_charge : 1;
}

#endif
