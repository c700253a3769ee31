/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What tells states apart: the forms of their parts, and where the windows of each connection stand to each other. */

#include "model/explore.h"
#include "model/internal.h"

/* Forms are mixed well, so a sum with a factor for each place will do; they need not wait for each other. */
static void add_form(struct model_hash *sum, struct model_hash form, uint64_t factor)
{
	sum->high += form.high * factor;
	sum->low += form.low * (factor ^ UINT64_C(0xff51afd7ed558ccc));
}

/* Factors are odd; one for each place. */
#define FACTOR(place) (UINT64_C(0x9e3779b97f4a7c15) * (2 * (uint64_t)(place) + 1))

#define CLOSED UINT64_MAX /* as the place of a window: no id is that far away */

static void add_wire(const struct model *model, uint32_t number, uint64_t base, struct model_hash *words,
		     struct model_hash *sum, uint32_t place)
{
	const struct model_wire *wire = model_wires_get(model->wires, number);
	bool has_ids = wire->message_id != SMB2_MESSAGE_ID_UNSOLICITED;

	add_form(sum, wire->form, FACTOR(place));
	*words = model_hash_word(*words, has_ids ? wire->message_id - base : CLOSED);
}

struct model_hash model_state_hash(const struct model *model, const struct model_state *state)
{
	const struct model_client_ports *client = model_client_ports(model, state->client);
	const struct model_server_ports *server = model_server_ports(model, state->server);
	struct model_hash words = model_hash_bytes(model_hash_start(0), state->left, sizeof(state->left));
	struct model_hash sum = { 0 };

	add_form(&sum, client->form, FACTOR(0));
	add_form(&sum, server->form, FACTOR(1));
	for (uint32_t i = 0; i < model->config.client_limits.channels; i++) {
		uint64_t base = client->channel[i].next_message_id;
		bool is_open = server->channel[i].is_open;

		words = model_hash_word(words, is_open ? server->channel[i].window_low - base : CLOSED);
		if (state->wire[i][MODEL_TO_SERVER])
			add_wire(model, state->wire[i][MODEL_TO_SERVER], base, &words, &sum, 2 + 2 * i);
		if (state->wire[i][MODEL_TO_CLIENT])
			add_wire(model, state->wire[i][MODEL_TO_CLIENT], base, &words, &sum, 3 + 2 * i);
	}
	words.high += sum.high;
	words.low += sum.low;
	return model_hash_end(words);
}
