/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/memo.h"

struct model_memo *model_memo_new(void)
{
	struct model_memo *memo = g_new0(struct model_memo, 1);

	model_index_init(&memo->index);
	model_arena_init(&memo->arena);
	g_mutex_init(&memo->lock);
	return memo;
}

void model_memo_free(struct model_memo *memo)
{
	if (!memo)
		return;
	model_index_clear(&memo->index);
	model_arena_clear(&memo->arena);
	g_mutex_clear(&memo->lock);
	g_free(memo);
}

static const struct model_effect *add(struct model_memo *memo, struct model_memo_key key,
				      const struct model_effect *effect)
{
	size_t outputs = effect->outputs * sizeof(effect->output[0]);
	uint32_t number;
	struct model_memo_record *record = model_arena_take(&memo->arena, sizeof(*record) + outputs, &number);

	record->event = key.event;
	record->part = key.part;
	record->effect = *effect;
	memcpy(record->effect.output, effect->output, outputs);
	model_index_add(&memo->index, model_memo_hash(key), number);
	return &record->effect;
}

const struct model_effect *model_memo_add(struct model_memo *memo, uint32_t part, struct model_event event,
					  const struct model_effect *effect)
{
	const struct model_effect *kept;

	g_mutex_lock(&memo->lock);
	kept = model_memo_find(memo, part, event);
	if (!kept)
		kept = add(memo, model_memo_key(part, event), effect);
	g_mutex_unlock(&memo->lock);
	return kept;
}

bool model_memo_each(const struct model_memo *memo, model_memo_fn each, void *context)
{
	size_t size = 0;

	for (uint32_t number = 0; (number = model_arena_next(&memo->arena, number, size));) {
		const struct model_memo_record *record = model_arena_at(&memo->arena, number);

		if (!each(context, record))
			return false;
		size = sizeof(*record) + record->effect.outputs * sizeof(record->effect.output[0]);
	}
	return true;
}

void model_memo_restore(struct model_memo *memo, const struct model_memo_record *record)
{
	struct model_memo_key key = { .event = record->event, .part = record->part };

	if (!model_index_find(&memo->index, model_memo_hash(key), model_memo_is, memo, &key))
		add(memo, key, &record->effect);
}

uint64_t model_memo_count(const struct model_memo *memo)
{
	return memo->index.count;
}

uint64_t model_memo_bytes(const struct model_memo *memo)
{
	return sizeof(*memo) + model_index_bytes(&memo->index) + model_arena_bytes(&memo->arena);
}
