/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Command lines: from words to what is asked for. */
#include "protocol/ops/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WORDS_MAX 16
#define WORD_MAX 512

struct line {
	uint32_t count;
	char words[WORDS_MAX][WORD_MAX];
	bool redirects; /* `>` or `>>`, then a name */
	bool appends;
	char redirected[WORD_MAX];
	char value[WORD_MAX]; /* what follows the option -s; empty = nothing */
};

__attribute__((format(printf, 2, 3))) static bool refuse(char message[SMB_OPS_MESSAGE_MAX], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, SMB_OPS_MESSAGE_MAX, format, arguments);
	va_end(arguments);
	return false;
}

/* ------------------------------------------------------------------------------------------------------------ words */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/** One word without its quotes; false: a quote is open, or it is too long. */
static bool take_word(const char **text, char word[WORD_MAX])
{
	const char *p = *text;
	size_t used = 0;
	char quote = 0;

	for (; *p && (quote || (!is_blank(*p) && *p != ';' && *p != '>')); p++) {
		if (!quote && (*p == '\'' || *p == '"')) {
			quote = *p;
			continue;
		}
		if (quote && *p == quote) {
			quote = 0;
			continue;
		}
		if (*p == '\\' && quote != '\'' && p[1])
			p++;
		if (used + 1 >= WORD_MAX)
			return false;
		word[used++] = *p;
	}
	word[used] = 0;
	*text = p;
	return !quote;
}

static const char *skip_blanks(const char *text)
{
	while (is_blank(*text))
		text++;
	return text;
}

static bool take_redirection(const char **text, struct line *line, char message[SMB_OPS_MESSAGE_MAX])
{
	*text += 1;
	line->redirects = true;
	line->appends = **text == '>';
	*text = skip_blanks(*text + line->appends);
	if (!take_word(text, line->redirected) || !*line->redirected)
		return refuse(message, "a name must follow > or >>");
	return true;
}

static bool split(const char *text, struct line *line, const char **rest, char message[SMB_OPS_MESSAGE_MAX])
{
	line->count = 0;
	line->redirects = line->appends = false;
	line->value[0] = 0;
	for (text = skip_blanks(text); *text && *text != ';'; text = skip_blanks(text)) {
		if (strchr("|&<`$*?(){}[]", *text))
			return refuse(message,
				      "the shell's '%c' is not understood: give plain commands, separated by ;", *text);
		if (*text == '>') {
			if (!take_redirection(&text, line, message))
				return false;
			continue;
		}
		if (line->count == WORDS_MAX)
			return refuse(message, "more than %d words in one command", WORDS_MAX);
		if (!take_word(&text, line->words[line->count++]))
			return refuse(message, "a quote is not closed, or a word is longer than %d bytes", WORD_MAX);
	}
	if (rest)
		*rest = *text ? text + 1 : text;
	return true;
}

/* ------------------------------------------------------------------------------------------------------------ paths */

static bool below_mount(const char *path, const struct smb_ops_shell *shell)
{
	size_t length = strlen(shell->mount_point);

	return !strncmp(path, shell->mount_point, length) && (!path[length] || path[length] == '/');
}

/** Relative to the share's root, without doubled and final slashes. */
static bool put_path(const char *path, const struct smb_ops_shell *shell, char to[SMB_OPS_PATH_MAX],
		     char message[SMB_OPS_MESSAGE_MAX])
{
	const char *p = path + strlen(shell->mount_point);
	size_t used = 0;

	if (!below_mount(path, shell))
		return refuse(message, "%.80s is not below the mount point %.40s", path, shell->mount_point);
	for (; *p; p++) {
		if (*p == '/' && (!used || !p[1] || p[1] == '/'))
			continue;
		if (*p < 0x20 || *p > 0x7e || used + 1 >= SMB_OPS_PATH_MAX)
			return refuse(message, "%.80s: paths are ASCII and shorter than %d bytes", path,
				      SMB_OPS_PATH_MAX);
		to[used++] = *p;
	}
	to[used] = 0;
	return true;
}

/* ----------------------------------------------------------------------------------------------------------- options */

/** Bytes, with the suffixes of truncate(1) and head(1). */
static bool parse_size(const char *text, uint64_t *bytes)
{
	static const char suffixes[] = "KMGT";
	const char *suffix;
	uint64_t sum = 0;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (sum > UINT64_MAX / 20)
			return false;
		sum = sum * 10 + (uint64_t)(*text - '0');
	}
	if (*text) {
		suffix = strchr(suffixes, *text);
		if (!suffix || text[1])
			return false;
		for (const char *p = suffixes; p <= suffix; p++) {
			if (sum > UINT64_MAX >> 10)
				return false;
			sum <<= 10;
		}
	}
	*bytes = sum;
	return true;
}

