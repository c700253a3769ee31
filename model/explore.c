/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The search: levels of states in blocks that threads take one after another. */

#include "model/explore.h"

#include "model/explore_internal.h"
#include "model/lasso.h"

#include <string.h>

#define PROGRESS_SECONDS 0.5
#define BLOCKS_PER_THREAD 2 /* a level with less work is done by one thread */

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
		.transitions = search->before.transitions,
		.swapped = search->before.swapped,
		.spared = search->before.spared,
		.queue = search->ahead.count + search->level.count -
			 MIN(search->level.count, (uint64_t)g_atomic_int_get(&search->taken) * MODEL_BLOCK_STATES),
		.depth = search->depth,
		.seconds = search->before.seconds + seconds_now() - search->begun,
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

void model_search_counted(const struct model_search *search, struct model_before *counted)
{
	struct model_progress numbers;

	add_up(search, &numbers);
	*counted = search->before;
	counted->transitions = numbers.transitions;
	counted->swapped = numbers.swapped;
	counted->spared = numbers.spared;
	counted->seconds = numbers.seconds;
	for (guint i = 0; i < search->thread_count; i++) {
		counted->ends += search->threads[i].ends;
		model_done_add(&counted->done, model_worker_done(search->threads[i].worker));
	}
}

static enum model_bound bound_reached(const struct model_search *search, const struct model_progress *numbers)
{
	const struct model_bounds *bounds = &search->options->bounds;

	if (bounds->states && numbers->states >= bounds->states)
		return MODEL_BOUND_STATES;
	if (bounds->memory_bytes && numbers->memory_bytes >= bounds->memory_bytes)
		return MODEL_BOUND_MEMORY;
	if (bounds->seconds > 0 && numbers->seconds - search->before.seconds >= bounds->seconds)
		return MODEL_BOUND_SECONDS;
	return MODEL_BOUND_NONE;
}

/* Nothing takes the place of a rule that was broken. */
static void end_by(struct model_search *search, enum model_search_end end)
{
	g_atomic_int_compare_and_exchange(&search->end, MODEL_END_NOT, end);
}

/* Between blocks; thread 0 tells the others to end. */
static void look_around(struct model_thread_work *thread)
{
	struct model_search *search = thread->search;
	const struct model_options *options = search->options;
	struct model_progress numbers;

	if (options->stop && *options->stop)
		end_by(search, MODEL_END_STOPPED);
	if (thread != search->threads)
		return;
	add_up(search, &numbers);
	search->bound = bound_reached(search, &numbers);
	if (search->bound)
		end_by(search, MODEL_END_BOUND);
	if (options->progress && numbers.seconds - search->told >= PROGRESS_SECONDS) {
		search->told = numbers.seconds;
		options->progress(options->context, &numbers);
	}
}

/* -------------------------------------------------------------------------------------------------------- level by level */

