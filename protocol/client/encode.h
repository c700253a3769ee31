/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_CLIENT_ENCODE_H
#define SMB_CLIENT_ENCODE_H

/** Writing the canonical form, piece by piece; private to encode*.c. */

#include "protocol/client/state.h"
#include "protocol/wire/encoder.h"

#define RANKS_MAX 256u /* tables of requests up to this size are numbered canonically, larger ones by slot */

struct encoder {
	const struct smb_client *client;
	struct smb_encoder out;
	uint32_t order[RANKS_MAX]; /* slots in canonical order */
	uint32_t rank[RANKS_MAX]; /* the place of each slot in it; NONE: the slot is free */
};

static inline void put8(struct encoder *encoder, uint64_t value)
{
	smb_encode8(&encoder->out, value);
}

static inline void put32(struct encoder *encoder, uint64_t value)
{
	smb_encode32(&encoder->out, value);
}

static inline void put64(struct encoder *encoder, uint64_t value)
{
	smb_encode64(&encoder->out, value);
}

static inline void put_bytes(struct encoder *encoder, const void *bytes, size_t length)
{
	smb_encode_bytes(&encoder->out, bytes, length);
}

static inline void put_slice(struct encoder *encoder, struct smb_slice slice)
{
	put32(encoder, slice.length);
	if (!slice.length)
		return;
	put64(encoder, slice.source);
	put64(encoder, slice.offset);
}

static inline void put_time(struct encoder *encoder, uint64_t when_ns)
{
	put64(encoder, when_ns == NEVER ? NEVER : when_ns - encoder->client->now_ns);
}

static inline uint32_t rank_of(const struct encoder *encoder, uint32_t slot)
{
	return slot == NONE || encoder->client->requests.size > RANKS_MAX ? slot : encoder->rank[slot];
}

static inline void put_list(struct encoder *encoder, struct client_list list)
{
	for (uint32_t op = list.head; op != NONE; op = client_op_at(encoder->client, op)->link)
		put32(encoder, op);
	put32(encoder, NONE);
}

/* encode_op.c */
void client_encode_op(struct encoder *encoder, const struct client_op *op);
/** The request that carries WRITE `write` of a file, by its canonical number. */
uint32_t client_encode_rank_of_write(const struct encoder *encoder, uint32_t file, uint32_t write);

/* encode_file.c */
void client_encode_file(struct encoder *encoder, uint32_t file);

#endif
