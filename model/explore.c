/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The search: levels of states in blocks that threads take one after another. */

#include "model/explore.h"

#include "model/explore_internal.h"
#include "model/lasso.h"

#include <string.h>

#define PROGRESS_SECONDS 0.5
#define BLOCKS_PER_THREAD 2 /* a level with less work is done by one thread */

/* ------------------------------------------------------------------------------------------------------------- queues */

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

/* All of `from` goes behind `to`. */
static void queue_move(struct model_queue *to, struct model_queue *from)
{
	for (guint i = 0; i < from->blocks->len; i++)
		g_ptr_array_add(to->blocks, from->blocks->pdata[i]);
	to->count += from->count;
	g_ptr_array_set_size(from->blocks, 0);
	from->count = 0;
}

/* ------------------------------------------------------------------------------------------------------ bounds, progress */

static double seconds_now(void)
{
	return (double)g_get_monotonic_time() / 1e6;
}

static void add_up(const struct model_search *search, struct model_progress *numbers)
{
	struct model_numbers kept;

	model_look(search->model, &kept);
	*numbers = (struct model_progress){
		.states = model_visited_count(search->visited),
		.transitions = search->transitions_before,
		.queue = search->level.count -
			 MIN(search->level.count, (uint64_t)g_atomic_int_get(&search->taken) * MODEL_BLOCK_STATES),
		.depth = search->depth,
		.seconds = search->seconds_before + seconds_now() - search->begun,
		.visited_bytes = model_visited_bytes(search->visited),
	};
	for (guint i = 0; i < search->thread_count; i++) {
		numbers->transitions += search->threads[i].transitions;
		numbers->swapped += search->threads[i].swapped;
		numbers->spared += search->threads[i].spared;
		numbers->queue += search->threads[i].next.count;
	}
	numbers->memory_bytes = numbers->visited_bytes + kept.bytes + numbers->queue * sizeof(struct model_state);
}

static enum model_bound bound_reached(const struct model_bounds *bounds, const struct model_progress *numbers)
{
	if (bounds->states && numbers->states >= bounds->states)
		return MODEL_BOUND_STATES;
	if (bounds->memory_bytes && numbers->memory_bytes >= bounds->memory_bytes)
		return MODEL_BOUND_MEMORY;
	if (bounds->seconds > 0 && numbers->seconds >= bounds->seconds)
		return MODEL_BOUND_SECONDS;
	return MODEL_BOUND_NONE;
}

/* Between blocks; thread 0 tells the others to end. */
static void look_around(struct model_thread_work *thread)
{
	struct model_search *search = thread->search;
	const struct model_options *options = search->options;
	struct model_progress numbers;

	if (options->stop && *options->stop)
		g_atomic_int_set(&search->end, MODEL_END_STOPPED);
	if (thread != search->threads)
		return;
	add_up(search, &numbers);
	search->bound = bound_reached(&options->bounds, &numbers);
	if (search->bound)
		g_atomic_int_set(&search->end, MODEL_END_BOUND);
	if (options->progress && numbers.seconds - search->told >= PROGRESS_SECONDS) {
		search->told = numbers.seconds;
		options->progress(options->context, &numbers);
	}
}

/* ----------------------------------------------------------------------------------------------------------- exploring */

static void note_broken(struct model_thread_work *thread, const struct model_state *state,
			const struct model_move *move)
{
	struct model_search *search = thread->search;

	g_mutex_lock(&search->lock);
	if (!search->is_broken) {
		search->is_broken = true;
		search->found = *model_broken(thread->worker);
		search->broken_at = model_state_hash(thread->search->model, state);
		search->has_move = move != NULL;
		if (move)
			search->broken_by = *move;
		g_atomic_int_set(&search->end, MODEL_END_BROKEN);
	}
	g_mutex_unlock(&search->lock);
}

/* What comes of the moves waits until there is more of it, so that the places of the hashes are on their way to the
 * cache meanwhile. */
