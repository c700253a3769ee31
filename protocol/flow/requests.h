/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_FLOW_REQUESTS_H
#define SMB_FLOW_REQUESTS_H

/**
 * The requests under way, found by (channel, MessageId) in constant time (MS-SMB2 3.2.1.7, Connection.
 * OutstandingRequests). A slot belongs to its owner from take to release; in between it is sent, once or (after a
 * channel failed, or for the next piece of the same page) several times. Slot numbers are stable.
 */

#include <stdbool.h>
#include <stdint.h>

#define SMB_REQUEST_NONE UINT32_MAX

enum smb_request_state {
	SMB_REQUEST_FREE,
	SMB_REQUEST_HELD, /* taken, not on the wire */
	SMB_REQUEST_SENT, /* waits for its final answer */
};

struct smb_request {
	enum smb_request_state state;
	uint32_t link; /* FREE: next free slot. SENT: next in its bucket */
	/* SENT */
	uint32_t channel;
	uint64_t message_id;
	uint64_t async_id; /* 0 before an interim answer */
	uint32_t instance; /* of the channel's credits */
	uint16_t command; /* enum smb2_command */
	uint16_t charge; /* CreditCharge */
	uint16_t asked; /* CreditRequest */
	uint8_t credit_class; /* enum smb_credit_class */
	/* The owner's notes. */
	uint8_t purpose;
	uint32_t op;
	uint32_t file;
	uint32_t before; /* window READs that share a page: the one that has its first bytes, ... */
	uint32_t after; /* ... and the one that has its last bytes */
	bool answered; /* it waits for the one before */
	bool head_lost; /* the one before did not bring its part */
	uint64_t head_source; /* else where its data ends, once it is known */
	uint64_t head_end;
	uint32_t chain; /* next member of the same chain, or next slot of the owner's list */
	uint32_t waiters_head; /* operations that wait for this request */
	uint32_t waiters_tail;
	uint64_t offset;
	uint32_t length;
	uint32_t write; /* WRITE from the page cache: its number among its file's */
	uint32_t status; /* the final answer's, for owners that look later */
	uint64_t data_source; /* its data */
	uint64_t data_offset;
	uint32_t data_length;
};

/** The table; the two arrays stay with the caller, who passes the same ones to every call. */
struct smb_requests {
	uint32_t size; /* slots */
	uint32_t taken;
	uint32_t sent;
	uint32_t free_head;
	uint32_t bucket_shift; /* 64 - log2(buckets) */
};

struct smb_request_arrays {
	struct smb_request *slots; /* `size` of them */
	uint32_t *buckets; /* smb_requests_buckets(size) of them */
};

/** Buckets for a table of `size` slots. */
uint32_t smb_requests_buckets(uint32_t size);
void smb_requests_init(struct smb_requests *table, struct smb_request_arrays arrays, uint32_t size);
/** A slot, cleared; SMB_REQUEST_NONE when all are taken. */
uint32_t smb_requests_take(struct smb_requests *table, struct smb_request_arrays arrays);
/** HELD to SENT; channel, message_id, command and what the owner needs are filled in. */
void smb_requests_sent(struct smb_requests *table, struct smb_request_arrays arrays, uint32_t slot);
/** The request that a response to `message_id` on `channel` answers; SMB_REQUEST_NONE when there is none. */
uint32_t smb_requests_find(const struct smb_requests *table, struct smb_request_arrays arrays, uint32_t channel,
			   uint64_t message_id);
/** SENT to HELD: answered for good, or lost with its channel. */
void smb_requests_ended(struct smb_requests *table, struct smb_request_arrays arrays, uint32_t slot);
/** HELD to FREE. */
void smb_requests_release(struct smb_requests *table, struct smb_request_arrays arrays, uint32_t slot);
bool smb_requests_is_valid(const struct smb_requests *table, struct smb_request_arrays arrays);

#endif