static bool parse_mode(const char *text, uint32_t *mode)
{
	uint32_t sum = 0;
	const char *p = text;

	for (; *p >= '0' && *p <= '7' && sum < 01000; p++)
		sum = sum * 8 + (uint32_t)(*p - '0');
	if (p != text && !*p && sum <= 07777) {
		*mode = sum;
		return true;
	}
	p = text + strspn(text, "ugoa");
	if (strchr("+-=", *p) && *p && p[1] && strspn(p + 1, "rwxXst") == strlen(p + 1)) {
		bool takes_away = *p == '-' && (p == text || strchr(text, 'a') < p);

		*mode = SMB_OPS_MODE_OTHER;
		if (strchr(p, 'w'))
			*mode = takes_away ? SMB_OPS_MODE_NO_WRITE : SMB_OPS_MODE_WRITE;
		return true;
	}
	return false;
}

/* ---------------------------------------------------------------------------------------------------------- commands */

/** What stands behind the name of a command. */
enum shape { ONE_PATH, TWO_PATHS, LINK_TEXT, COPY, MODE_PATH, SIZE_PATH, ONLY_MOUNT };

static const struct command {
	const char *name;
	const char *option; /* that makes it this command; NULL = none */
	const char *harmless; /* letters that change nothing on the wire */
	enum smb_ops_command_kind kind;
	enum shape shape;
} commands[] = {
	{ "touch", NULL, "", SMB_OPS_TOUCH, ONE_PATH },	    { "rm", NULL, "f", SMB_OPS_RM, ONE_PATH },
	{ "mkdir", NULL, "v", SMB_OPS_MKDIR, ONE_PATH },    { "rmdir", NULL, "v", SMB_OPS_RMDIR, ONE_PATH },
	{ "mv", NULL, "v", SMB_OPS_MV, TWO_PATHS },	    { "ln", "-s", "v", SMB_OPS_LN_S, LINK_TEXT },
	{ "ln", NULL, "v", SMB_OPS_LN, TWO_PATHS },	    { "stat", "-f", "t", SMB_OPS_STAT_F, ONE_PATH },
	{ "stat", NULL, "t", SMB_OPS_STAT, ONE_PATH },	    { "ls", "-l", "1an", SMB_OPS_LS_L, ONE_PATH },
	{ "ls", NULL, "1aU", SMB_OPS_LS, ONE_PATH },	    { "readdir", NULL, "", SMB_OPS_READDIR, ONE_PATH },
	{ "cat", NULL, "", SMB_OPS_CAT, ONE_PATH },	    { "cp", NULL, "v", SMB_OPS_CP, COPY },
	{ "chmod", NULL, "v", SMB_OPS_CHMOD, MODE_PATH },   { "truncate", "-s", "", SMB_OPS_TRUNCATE, SIZE_PATH },
	{ "df", NULL, "hk", SMB_OPS_DF, ONE_PATH },	    { "mount", NULL, "", SMB_OPS_MOUNT, ONLY_MOUNT },
	{ "umount", NULL, "", SMB_OPS_UMOUNT, ONLY_MOUNT },
};

const char *smb_ops_command_name(enum smb_ops_command_kind kind)
{
	static const char *const others[SMB_OPS_COMMANDS] = {
		[SMB_OPS_LN_S] = "ln -s",  [SMB_OPS_STAT_F] = "stat -f", [SMB_OPS_LS_L] = "ls -l",
		[SMB_OPS_CP_IN] = "cp in", [SMB_OPS_CP_OUT] = "cp out",	 [SMB_OPS_APPEND] = "append",
		[SMB_OPS_WRITE] = "write",
	};

	if (kind < SMB_OPS_COMMANDS && others[kind])
		return others[kind];
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (commands[i].kind == kind)
			return commands[i].name;
	}
	return "?";
}

static bool text_is_valid(const char text[SMB_OPS_PATH_MAX])
{
	return memchr(text, 0, SMB_OPS_PATH_MAX) != NULL;
}

bool smb_ops_command_is_valid(const struct smb_ops_command *command)
{
	return command->kind < SMB_OPS_COMMANDS && text_is_valid(command->source) && text_is_valid(command->target);
}

static void copy_word(char to[WORD_MAX], const char *word)
{
	memcpy(to, word, strlen(word) + 1);
}

/** Take the options off the line. */
static bool take_options(struct line *line, const struct command *command, char message[SMB_OPS_MESSAGE_MAX])
{
	uint32_t kept = 1;

	for (uint32_t i = 1; i < line->count; i++) {
		char *word = line->words[i];

		if (word[0] != '-' || !word[1] || command->shape == ONLY_MOUNT) {
			if (kept != i)
				memcpy(line->words[kept], word, WORD_MAX);
			kept++;
			continue;
		}
		if (command->option && !strncmp(word, command->option, 2) && command->shape == SIZE_PATH) {
			if (!word[2] && i + 1 == line->count)
				return refuse(message, "%s: a size must follow -s", command->name);
			copy_word(line->value, word[2] ? word + 2 : line->words[++i]);
			continue;
		}
		for (const char *letter = word + 1; *letter; letter++) {
			if (!(command->option && *letter == command->option[1]) && !strchr(command->harmless, *letter))
				return refuse(message, "%s: option -%c is not known here", command->name, *letter);
		}
	}
	line->count = kept;
	return true;
}