#define SUCCESSORS_ENOUGH 64

struct successor {
	struct model_state state;
	struct model_hash hash;
	uint32_t parent;
	bool is_known;
};

/* Most ways to a state are found one soon after the other: those found lately need no look into the large table. */
#define RECENT_STATES 8192u

struct successors {
	struct model_hash recent[RECENT_STATES];
	uint32_t count;
	struct successor list[SUCCESSORS_ENOUGH + MODEL_MOVES_MAX];
};

static void add_successors(struct model_thread_work *thread)
{
	struct successors *next = thread->successors;

	for (uint32_t i = 0; i < next->count; i++) {
		const struct successor *successor = &next->list[i];

		if (successor->is_known ||
		    !model_visited_add(thread->search->visited, successor->hash, successor->parent))
			continue;
		model_queue_push(&thread->next, &successor->state);
		if (thread->search->config->symmetry)
			thread->swapped += model_state_orbit(thread->search->model, &successor->state) - 1;
	}
	next->count = 0;
}

static bool do_moves(struct model_thread_work *thread, const struct model_state *state, const struct model_move *moves,
		     uint32_t count)
{
	struct successors *next = thread->successors;
	uint32_t parent = model_visited_prefix(model_state_hash(thread->search->model, state));

	for (uint32_t i = 0; i < count; i++) {
		struct successor *successor = &next->list[next->count + i];
		struct model_hash *recent;

		thread->transitions++;
		if (!model_do(thread->worker, state, moves[i], &successor->state)) {
			note_broken(thread, state, &moves[i]);
			return false;
		}
		successor->hash = model_state_hash(thread->search->model, &successor->state);
		successor->parent = parent;
		recent = &next->recent[successor->hash.low % RECENT_STATES];
		successor->is_known = model_hash_equal(*recent, successor->hash);
		if (successor->is_known)
			continue;
		*recent = successor->hash;
		model_visited_prefetch(thread->search->visited, successor->hash);
	}
	return true;
}

static void note_end(struct model_thread_work *thread, const struct model_state *state)
{
	struct model_hash hash = model_state_hash(thread->search->model, state);

	if (thread->search->options->liveness)
		g_array_append_val(thread->end_states, hash);
}

/* What a fault leads to need never happen. */
static void note_edges(struct model_thread_work *thread, const struct model_state *state,
		       const struct model_move *moves, uint32_t count)
{
	const struct successor *next = thread->successors->list + thread->successors->count;
	struct model_edge edge = { .from = model_state_hash(thread->search->model, state) };

	for (uint32_t i = 0; i < count; i++) {
		if (memcmp(next[i].state.left, state->left, sizeof(state->left)) != 0)
			continue;
		edge.to = next[i].hash;
		edge.what = model_edge_what(thread->search->model, state, moves[i]);
		g_array_append_val(thread->edges, edge);
	}
}

static uint32_t leave_out(struct model_thread_work *thread, const struct model_state *state, struct model_move *moves,
			  uint32_t count)
{
	uint32_t kept = model_ample(thread->worker, state, moves, count);

	thread->spared += count - kept;
	return kept;
}

/* What comes of the state's moves is seen at the latest with the next add_successors. False: a rule is broken. */
static bool expand(struct model_thread_work *thread, const struct model_state *state)
{
	struct model_search *search = thread->search;
	struct model_move moves[MODEL_MOVES_MAX];
	uint32_t count = model_moves(thread->worker, state, moves);

	if (!count) {
		thread->ends++;
		note_end(thread, state);
		if (model_check_end(thread->worker, state))
			return true;
		note_broken(thread, state, NULL);
		return false;
	}
	if (search->config->partial_order)
		count = leave_out(thread, state, moves, count);
	if (!do_moves(thread, state, moves, count))
		return false;
	if (search->options->liveness)
		note_edges(thread, state, moves, count);
	thread->successors->count += count;
	if (thread->successors->count >= SUCCESSORS_ENOUGH)
		add_successors(thread);
	return true;
}

