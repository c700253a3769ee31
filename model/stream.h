/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_STREAM_H
#define MODEL_STREAM_H

/**
 * Large binary files that are either whole or not there. What is written goes to a temporary name beside the file, and
 * takes its place when all of it is on the disc. It is cut into chunks, each with its length and a hash over all that
 * came before: nothing that is damaged, cut off or swapped is ever handed to a reader.
 *
 * Numbers are stored as this machine has them; a file of a machine of another kind is refused.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_stream_out;
struct model_stream_in;

/** NULL: the file cannot be made there, MODEL_ERROR_WRITE; or something else is there, MODEL_ERROR_FILE. `format` tells
 *  versions of what is in it apart. `give_up` may be NULL; once it is true, writing fails. */
struct model_stream_out *model_stream_create(const char *path, uint32_t format, const volatile bool *give_up,
					     GError **error);
/** After the first that fails the others do nothing; model_stream_commit tells. */
void model_stream_put(struct model_stream_out *out, const void *bytes, size_t length);
/** False: nothing could be written any more, and what is put leads nowhere. */
bool model_stream_is_well(const struct model_stream_out *out);
/** Frees `out`. False, MODEL_ERROR_WRITE: a file of that name from before is as it was. */
bool model_stream_commit(struct model_stream_out *out, uint64_t *bytes, GError **error);
/** Frees `out`; nothing was written. */
void model_stream_abandon(struct model_stream_out *out);

/** NULL: it cannot be read, is no such file or of another format: MODEL_ERROR_FILE. */
struct model_stream_in *model_stream_open(const char *path, uint32_t format, GError **error);
void model_stream_close(struct model_stream_in *in);
/** False: the file is damaged or does not go on; then each that follows is false, too. */
bool model_stream_get(struct model_stream_in *in, void *bytes, size_t length);
/** All of the file was handed out, and nothing is behind its end. */
bool model_stream_is_done(struct model_stream_in *in);

#endif
