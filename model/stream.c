/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/stream.h"

#include "model/hash.h"
#include "model/model.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <unistd.h>

#define CHUNK_MAX (256u << 10)
#define BYTE_ORDER_MARK UINT32_C(0x01020304)

struct head {
	char magic[24];
	uint32_t byte_order;
	uint32_t format;
};

static const char magic[24] = "smblab states\n\x1a";

/* In front of each chunk; a length of 0 ends the file. */
struct chunk {
	struct model_hash hash; /* of the one before, the length, and the bytes */
	uint64_t length;
};

static struct model_hash hash_of(struct model_hash before, const void *bytes, uint64_t length)
{
	struct model_hash hash = model_hash_word(model_hash_word(model_hash_start(77), before.high), before.low);

	return model_hash_end(model_hash_bytes(hash, bytes, length));
}

static struct head head_of(uint32_t format)
{
	struct head head = { .byte_order = BYTE_ORDER_MARK, .format = format };

	memcpy(head.magic, magic, sizeof(magic));
	return head;
}

/* ------------------------------------------------------------------------------------------------------------- writing */

struct model_stream_out {
	char *path;
	char *temporary;
	int fd;
	const volatile bool *give_up;
	int failed; /* errno of the first write that failed */
	uint64_t written;
	struct model_hash before;
	uint32_t used;
	uint8_t buffer[CHUNK_MAX];
};

static void write_all(struct model_stream_out *out, const void *bytes, size_t length)
{
	const uint8_t *at = bytes;

	if (out->give_up && *out->give_up && !out->failed)
		out->failed = ECANCELED;
	while (length && !out->failed) {
		ssize_t done = write(out->fd, at, length);

		if (done < 0 && errno != EINTR)
			out->failed = errno;
		if (done <= 0)
			continue;
		at += done;
		length -= (size_t)done;
		out->written += (uint64_t)done;
	}
}

static void write_chunk(struct model_stream_out *out)
{
	struct chunk chunk = { .length = out->used };

	chunk.hash = out->before = hash_of(out->before, out->buffer, out->used);
	write_all(out, &chunk, sizeof(chunk));
	write_all(out, out->buffer, out->used);
	out->used = 0;
}

static bool fail(GError **error, const char *path, int why)
{
	g_set_error(error, MODEL_ERROR, MODEL_ERROR_WRITE, "cannot write %s: %s", path, g_strerror(why));
	return false;
}

/* Nothing else is overwritten, whatever was typed. */
static bool may_replace(const char *path, GError **error)
{
	char there[sizeof(magic)] = { 0 };
	FILE *file;
	bool is_ours;

	if (!g_file_test(path, G_FILE_TEST_EXISTS))
		return true;
	file = g_file_test(path, G_FILE_TEST_IS_REGULAR) ? g_fopen(path, "rbe") : NULL;
	is_ours = file && fread(there, sizeof(there), 1, file) == 1 && !memcmp(there, magic, sizeof(magic));
	if (file)
		fclose(file);
	if (!is_ours)
		g_set_error(error, MODEL_ERROR, MODEL_ERROR_FILE,
			    "%s exists and was not written by smblab check --save; name another file", path);
	return is_ours;
}

static void out_free(struct model_stream_out *out)
{
	g_free(out->path);
	g_free(out->temporary);
	g_free(out);
}

struct model_stream_out *model_stream_create(const char *path, uint32_t format, const volatile bool *give_up,
					     GError **error)
{
	struct head head = head_of(format);
	struct model_stream_out *out;

	if (!may_replace(path, error))
		return NULL;
	out = g_new0(struct model_stream_out, 1);
	out->path = g_strdup(path);
	out->give_up = give_up;
	out->temporary = g_strconcat(path, ".XXXXXX", NULL);
	out->fd = g_mkstemp_full(out->temporary, O_WRONLY | O_CLOEXEC, 0666);
	if (out->fd < 0) {
		fail(error, path, errno);
		out_free(out);
		return NULL;
	}
	write_all(out, &head, sizeof(head));
	out->before = hash_of(out->before, &head, sizeof(head));
	return out;
}

void model_stream_put(struct model_stream_out *out, const void *bytes, size_t length)
{
	const uint8_t *at = bytes;

	while (length && !out->failed) {
		size_t part = MIN(length, CHUNK_MAX - out->used);

		memcpy(out->buffer + out->used, at, part);
		out->used += (uint32_t)part;
		at += part;
		length -= part;
		if (out->used == CHUNK_MAX)
			write_chunk(out);
	}
}

