/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A search as a file. The order of what is in it is that of the functions below, the same for writing and reading. */

#include "model/save.h"

#include "model/explore_internal.h"
#include "model/internal.h"
#include "model/stream.h"

#include <string.h>

#define FORMAT 2u
#define TEXT_MAX 4096u /* bytes */

/* What has to be the same in the search that reads it, and what was counted. */
struct head {
	struct model_hash config;
	struct model_hash build; /* what a compiler, or a profile that is read from a file, may change */
	uint32_t depth;
	uint8_t depth_first;
	uint8_t liveness;
	uint8_t spare[2];
	uint64_t server_broke;
	struct model_before before;
};

struct thing {
	struct model_hash hash;
	uint32_t number;
	uint32_t length;
};

/* 20 bytes, as there are many of them. */
struct seen {
	uint32_t hash[4];
	uint32_t parent;
};

static struct model_hash hash_of(const char *text)
{
	return model_hash_end(model_hash_bytes(model_hash_start(5), text, strlen(text)));
}

/* Parts are kept as what differs from these blocks. */
static struct model_hash build_of(const struct model *model)
{
	const size_t sizes[] = { sizeof(struct model_state), sizeof(struct model_edge), sizeof(struct model_wire),
				 sizeof(struct model_pdu) };
	struct model_hash hash = model_hash_bytes(model_hash_start(6), sizes, sizeof(sizes));

	hash = model_hash_bytes(hash, model->client_base, model->client_block);
	hash = model_hash_bytes(hash, model->server_base, model->server_block);
	return model_hash_end(model_hash_bytes(hash, &model->first, sizeof(model->first)));
}

static struct head head_of(const struct model_search *search)
{
	const struct model_options *options = search->options;
	struct head head;

	memset(&head, 0, sizeof(head));
	head.config = hash_of(options->saving->config);
	head.build = build_of(search->model);
	head.depth = search->depth;
	head.depth_first = options->depth_first;
	head.liveness = options->liveness;
	head.server_broke = model_server_broke(search->model);
	model_search_counted(search, &head.before);
	return head;
}

/* ------------------------------------------------------------------------------------------------------------- writing */

static void put_count(struct model_stream_out *out, uint64_t count)
{
	model_stream_put(out, &count, sizeof(count));
}

static void put_text(struct model_stream_out *out, const char *text)
{
	size_t length = MIN(strlen(text), TEXT_MAX);

	put_count(out, length);
	model_stream_put(out, text, length);
}

static bool put_thing(void *context, uint32_t number, struct model_hash hash, const void *bytes, uint32_t length)
{
	struct thing thing = { .hash = hash, .number = number, .length = length };

	model_stream_put(context, &thing, sizeof(thing));
	model_stream_put(context, bytes, length);
	return model_stream_is_well(context);
}

static void put_store(struct model_stream_out *out, const struct model_store *store)
{
	put_count(out, model_store_count(store));
	model_store_each(store, put_thing, out);
}

static bool put_wire(void *context, uint32_t number, const struct model_wire *wire)
{
	model_stream_put(context, &number, sizeof(number));
	model_stream_put(context, wire, sizeof(*wire));
	return model_stream_is_well(context);
}

static bool put_effect(void *context, const struct model_memo_record *record)
{
	model_stream_put(context, record, sizeof(*record));
	model_stream_put(context, record->effect.output, record->effect.outputs * sizeof(record->effect.output[0]));
	return model_stream_is_well(context);
}

static void put_memo(struct model_stream_out *out, const struct model_memo *memo)
{
	put_count(out, model_memo_count(memo));
	model_memo_each(memo, put_effect, out);
}

static void put_parts(struct model_stream_out *out, const struct model *model)
{
	put_store(out, model->clients);
	put_store(out, model->servers);
	put_store(out, model->pdus);
	put_store(out, model->texts);
	put_count(out, model_wires_count(model->wires));
	model_wires_each(model->wires, put_wire, out);
	put_memo(out, model->client_memo);
	put_memo(out, model->server_memo);
}

static void put_visited(struct model_stream_out *out, const struct model_visited *visited)
{
	uint64_t places = model_visited_places(visited);
	struct model_hash hash;
	struct seen seen;

	put_count(out, model_visited_count(visited));
	for (uint64_t place = 0; place < places && model_stream_is_well(out); place++) {
		if (!model_visited_at(visited, place, &hash, &seen.parent))
			continue;
		memcpy(seen.hash, &hash, sizeof(hash));
		model_stream_put(out, &seen, sizeof(seen));
	}
}

