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
		if (!kept->headers++)
			kept->message_id = header.message_id;
		if (!is_request)
			kept->credits += header.credits;
		else if (header.command != SMB2_CANCEL)
			kept->credits += header.credit_charge ? header.credit_charge : 1;
		position += next;
	} while (next && position < pdu->length);
	kept->is_compound = kept->headers > 1;
}

static struct model_hash hash_of(const uint8_t *bytes, const struct smb_pdu *pdu, bool is_request)
{
	struct model_hash hash = model_hash_bytes(model_hash_start(is_request), bytes, pdu->length);

	hash = model_hash_word(hash, pdu->payload.source);
	hash = model_hash_word(hash, pdu->payload.offset);
	return model_hash_end(model_hash_word(hash, pdu->payload.length));
}

/* SMB1 messages have no ids as far as forms go. */
static struct model_hash form_of(const struct model_pdu *kept, const struct smb_pdu *pdu, bool is_request)
{
	g_autofree uint8_t *bytes = g_memdup2(pdu->bytes, pdu->length);

	if (kept->message_id != SMB2_MESSAGE_ID_UNSOLICITED)
		smb2_ids_relative(bytes, pdu->length, kept->message_id);
	return hash_of(bytes, pdu, is_request);
}

uint32_t model_pdu_put(struct model *model, const struct smb_pdu *pdu, bool is_request)
{
	struct model_hash hash = hash_of(pdu->bytes, pdu, is_request);
	uint32_t number = model_store_find(model->pdus, hash);
	g_autofree struct model_pdu *kept = NULL;

	if (number)
		return number;
	kept = g_malloc0(sizeof(*kept) + pdu->length);
	kept->payload = pdu->payload;
	kept->message_id = SMB2_MESSAGE_ID_UNSOLICITED;
	kept->length = pdu->length;
	memcpy(kept->bytes, pdu->bytes, pdu->length);
	sum_up(kept, pdu, is_request);
	kept->form = form_of(kept, pdu, is_request);
	return model_store_put(model->pdus, hash, kept, (uint32_t)sizeof(*kept) + pdu->length);
}

struct smb_pdu model_pdu_as_smb(const struct model_pdu *pdu)
{
	return (struct smb_pdu){ .bytes = pdu->bytes, .length = pdu->length, .payload = pdu->payload };
}
