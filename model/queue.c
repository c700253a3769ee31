/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* States that wait, in blocks. */

#include "model/explore_internal.h"

static struct model_block *block_new(void)
{
	struct model_block *block = g_new(struct model_block, 1);

	block->count = 0;
	return block;
}

void model_queue_push(struct model_queue *queue, const struct model_state *state)
{
	struct model_block *last = queue->blocks->len ? queue->blocks->pdata[queue->blocks->len - 1] : NULL;

	if (!last || last->count == MODEL_BLOCK_STATES) {
		last = block_new();
		g_ptr_array_add(queue->blocks, last);
	}
	last->states[last->count++] = *state;
	queue->count++;
}

void model_queue_init(struct model_queue *queue)
{
	queue->blocks = g_ptr_array_new();
	queue->count = 0;
}

void model_queue_clear(struct model_queue *queue)
{
	for (guint i = 0; i < queue->blocks->len; i++)
		g_free(queue->blocks->pdata[i]);
	g_ptr_array_unref(queue->blocks);
	queue->blocks = NULL;
	queue->count = 0;
}

void model_queue_move(struct model_queue *to, struct model_queue *from)
{
	for (guint i = 0; i < from->blocks->len; i++)
		g_ptr_array_add(to->blocks, from->blocks->pdata[i]);
	to->count += from->count;
	g_ptr_array_set_size(from->blocks, 0);
	from->count = 0;
}

bool model_queue_pop(struct model_queue *stack, struct model_state *state)
{
	struct model_block *last;

	if (!stack->count)
		return false;
	last = stack->blocks->pdata[stack->blocks->len - 1];
	*state = last->states[--last->count];
	stack->count--;
	if (!last->count) {
		g_ptr_array_remove_index(stack->blocks, stack->blocks->len - 1);
		g_free(last);
	}
	return true;
}