/* False: a rule is broken, or the search has to end; what is left of the block waits for another time. */
static bool expand_block(struct model_thread_work *thread, struct model_block *block)
{
	uint32_t done = 0;

	while (done < block->count && !g_atomic_int_get(&thread->search->end) &&
	       model_expand(thread, &block->states[done]))
		done++;
	model_expand_all_seen(thread);
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
		model_queue_move(&search->ahead, &search->threads[i].next);
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

static void push_depth(GArray *depths, uint32_t depth, uint64_t until)
{
	while (depths->len < until)
		g_array_append_val(depths, depth);
}

/* Seen, not gone on from; a search that is saved may go deeper later. */
static void leave_at_bound(struct model_search *search, const struct model_state *state, uint32_t depth)
{
	search->bound = MODEL_BOUND_DEPTH;
	if (!search->options->saving)
		return;
	model_queue_push(&search->ahead, state);
	push_depth(search->ahead_depths, depth, search->ahead.count);
}

/* False: a rule is broken. */
static bool go_on_from(struct model_search *search, const struct model_state *state, uint32_t depth)
{
	struct model_thread_work *thread = &search->threads[0];
	uint32_t deepest = search->options->bounds.depth;

	search->depth = MAX(search->depth, depth);
	if (deepest && depth >= deepest) {
		leave_at_bound(search, state, depth);
		return true;
	}
	if (!model_expand(thread, state))
		return false;
	model_expand_all_seen(thread);
	push_depth(search->depths, depth + 1, thread->next.count);
	return true;
}

/* The states ahead are a stack; the depth of each is kept beside it. */
static void search_stack(struct model_search *search)
{
	struct model_thread_work *thread = &search->threads[0];
	struct model_state state;
	uint64_t done = 0;

	while (!search->end && model_queue_pop(&thread->next, &state)) {
		uint32_t depth = g_array_index(search->depths, uint32_t, search->depths->len - 1);
		enum model_bound before;

		g_array_set_size(search->depths, search->depths->len - 1);
		if (!go_on_from(search, &state, depth))
			return;
		before = search->bound;
		if (++done % MODEL_BLOCK_STATES == 0)
			look_around(thread);
		if (!search->bound)
			search->bound = before;
	}
}

/* What an earlier run left at its bound on depth lies below the stack. */
static void search_in_depth(struct model_search *search)
{
	struct model_queue *stack = &search->threads[0].next;

	model_queue_move(stack, &search->ahead);
	model_queue_move(stack, &search->level);
	g_array_append_vals(search->ahead_depths, search->depths->data, search->depths->len);
	g_array_set_size(search->depths, 0);
	g_array_append_vals(search->depths, search->ahead_depths->data, search->ahead_depths->len);
	g_array_set_size(search->ahead_depths, 0);
	push_depth(search->depths, 0, stack->count);
	search_stack(search);
	if (!search->end && search->bound)
		search->end = MODEL_END_BOUND;
	model_queue_move(&search->level, stack);
}

/* ---------------------------------------------------------------------------------------------------------------- in all */

static void begin(struct model_search *search)
{
	search->visited = model_visited_new();
	model_queue_init(&search->level);
	model_queue_init(&search->ahead);
	search->depths = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	search->ahead_depths = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_mutex_init(&search->lock);
	search->thread_count = search->options->depth_first ? 1 : MAX(search->options->jobs, 1);
	search->threads = g_new0(struct model_thread_work, search->thread_count);
	for (guint i = 0; i < search->thread_count; i++) {
		search->threads[i].search = search;
		search->threads[i].worker = model_worker_new(search->model);
		search->threads[i].edges = g_array_new(FALSE, FALSE, sizeof(struct model_edge));
		search->threads[i].end_states = g_array_new(FALSE, FALSE, sizeof(struct model_hash));
		search->threads[i].successors = model_successors_new();
		model_queue_init(&search->threads[i].next);
	}
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
	g_array_unref(search->depths);
	g_array_unref(search->ahead_depths);
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
	struct model_before counted;

	search->taken = 0;
	add_up(search, &result->numbers);
	result->outcome = outcomes[search->end];
	result->bound = search->end == MODEL_END_BOUND ? search->bound : MODEL_BOUND_NONE;
	model_search_counted(search, &counted);
	result->ends = counted.ends;
	result->done = counted.done;
	if (search->is_broken) {
		result->found = search->found;
		result->trace = search->round ? search->round : model_trace_find(search);
		if (search->is_trap)
			model_lasso_close(search->threads[0].worker, result->trace, &result->found);
		if (search->config->symmetry)
			model_symmetry_unfold(search->model, result->trace, &result->found);
	}
}

static bool has_to_be_saved(const struct model_saving *saving, enum model_outcome outcome)
{
	if (!saving || !saving->path)
		return false;
	return outcome == MODEL_STOPPED || (outcome == MODEL_BOUND && !saving->is_default);
}

static void explore(struct model_search *search, struct model_result *result)
{
	search->begun = seconds_now();
	if (search->options->depth_first)
		search_in_depth(search);
	else
		search_by_levels(search);
	if (search->options->liveness && !search->end)
		model_liveness_check(search);
	conclude(search, result);
	if (has_to_be_saved(search->options->saving, result->outcome))
		model_save_write(search, &result->saved_bytes, &result->error);
}

void model_explore(struct model *model, const struct model_options *options, struct model_result *result)
{
	struct model_search search = { .model = model, .options = options, .config = model_config_of(model) };
	const struct model_saving *saving = options->saving;

	*result = (struct model_result){ 0 };
	begin(&search);
	if (!saving || !saving->resume)
		begin_at_first(&search);
	else if (!model_save_read(&search, &result->error))
		result->outcome = MODEL_REFUSED;
	if (result->outcome != MODEL_REFUSED)
		explore(&search, result);
	end(&search);
}

void model_result_clear(struct model_result *result)
{
	if (result->trace)
		g_array_unref(result->trace);
	result->trace = NULL;
	g_clear_error(&result->error);
}
