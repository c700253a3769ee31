/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What was written is at the server (C28): at the end of a run, and when fsync(2) returns. */

#include "model/internal.h"
#include "sim/server/files.h"

static bool writes_at(const struct model_step *step, uint32_t file, uint64_t offset)
{
	return step->kind == MODEL_STEP_WRITE && step->file == file && step->offset <= offset &&
	       offset < step->offset + step->length;
}

uint64_t model_source_of_step(const struct model_config *config, uint32_t thread, uint32_t step)
{
	const struct model_step *steps = config->thread[thread].step;
	uint64_t source = MODEL_SOURCE_FIRST + thread;

	for (uint32_t s = 0; s < step; s++) {
		if (steps[s].kind == MODEL_STEP_WRITE && steps[s].file == steps[step].file &&
		    steps[s].offset < steps[step].offset + steps[step].length &&
		    steps[step].offset < steps[s].offset + steps[s].length)
			source += MODEL_THREADS_MAX;
	}
	return source;
}

/* The last WRITE at `offset` of the thread that writes from `source` (0: of any thread); NULL: there is none. */
static const struct model_step *writer_of(const struct model_config *config, uint32_t file, uint64_t offset,
					  uint64_t source)
{
	for (uint32_t t = 0; t < config->threads; t++) {
		uint32_t step = config->thread[t].steps;

		while (step && !writes_at(&config->thread[t].step[step - 1], file, offset))
			step--;
		if (step && (!source || source == model_source_of_step(config, t, step - 1)))
			return &config->thread[t].step[step - 1];
	}
	return NULL;
}

static uint64_t written_end(const struct model_config *config, uint32_t file)
{
	uint64_t end = 0;

	for (uint32_t t = 0; t < config->threads; t++) {
		for (uint32_t s = 0; s < config->thread[t].steps; s++) {
			const struct model_step *step = &config->thread[t].step[s];

			if (step->kind == MODEL_STEP_WRITE && step->file == file && step->offset + step->length > end)
				end = step->offset + step->length;
		}
	}
	return end;
}

static uint32_t find_file(const struct smb_server *server, const char *name)
{
	uint8_t bytes[2 * SMB_OPS_PATH_MAX] = { 0 };
	struct server_path path;
	uint32_t length = 0;

	for (; name[length]; length++)
		bytes[2 * length] = (uint8_t)(name[length] == '/' ? '\\' : name[length]);
	if (server_path_walk(server, (struct smb_blob){ bytes, 2 * length }, &path))
		return SERVER_NONE;
	return path.file;
}

/* How many bytes from `at` on are as they must be: 0, the first one is not. */
static uint64_t good_bytes(const struct model_config *config, const struct smb_server *server, uint32_t file,
			   uint64_t at)
{
	uint32_t found = find_file(server, config->file[file].name);
	const struct model_step *step;
	struct smb_slice slice;

	if (found == SERVER_NONE || at >= server_file(server, found)->size)
		return 0;
	slice = server_content_slice(server, found, at,
				     (uint32_t)MIN(server_file(server, found)->size - at, UINT32_MAX));
	if (slice.source < MODEL_SOURCE_FIRST)
		return writer_of(config, file, at, 0) ? 0 : 1;
	step = slice.offset == at ? writer_of(config, file, at, slice.source) : NULL;
	return step ? MIN(slice.length, step->offset + step->length - at) : 0;
}

static bool lacks(const struct model_config *config, uint32_t file, uint64_t at, const char *when,
		  struct model_fault_found *found)
{
	*found = (struct model_fault_found){ .rule = "C28" };
	g_snprintf(found->text, sizeof(found->text), "%s does not hold at %" G_GUINT64_FORMAT " what was written%s",
		   config->file[file].name, (guint64)at, when);
	return false;
}

bool model_judge_data(const struct model_config *config, const struct smb_server *server, uint32_t file,
		      struct model_fault_found *found)
{
	uint64_t end = written_end(config, file);
	uint64_t good = 1, at;

	for (at = 0; at < end; at += good) {
		good = good_bytes(config, server, file, at);
		if (!good)
			return lacks(config, file, at, "", found);
	}
	return true;
}

/* ---------------------------------------------------------------------------------------------------------- fsync(2) */

/* The step that wrote `source` at `at`, of any thread but this one, at whatever time. */
static const struct model_step *step_of_another(const struct model_config *config, uint32_t thread, uint32_t file,
						struct smb_slice slice)
{
	for (uint32_t t = 0; t < config->threads; t++) {
		for (uint32_t s = 0; t != thread && s < config->thread[t].steps; s++) {
			if (writes_at(&config->thread[t].step[s], file, slice.offset) &&
			    model_source_of_step(config, t, s) == slice.source)
				return &config->thread[t].step[s];
		}
	}
	return NULL;
}

/* What a later step of the thread, before `end`, wrote over is that step's. */
static const struct model_step *step_later(const struct model_config *config, uint32_t thread, uint32_t step,
					   uint32_t end, uint64_t at)
{
	const struct model_step *steps = config->thread[thread].step;

	for (uint32_t s = step + 1; s < end; s++) {
		if (writes_at(&steps[s], steps[step].file, at))
			return &steps[s];
	}
	return NULL;
}

/* How many bytes from `at` on need no further look, being of `step` or of one that wrote over it: 0, the first is
 * neither. */
static uint64_t synced_bytes(const struct model_config *config, const struct smb_server *server, uint32_t thread,
			     uint32_t step, uint64_t at)
{
	const struct model_step *write = &config->thread[thread].step[step];
	uint32_t found = find_file(server, config->file[write->file].name);
	const struct model_step *other;
	struct smb_slice slice;

	if (found == SERVER_NONE || at >= server_file(server, found)->size)
		return 0;
	slice = server_content_slice(server, found, at, (uint32_t)(write->offset + write->length - at));
	if (slice.source < MODEL_SOURCE_FIRST || slice.offset != at)
		return 0;
	if (slice.source == model_source_of_step(config, thread, step))
		return slice.length;
	other = step_of_another(config, thread, write->file, slice);
	return other ? MIN(slice.length, other->offset + other->length - at) : 0;
}

bool model_judge_synced(const struct model_config *config, const struct smb_server *server, uint32_t thread,
			uint32_t end, struct model_fault_found *found)
{
	const struct model_step *steps = config->thread[thread].step;

	for (uint32_t s = 0; s < end; s++) {
		uint64_t at = steps[s].offset, good;

		if (steps[s].kind != MODEL_STEP_WRITE || steps[s].file != steps[end].file)
			continue;
		for (; at < steps[s].offset + steps[s].length; at += good) {
			const struct model_step *later = step_later(config, thread, s, end, at);

			good = later ? later->offset + later->length - at : synced_bytes(config, server, thread, s, at);
			if (!good)
				return lacks(config, steps[s].file, at, ", and fsync has returned", found);
		}
	}
	return true;
}
