/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* PDUs, kept once each. */

#include "model/internal.h"

#include "protocol/wire/header.h"

#include <string.h>

static void sum_up(struct model_pdu *kept, const struct smb_pdu *pdu, bool is_request)
{
	struct smb2_header header;
	uint32_t position = 0, next;

	do {
		if (smb2_header_decode(pdu->bytes + position, pdu->length - position, &header, &next) != SMB_WIRE_OK)
			return;
		kept->headers++;
		if (!is_request)
			kept->credits += header.credits;
		else if (header.command != SMB2_CANCEL)
			kept->credits += header.credit_charge ? header.credit_charge : 1;
		position += next;
	} while (next && position < pdu->length);
	kept->is_compound = kept->headers > 1;
}

uint32_t model_pdu_put(struct model *model, const struct smb_pdu *pdu, bool is_request)
{
	g_autofree struct model_pdu *kept = g_malloc0(sizeof(*kept) + pdu->length);
	struct model_hash hash = model_hash_start(is_request);

	kept->payload = pdu->payload;
	kept->length = pdu->length;
	memcpy(kept->bytes, pdu->bytes, pdu->length);
	sum_up(kept, pdu, is_request);
	hash = model_hash_bytes(hash, pdu->bytes, pdu->length);
	hash = model_hash_word(hash, pdu->payload.source);
	hash = model_hash_word(hash, pdu->payload.offset);
	hash = model_hash_word(hash, pdu->payload.length);
	return model_store_put(model->pdus, model_hash_end(hash), kept, (uint32_t)sizeof(*kept) + pdu->length);
}

struct smb_pdu model_pdu_as_smb(const struct model_pdu *pdu)
{
	return (struct smb_pdu){ .bytes = pdu->bytes, .length = pdu->length, .payload = pdu->payload };
}