/* False: a rule is broken, or the search has to end; what is left of the block waits for another time. */
static bool expand_block(struct model_thread_work *thread, struct model_block *block)
{
	uint32_t done = 0;

	while (done < block->count && !g_atomic_int_get(&thread->search->end) && expand(thread, &block->states[done]))
		done++;
	add_successors(thread);
	block->count -= done;
	memmove(block->states, block->states + done, block->count * sizeof(block->states[0]));
	return !block->count;
}

static void *work_on_level(void *argument)
{
	struct model_thread_work *thread = argument;
	struct model_search *search = thread->search;

	for (;;) {
		guint block = (guint)g_atomic_int_add(&search->taken, 1);

		if (block >= search->level.blocks->len || !expand_block(thread, search->level.blocks->pdata[block]))
			return NULL;
		look_around(thread);
	}
}

static void run_level(struct model_search *search)
{
	guint threads = search->level.blocks->len / BLOCKS_PER_THREAD;

	threads = CLAMP(threads, 1, search->thread_count);
	for (guint i = 1; i < threads; i++)
		search->threads[i].thread = g_thread_new("explorer", work_on_level, &search->threads[i]);
	work_on_level(&search->threads[0]);
	for (guint i = 1; i < threads; i++)
		g_thread_join(search->threads[i].thread);
}

/* What was found goes behind what is left of this level, or is the next one. */
static void next_level(struct model_search *search)
{
	struct model_queue rest;

	model_queue_init(&rest);
	for (guint i = 0; i < search->level.blocks->len; i++) {
		struct model_block *block = search->level.blocks->pdata[i];

		if (block->count) {
			g_ptr_array_add(rest.blocks, block);
			rest.count += block->count;
		} else {
			g_free(block);
		}
	}
	g_ptr_array_unref(search->level.blocks);
	search->level = rest;
	for (guint i = 0; i < search->thread_count; i++)
		queue_move(&search->ahead, &search->threads[i].next);
	if (search->level.count)
		return;
	g_ptr_array_unref(search->level.blocks);
	search->level = search->ahead;
	model_queue_init(&search->ahead);
	search->depth += search->level.count > 0;
}

static void search_by_levels(struct model_search *search)
{
	const struct model_bounds *bounds = &search->options->bounds;

	while (search->level.count && !search->end) {
		if (bounds->depth && search->depth >= bounds->depth) {
			search->bound = MODEL_BOUND_DEPTH;
			search->end = MODEL_END_BOUND;
			return;
		}
		search->taken = 0;
		run_level(search);
		next_level(search);
	}
}

/* ------------------------------------------------------------------------------------------------------------ depth first */

static bool pop(struct model_queue *stack, struct model_state *state)
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

/* The states ahead are a stack; the depth of each is kept beside it. */
static void search_in_depth(struct model_search *search)
{
	struct model_thread_work *thread = &search->threads[0];
	const struct model_bounds *bounds = &search->options->bounds;
	g_autoptr(GArray) depths = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct model_state state;
	uint64_t done = 0;

	queue_move(&thread->next, &search->level);
	for (uint64_t i = 0; i < thread->next.count; i++)
		g_array_append_val(depths, search->depth);
	while (!search->end && pop(&thread->next, &state)) {
		uint32_t depth = g_array_index(depths, uint32_t, depths->len - 1);

		g_array_set_size(depths, depths->len - 1);
		search->depth = MAX(search->depth, depth);
		if (bounds->depth && depth >= bounds->depth) {
			search->bound = MODEL_BOUND_DEPTH; /* seen, not gone on from */
			continue;
		}
		if (!expand(thread, &state))
			return;
		add_successors(thread);
		for (depth++; depths->len < thread->next.count;)
			g_array_append_val(depths, depth);
		if (++done % MODEL_BLOCK_STATES == 0) {
			enum model_bound before = search->bound;

			look_around(thread);
			if (!search->bound)
				search->bound = before;
		}
	}
	if (!search->end && search->bound)
		search->end = MODEL_END_BOUND;
	queue_move(&search->level, &thread->next);
}