static void put_queue(struct model_stream_out *out, const struct model_queue *queue, const GArray *depths)
{
	put_count(out, queue->count);
	for (guint i = 0; i < queue->blocks->len; i++) {
		const struct model_block *block = queue->blocks->pdata[i];

		model_stream_put(out, block->states, block->count * sizeof(block->states[0]));
	}
	put_count(out, depths->len);
	model_stream_put(out, depths->data, depths->len * sizeof(uint32_t));
}

/* One after another, of all threads. */
static void put_arrays(struct model_stream_out *out, const struct model_search *search, size_t offset)
{
	uint64_t count = 0;

	for (guint i = 0; i < search->thread_count; i++)
		count += G_STRUCT_MEMBER(GArray *, &search->threads[i], offset)->len;
	put_count(out, count);
	for (guint i = 0; i < search->thread_count; i++) {
		GArray *array = G_STRUCT_MEMBER(GArray *, &search->threads[i], offset);

		model_stream_put(out, array->data, (size_t)array->len * g_array_get_element_size(array));
	}
}

bool model_save_write(const struct model_search *search, uint64_t *bytes, GError **error)
{
	const struct model_saving *saving = search->options->saving;
	g_autofree char *directory = g_path_get_dirname(saving->path);
	struct model_stream_out *out;
	struct head head;

	if (saving->is_default)
		g_mkdir_with_parents(directory, 0777); /* if it cannot be made, the file cannot either */
	out = model_stream_create(saving->path, FORMAT, saving->give_up, error);
	if (!out)
		return false;
	put_text(out, saving->program);
	put_text(out, saving->title);
	head = head_of(search);
	model_stream_put(out, &head, sizeof(head));
	put_parts(out, search->model);
	put_visited(out, search->visited);
	put_queue(out, &search->level, search->depths);
	put_queue(out, &search->ahead, search->ahead_depths);
	put_arrays(out, search, G_STRUCT_OFFSET(struct model_thread_work, edges));
	put_arrays(out, search, G_STRUCT_OFFSET(struct model_thread_work, end_states));
	return model_stream_commit(out, bytes, error);
}

bool model_save_may_write(const struct model_saving *saving, GError **error)
{
	struct model_stream_out *out = model_stream_create(saving->path, FORMAT, NULL, error);

	if (out)
		model_stream_abandon(out);
	return out != NULL;
}

/* ------------------------------------------------------------------------------------------------------------- reading */

static bool get_count(struct model_stream_in *in, uint64_t *count)
{
	return model_stream_get(in, count, sizeof(*count));
}

static char *get_text(struct model_stream_in *in)
{
	g_autofree char *text = g_malloc0(TEXT_MAX + 1);
	uint64_t length;

	if (!get_count(in, &length) || length > TEXT_MAX || !model_stream_get(in, text, length))
		return NULL;
	return g_steal_pointer(&text);
}

static bool get_store(struct model_stream_in *in, struct model_store *store)
{
	g_autofree uint8_t *bytes = g_malloc(MODEL_STORE_LENGTH_MAX);
	struct thing thing;
	uint64_t count;

	if (!get_count(in, &count))
		return false;
	for (; count; count--) {
		if (!model_stream_get(in, &thing, sizeof(thing)) || thing.length >= MODEL_STORE_LENGTH_MAX ||
		    !model_stream_get(in, bytes, thing.length))
			return false;
		if (model_store_put(store, thing.hash, bytes, thing.length) != thing.number)
			return false;
	}
	return true;
}

static bool get_wires(struct model_stream_in *in, struct model_wires *wires)
{
	struct model_wire wire;
	uint64_t count;
	uint32_t number;

	if (!get_count(in, &count))
		return false;
	for (; count; count--) {
		if (!model_stream_get(in, &number, sizeof(number)) || !model_stream_get(in, &wire, sizeof(wire)) ||
		    model_wires_restore(wires, &wire) != number)
			return false;
	}
	return true;
}

static bool get_memo(struct model_stream_in *in, struct model_memo *memo)
{
	g_autofree struct model_memo_record *record = g_malloc(sizeof(*record) +
							       MODEL_OUTPUTS_MAX * sizeof(record->effect.output[0]));
	uint64_t count;

	if (!get_count(in, &count))
		return false;
	for (; count; count--) {
		if (!model_stream_get(in, record, sizeof(*record)) || record->effect.outputs > MODEL_OUTPUTS_MAX ||
		    !model_stream_get(in, record->effect.output,
				      record->effect.outputs * sizeof(record->effect.output[0])))
			return false;
		model_memo_restore(memo, record);
	}
	return true;
}

