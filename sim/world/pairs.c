/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "sim/world/pairs.h"

#include "protocol/wire/message.h"

GArray *sim_pairs_new(void)
{
	return g_array_new(FALSE, TRUE, sizeof(struct sim_pair));
}

void sim_pairs_sent(GArray *pairs, uint32_t channel, const struct smb_pdu *pdu, uint64_t now_ns)
{
	struct sim_pair pair = { .channel = channel, .sent_ns = now_ns };
	struct smb_chain_reader reader;
	struct smb2_message message;

	smb_chain_read(&reader, pdu);
	while (pair.said.count < SMB_NOTATION_MEMBERS && smb_chain_next(&reader, &message) == SMB_WIRE_OK)
		smb_notation_request(&pair.said.members[pair.said.count++], &message);
	pair.unanswered = pair.said.count;
	if (pair.said.count)
		g_array_append_val(pairs, pair);
}

/* Ids are unique on a channel, and the pair that waits is most likely a late one. */
static void receive_one(GArray *pairs, uint32_t channel, const struct smb2_message *message, uint64_t now_ns)
{
	for (guint i = pairs->len; i--;) {
		struct sim_pair *pair = &g_array_index(pairs, struct sim_pair, i);

		for (uint32_t n = 0; pair->channel == channel && n < pair->said.count; n++) {
			if (pair->said.members[n].message_id != message->header.message_id)
				continue;
			smb_notation_response(&pair->said.members[n], message);
			pair->unanswered -= message->header.status != STATUS_PENDING && pair->unanswered;
			if (!pair->unanswered)
				pair->answered_ns = now_ns;
			return;
		}
	}
}

void sim_pairs_received(GArray *pairs, uint32_t channel, const struct smb_pdu *pdu, uint64_t now_ns)
{
	struct smb_chain_reader reader;
	struct smb2_message message;

	smb_chain_read(&reader, pdu);
	while (smb_chain_next(&reader, &message) == SMB_WIRE_OK)
		receive_one(pairs, channel, &message, now_ns);
}

char *sim_pairs_text(const GArray *pairs, guint first, guint end, bool detailed)
{
	g_autofree struct smb_notation_pair *said = NULL;
	guint count = end - first;
	gsize size;
	char *text;

	g_assert(first <= end && end <= pairs->len);
	said = g_new(struct smb_notation_pair, MAX(count, 1));
	for (guint i = 0; i < count; i++)
		said[i] = g_array_index(pairs, struct sim_pair, first + i).said;
	size = smb_notation_print(said, count, detailed, NULL, 0) + 1;
	text = g_malloc(size);
	smb_notation_print(said, count, detailed, text, size);
	return text;
}