/* ---------------------------------------------------------------------------------------------------------------- in all */

static void begin(struct model_search *search)
{
	search->visited = model_visited_new();
	model_queue_init(&search->level);
	model_queue_init(&search->ahead);
	g_mutex_init(&search->lock);
	search->thread_count = search->options->depth_first ? 1 : MAX(search->options->jobs, 1);
	search->threads = g_new0(struct model_thread_work, search->thread_count);
	for (guint i = 0; i < search->thread_count; i++) {
		search->threads[i].search = search;
		search->threads[i].worker = model_worker_new(search->model);
		search->threads[i].edges = g_array_new(FALSE, FALSE, sizeof(struct model_edge));
		search->threads[i].end_states = g_array_new(FALSE, FALSE, sizeof(struct model_hash));
		search->threads[i].successors = g_new0(struct successors, 1);
		model_queue_init(&search->threads[i].next);
	}
	search->begun = seconds_now();
}

static void begin_at_first(struct model_search *search)
{
	struct model_state first;

	model_first_state(search->model, &first);
	model_visited_add(search->visited, model_state_hash(search->model, &first), 0);
	model_queue_push(&search->level, &first);
}

static void end(struct model_search *search)
{
	for (guint i = 0; i < search->thread_count; i++) {
		model_worker_free(search->threads[i].worker);
		g_array_unref(search->threads[i].edges);
		g_array_unref(search->threads[i].end_states);
		g_free(search->threads[i].successors);
		model_queue_clear(&search->threads[i].next);
	}
	g_free(search->threads);
	model_queue_clear(&search->level);
	model_queue_clear(&search->ahead);
	model_visited_free(search->visited);
	g_mutex_clear(&search->lock);
}

static void conclude(struct model_search *search, struct model_result *result)
{
	static const enum model_outcome outcomes[] = {
		[MODEL_END_NOT] = MODEL_HOLDS,
		[MODEL_END_BROKEN] = MODEL_BROKEN,
		[MODEL_END_BOUND] = MODEL_BOUND,
		[MODEL_END_STOPPED] = MODEL_STOPPED,
	};

	search->taken = 0;
	add_up(search, &result->numbers);
	result->numbers.queue = search->level.count + search->ahead.count;
	result->outcome = outcomes[search->end];
	result->bound = search->end == MODEL_END_BOUND ? search->bound : MODEL_BOUND_NONE;
	result->ends = search->ends_before;
	for (guint i = 0; i < search->thread_count; i++) {
		result->ends += search->threads[i].ends;
		model_done_add(&result->done, model_worker_done(search->threads[i].worker));
	}
	if (search->is_broken) {
		result->found = search->found;
		result->trace = search->round ? search->round : model_trace_find(search);
		if (search->is_trap)
			model_lasso_close(search->threads[0].worker, result->trace, &result->found);
		if (search->config->symmetry)
			model_symmetry_unfold(search->model, result->trace, &result->found);
	}
}

void model_explore(struct model *model, const struct model_options *options, struct model_result *result)
{
	struct model_search search = { .model = model, .options = options, .config = model_config_of(model) };

	*result = (struct model_result){ 0 };
	begin(&search);
	begin_at_first(&search);
	if (options->depth_first)
		search_in_depth(&search);
	else
		search_by_levels(&search);
	if (options->liveness && !search.end)
		model_liveness_check(&search);
	conclude(&search, result);
	end(&search);
}

void model_result_clear(struct model_result *result)
{
	if (result->trace)
		g_array_unref(result->trace);
	result->trace = NULL;
}