static bool has_option(const struct line *line, const char *option)
{
	for (uint32_t i = 1; i < line->count; i++) {
		if (line->words[i][0] == '-' && strchr(line->words[i], option[1]))
			return true;
	}
	return false;
}

static const struct command *find_command(const struct line *line)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!strcmp(commands[i].name, line->words[0]) &&
		    (!commands[i].option || commands[i].shape == SIZE_PATH || has_option(line, commands[i].option)))
			return &commands[i];
	}
	return NULL;
}

static bool want_words(const struct line *line, uint32_t count, const char *usage, char message[SMB_OPS_MESSAGE_MAX])
{
	return line->count == count + 1 || refuse(message, "usage: %s", usage);
}

static bool parse_copy(const struct line *line, const struct smb_ops_shell *shell, struct smb_ops_command *command,
		       char message[SMB_OPS_MESSAGE_MAX])
{
	bool from = below_mount(line->words[1], shell);
	bool to = below_mount(line->words[2], shell);
	const char *name = strrchr(line->words[1], '/');

	if (!from && !to)
		return refuse(message, "cp: neither %.50s nor %.50s is below the mount point", line->words[1],
			      line->words[2]);
	command->bytes = shell->local_bytes;
	command->kind = from && to ? SMB_OPS_CP : from ? SMB_OPS_CP_OUT : SMB_OPS_CP_IN;
	if (to && !put_path(line->words[2], shell, command->target, message))
		return false;
	if (from)
		return put_path(line->words[1], shell, command->source, message);
	snprintf(command->source, sizeof(command->source), "%.*s", SMB_OPS_PATH_MAX - 1,
		 name ? name + 1 : line->words[1]);
	return true;
}

static bool parse_words(struct line *line, const struct command *found, const struct smb_ops_shell *shell,
			struct smb_ops_command *command, char message[SMB_OPS_MESSAGE_MAX])
{
	switch (found->shape) {
	case ONE_PATH:
		return want_words(line, 1, "NAME [OPTION] PATH", message) &&
		       put_path(line->words[1], shell, command->source, message);
	case TWO_PATHS:
		return want_words(line, 2, "mv SOURCE TARGET, ln SOURCE TARGET", message) &&
		       put_path(line->words[1], shell, command->source, message) &&
		       put_path(line->words[2], shell, command->target, message);
	case LINK_TEXT:
		if (!want_words(line, 2, "ln -s TEXT LINK", message))
			return false;
		if (strlen(line->words[1]) >= SMB_OPS_PATH_MAX)
			return refuse(message, "ln -s: the text is longer than %d bytes", SMB_OPS_PATH_MAX - 1);
		memcpy(command->source, line->words[1], strlen(line->words[1]) + 1);
		return put_path(line->words[2], shell, command->target, message);
	case COPY:
		return want_words(line, 2, "cp SOURCE TARGET", message) && parse_copy(line, shell, command, message);
	case MODE_PATH:
		if (!want_words(line, 2, "chmod MODE PATH", message))
			return false;
		if (!parse_mode(line->words[1], &command->mode))
			return refuse(message, "chmod: %.40s is no mode", line->words[1]);
		return put_path(line->words[2], shell, command->source, message);
	case SIZE_PATH:
		if (!want_words(line, 1, "truncate -s SIZE PATH", message))
			return false;
		if (!parse_size(line->value, &command->bytes))
			return refuse(message, "truncate: %.40s is no size", *line->value ? line->value : "nothing");
		return put_path(line->words[1], shell, command->source, message);
	case ONLY_MOUNT:
		break;
	}
	return true;
}

/** echo or printf into a file: its words, blanks between, and the newline of echo. */
static bool parse_echo(const struct line *line, const struct smb_ops_shell *shell, struct smb_ops_command *command,
		       char message[SMB_OPS_MESSAGE_MAX])
{
	bool is_printf = !strcmp(line->words[0], "printf");

	if (!line->redirects)
		return refuse(message, "%s: only into a file, with > or >>", line->words[0]);
	for (uint32_t i = 1; i < line->count; i++)
		command->bytes += strlen(line->words[i]) + (i > 1);
	command->bytes += !is_printf;
	command->kind = line->appends ? SMB_OPS_APPEND : SMB_OPS_WRITE;
	return put_path(line->redirected, shell, command->source, message);
}

bool smb_ops_parse(const char *text, const struct smb_ops_shell *shell, struct smb_ops_command *command,
		   const char **rest, char message[SMB_OPS_MESSAGE_MAX])
{
	const struct command *found;
	struct line line = { 0 };

	*command = (struct smb_ops_command){ 0 };
	message[0] = 0;
	if (!split(text, &line, rest, message))
		return false;
	if (!line.count)
		return refuse(message, "the command is empty");
	if (!strcmp(line.words[0], "echo") || !strcmp(line.words[0], "printf"))
		return parse_echo(&line, shell, command, message);
	if (line.redirects)
		return refuse(message, "only echo and printf may write into a file with > or >>");
	found = find_command(&line);
	if (!found)
		return refuse(message, "%.40s is not known here", line.words[0]);
	command->kind = found->kind;
	return take_options(&line, found, message) && parse_words(&line, found, shell, command, message);
}
