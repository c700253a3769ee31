/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reports/kit/replay_file.h"

#include <string.h>

#define HEADLINE "smblab-replay 1"

void kit_origin_clear(struct kit_origin *origin)
{
	g_free(origin->program);
	g_free(origin->model);
	g_free(origin->config);
	g_free(origin->text);
	g_strfreev(origin->sets);
	*origin = (struct kit_origin){ 0 };
}

/* --------------------------------------------------------------------------------------------------------------- writing */

static void put(GString *out, const char *word, const char *value)
{
	g_autofree char *line = g_strdelimit(g_strdup(value), "\r\n", ' ');

	g_string_append_printf(out, "%s %s\n", word, line);
}

static void put_config(GString *out, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	guint count = g_strv_length(lines);

	if (count && !*lines[count - 1]) /* what is behind the last newline */
		count--;
	for (guint i = 0; i < count; i++)
		put(out, "|", lines[i]);
}

GString *kit_replay_write(const struct kit_origin *origin, const struct model *model, const GArray *moves,
			  const struct model_fault_found *found)
{
	GString *out = g_string_new(HEADLINE "\n");

	put(out, "program", origin->program);
	put(out, "model", origin->model);
	put(out, "config", origin->config);
	for (char **set = origin->sets; set && *set; set++)
		put(out, "set", *set);
	put_config(out, origin->text);
	put(out, "rule", found->rule);
	put(out, "fault", found->text);
	for (guint i = 0; i < moves->len; i++) {
		g_autoptr(GString) line = g_string_new(NULL);

		model_move_write(model, g_array_index(moves, struct model_move, i), line);
		put(out, "move", line->str);
	}
	g_string_append_printf(out, "end %u\n", moves->len);
	return out;
}

/* --------------------------------------------------------------------------------------------------------------- reading */

struct reader {
	struct kit_replay *replay;
	GPtrArray *sets;
	GString *text;
	guint line;
	bool is_ended;
};

static bool refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool refuse(GError **error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (error)
		*error = g_error_new_valist(MODEL_ERROR, MODEL_ERROR_FILE, format, arguments);
	va_end(arguments);
	return false;
}

static bool take_once(char **place, const char *word, const char *value, GError **error)
{
	if (*place)
		return refuse(error, "a second '%s'", word);
	*place = g_strdup(value);
	return true;
}

static bool take_move(struct reader *reader, const char *value, GError **error)
{
	struct model_move move;

	if (!model_move_read(NULL, value, &move, error))
		return false;
	g_array_append_val(reader->replay->moves, move);
	g_array_append_val(reader->replay->lines, reader->line);
	return true;
}

static bool take_end(struct reader *reader, const char *value, GError **error)
{
	guint64 count;

	if (!g_ascii_string_to_unsigned(value, 10, 0, G_MAXUINT, &count, NULL))
		return refuse(error, "'%s' is no number of moves", value);
	if (count != reader->replay->moves->len)
		return refuse(error, "%u moves, where %s were written: something is missing or was added",
			      reader->replay->moves->len, value);
	reader->is_ended = true;
	return true;
}

static bool take(struct reader *reader, const char *word, const char *value, GError **error)
{
	struct kit_replay *replay = reader->replay;
	const struct {
		const char *word;
		char **place;
	} single[] = {
		{ "program", &replay->origin.program },
		{ "model", &replay->origin.model },
		{ "config", &replay->origin.config },
		{ "rule", &replay->rule },
		{ "fault", &replay->fault },
	};

	for (guint i = 0; i < G_N_ELEMENTS(single); i++) {
		if (!strcmp(word, single[i].word))
			return take_once(single[i].place, word, value, error);
	}
	if (!strcmp(word, "set"))
		g_ptr_array_add(reader->sets, g_strdup(value));
	else if (!strcmp(word, "|"))
		g_string_append_printf(reader->text, "%s\n", value);
	else if (!strcmp(word, "move"))
		return take_move(reader, value, error);
	else if (!strcmp(word, "end"))
		return take_end(reader, value, error);
	else
		return refuse(error, "'%s' is no item of a replay file", word);
	return true;
}

static bool read_line(struct reader *reader, const char *line, GError **error)
{
	const char *space = strchr(line, ' ');
	g_autofree char *word = g_strndup(line, space ? (gsize)(space - line) : strlen(line));

	if (reader->is_ended)
		return refuse(error, "nothing may follow 'end'");
	if (reader->line == 1)
		return !strcmp(line, HEADLINE) ||
		       refuse(error, "this is no replay file; it begins with '" HEADLINE "'");
	return take(reader, word, space ? space + 1 : "", error);
}

static bool is_complete(const struct reader *reader, GError **error)
{
	const struct kit_replay *replay = reader->replay;

	if (!reader->is_ended)
		return refuse(error, "the file ends before its 'end' line");
	if (!replay->origin.program || !replay->origin.model || !replay->origin.config || !replay->rule ||
	    !replay->fault)
		return refuse(error, "program, model, config, rule or fault is missing");
	return reader->text->len || refuse(error, "there is no config in it");
}

static bool read_all(struct reader *reader, const char *text, gsize length, GError **error)
{
	g_auto(GStrv) lines = NULL;
	guint count;

	reader->line = 1;
	if (memchr(text, 0, length) || !g_utf8_validate(text, (gssize)length, NULL))
		return refuse(error, "this is no text");
	lines = g_strsplit(text, "\n", -1);
	count = g_strv_length(lines);
	if (!count || *lines[count - 1])
		return refuse(error, "the last line is not complete");
	for (; reader->line < count; reader->line++) {
		if (!read_line(reader, lines[reader->line - 1], error))
			return false;
	}
	return is_complete(reader, error);
}

struct kit_replay *kit_replay_parse(const char *name, const char *text, gsize length, GError **error)
{
	struct reader reader = {
		.replay = g_new0(struct kit_replay, 1),
		.sets = g_ptr_array_new(),
		.text = g_string_new(NULL),
	};
	bool is_read;

	reader.replay->moves = g_array_new(FALSE, FALSE, sizeof(struct model_move));
	reader.replay->lines = g_array_new(FALSE, FALSE, sizeof(guint));
	is_read = read_all(&reader, text, length, error);
	g_ptr_array_add(reader.sets, NULL);
	reader.replay->origin.sets = (char **)g_ptr_array_free(reader.sets, FALSE);
	reader.replay->origin.text = g_string_free(reader.text, FALSE);
	if (is_read)
		return reader.replay;
	g_prefix_error(error, "%s:%u: ", name, reader.line);
	kit_replay_free(reader.replay);
	return NULL;
}

void kit_replay_free(struct kit_replay *replay)
{
	if (!replay)
		return;
	kit_origin_clear(&replay->origin);
	g_free(replay->rule);
	g_free(replay->fault);
	g_array_unref(replay->moves);
	g_array_unref(replay->lines);
	g_free(replay);
}