bool model_stream_is_well(const struct model_stream_out *out)
{
	return !out->failed;
}

/* The new name is on the disc, too. */
static void sync_directory(const char *path)
{
	g_autofree char *directory = g_path_get_dirname(path);
	int fd = g_open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

bool model_stream_commit(struct model_stream_out *out, uint64_t *bytes, GError **error)
{
	int failed;

	if (out->used)
		write_chunk(out);
	write_chunk(out);
	if (!out->failed && fsync(out->fd) != 0)
		out->failed = errno;
	if (close(out->fd) != 0 && !out->failed)
		out->failed = errno;
	if (!out->failed && g_rename(out->temporary, out->path) != 0)
		out->failed = errno;
	failed = out->failed;
	if (failed) {
		g_unlink(out->temporary);
		fail(error, out->path, failed);
	} else {
		sync_directory(out->path);
		*bytes = out->written;
	}
	out_free(out);
	return !failed;
}

void model_stream_abandon(struct model_stream_out *out)
{
	close(out->fd);
	g_unlink(out->temporary);
	out_free(out);
}

/* ------------------------------------------------------------------------------------------------------------- reading */

struct model_stream_in {
	FILE *file;
	struct model_hash before;
	bool is_bad;
	bool is_ended; /* the last chunk was read */
	uint32_t length; /* of the chunk in hand */
	uint32_t taken;
	uint8_t buffer[CHUNK_MAX];
};

static bool take_head(struct model_stream_in *in, const char *path, uint32_t format, GError **error)
{
	struct head expected = head_of(format);
	struct head head;

	if (fread(&head, sizeof(head), 1, in->file) != 1 || memcmp(head.magic, magic, sizeof(magic)) != 0)
		g_set_error(error, MODEL_ERROR, MODEL_ERROR_FILE, "%s was not written by smblab check --save", path);
	else if (head.byte_order != BYTE_ORDER_MARK)
		g_set_error(error, MODEL_ERROR, MODEL_ERROR_FILE, "%s was written on a machine of another kind", path);
	else if (head.format != format)
		g_set_error(error, MODEL_ERROR, MODEL_ERROR_FILE,
			    "%s has format %u, and this program reads format %u: begin again", path, head.format,
			    format);
	else
		in->before = hash_of(in->before, &expected, sizeof(expected));
	return in->before.high || in->before.low;
}

struct model_stream_in *model_stream_open(const char *path, uint32_t format, GError **error)
{
	struct model_stream_in *in = g_new0(struct model_stream_in, 1);

	in->file = g_fopen(path, "rbe");
	if (!in->file) {
		g_set_error(error, MODEL_ERROR, MODEL_ERROR_FILE, "cannot read %s: %s", path, g_strerror(errno));
	} else if (take_head(in, path, format, error)) {
		return in;
	}
	model_stream_close(in);
	return NULL;
}

void model_stream_close(struct model_stream_in *in)
{
	if (!in)
		return;
	if (in->file)
		fclose(in->file);
	g_free(in);
}

static bool take_chunk(struct model_stream_in *in)
{
	struct chunk chunk;

	if (in->is_bad || in->is_ended)
		return false;
	in->is_bad = true;
	if (fread(&chunk, sizeof(chunk), 1, in->file) != 1 || chunk.length > CHUNK_MAX)
		return false;
	if (fread(in->buffer, 1, chunk.length, in->file) != chunk.length)
		return false;
	in->before = hash_of(in->before, in->buffer, chunk.length);
	if (!model_hash_equal(in->before, chunk.hash))
		return false;
	in->is_bad = false;
	in->length = (uint32_t)chunk.length;
	in->taken = 0;
	in->is_ended = !chunk.length;
	return true;
}

bool model_stream_get(struct model_stream_in *in, void *bytes, size_t length)
{
	uint8_t *at = bytes;

	while (length) {
		size_t part = MIN(length, in->length - in->taken);

		if (!part) {
			if (take_chunk(in))
				continue;
			in->is_bad = true;
			return false;
		}
		memcpy(at, in->buffer + in->taken, part);
		in->taken += (uint32_t)part;
		at += part;
		length -= part;
	}
	return !in->is_bad;
}

bool model_stream_is_done(struct model_stream_in *in)
{
	return in->taken == in->length && take_chunk(in) && in->is_ended && fgetc(in->file) == EOF;
}