static bool get_parts(struct model_stream_in *in, struct model *model)
{
	return get_store(in, model->clients) && get_store(in, model->servers) && get_store(in, model->pdus) &&
	       get_store(in, model->texts) && get_wires(in, model->wires) && get_memo(in, model->client_memo) &&
	       get_memo(in, model->server_memo);
}

static bool get_visited(struct model_stream_in *in, struct model_visited *visited)
{
	struct model_hash hash;
	struct seen seen;
	uint64_t count;

	if (!get_count(in, &count))
		return false;
	model_visited_expect(visited, count);
	for (; count; count--) {
		if (!model_stream_get(in, &seen, sizeof(seen)))
			return false;
		memcpy(&hash, seen.hash, sizeof(hash));
		if (!model_visited_add(visited, hash, seen.parent))
			return false;
	}
	return true;
}

static bool get_array(struct model_stream_in *in, GArray *array)
{
	guint bytes = g_array_get_element_size(array);
	uint8_t element[64];
	uint64_t count;

	g_assert(bytes <= sizeof(element));
	if (!get_count(in, &count) || count > G_MAXUINT)
		return false;
	for (; count; count--) {
		if (!model_stream_get(in, element, bytes))
			return false;
		g_array_append_vals(array, element, 1);
	}
	return true;
}

/* Depth first each state has its depth. */
static bool get_queue(struct model_stream_in *in, struct model_queue *queue, GArray *depths, bool depth_first)
{
	struct model_state state;
	uint64_t count;

	if (!get_count(in, &count))
		return false;
	for (; count; count--) {
		if (!model_stream_get(in, &state, sizeof(state)))
			return false;
		model_queue_push(queue, &state);
	}
	return get_array(in, depths) && depths->len == (depth_first ? queue->count : 0);
}

static bool get_all(struct model_stream_in *in, struct model_search *search)
{
	bool depth_first = search->options->depth_first;

	return get_parts(in, search->model) && get_visited(in, search->visited) &&
	       get_queue(in, &search->level, search->depths, depth_first) &&
	       get_queue(in, &search->ahead, search->ahead_depths, depth_first) &&
	       get_array(in, search->threads[0].edges) && get_array(in, search->threads[0].end_states) &&
	       model_stream_is_done(in);
}

/* Why a file that is whole does not fit; NULL: it does. Caller frees. */
static char *misfit(const struct model_search *search, const struct head *head, const char *program, const char *title)
{
	const struct model_saving *saving = search->options->saving;
	struct head ours = head_of(search);

	if (strcmp(program, saving->program) != 0)
		return g_strdup_printf("was written by another version of the program (%s, this is %s): begin again",
				       program, saving->program);
	if (!model_hash_equal(head->config, ours.config))
		return g_strdup_printf(
			"was written for another config ('%s'): give the config and each --set that it was begun with",
			title);
	if (head->depth_first != ours.depth_first)
		return g_strdup_printf("was begun %s: go on so",
				       head->depth_first ? "depth first (--dfs)" : "breadth first (without --dfs)");
	if (head->liveness != ours.liveness)
		return g_strdup_printf("was begun with%s liveness", head->liveness ? "" : "out");
	if (!model_hash_equal(head->build, ours.build))
		return g_strdup("was written by another build of the program: begin again");
	return NULL;
}

static bool read_all(struct model_stream_in *in, struct model_search *search, GError **error)
{
	const char *path = search->options->saving->resume;
	g_autofree char *program = get_text(in);
	g_autofree char *title = program ? get_text(in) : NULL;
	g_autofree char *why = NULL;
	struct head head;

	if (title && model_stream_get(in, &head, sizeof(head))) {
		why = misfit(search, &head, program, title);
		if (!why) {
			search->depth = head.depth;
			search->before = head.before;
			search->model->server_broke |= head.server_broke;
		}
		if (!why && get_all(in, search))
			return true;
	}
	g_set_error(error, MODEL_ERROR, MODEL_ERROR_FILE, "%s %s", path,
		    why ? why : "is damaged, nothing of it can be used: begin again");
	return false;
}

bool model_save_read(struct model_search *search, GError **error)
{
	struct model_stream_in *in = model_stream_open(search->options->saving->resume, FORMAT, error);
	bool is_read = in && read_all(in, search, error);

	model_stream_close(in);
	return is_read;
}
