/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * gcov numbers the ways out of a line and says no more. Which condition each belongs to is told from the source: conditions
 * have two ways each, in the order of the text. The first of the two goes to the code that comes next: the next condition
 * behind &&, which is reached when this one is true, the next one behind ||, reached when it is false, else what is done
 * when the condition is true. Where text and numbers do not fit, branches stay numbers.
 */

#include "reports/coverage/coverage.h"

#include <string.h>

#define CONDITIONS_MAX 16
#define STATEMENT_LINES_MAX 8

struct condition {
	char *text;
	bool is_followed_by_or;
};

struct conditions {
	guint count;
	struct condition list[CONDITIONS_MAX];
};

static void conditions_clear(struct conditions *conditions)
{
	for (guint i = 0; i < conditions->count; i++)
		g_free(conditions->list[i].text);
	conditions->count = 0;
}

/* ------------------------------------------------------------------------------------------------------- reading a line */

/* What stands between quotes and in comments is none of the code's. */
static char *without_quotes(const char *line)
{
	char *text = g_strdup(line);
	char *comment = strstr(text, "/*");
	char quote = 0;

	if (comment)
		*comment = '\0';
	for (char *at = text; *at; at++) {
		if (quote && *at == '\\' && at[1])
			*at++ = '_';
		else if (quote && *at == quote)
			quote = 0;
		else if (!quote && (*at == '"' || *at == '\''))
			quote = *at;
		if (quote && *at != quote)
			*at = '_';
	}
	return text;
}

/* Of "for (a; b; c)" b, of anything else all. */
static char *what_is_asked(const char *text)
{
	const char *first = strstr(text, "for (") ? strchr(text, ';') : NULL;
	const char *second = first ? strchr(first + 1, ';') : NULL;

	return second ? g_strndup(first + 1, (gsize)(second - first - 1)) : g_strdup(text);
}

/* What a statement asks, of "if (a)" a. */
static const char *behind_keyword(const char *text)
{
	static const char *const keywords[] = { "} else if (", "else if (", "if (", "} while (", "while (" };

	for (gsize i = 0; i < G_N_ELEMENTS(keywords); i++) {
		if (g_str_has_prefix(text, keywords[i]))
			return text + strlen(keywords[i]);
	}
	return text + (g_str_has_prefix(text, "return ") ? strlen("return ") : 0);
}

/* Without what opens or closes outside of it, what it is assigned to, and the word in front. */
static char *trimmed(const char *begin, gsize length)
{
	g_autofree char *whole = g_strndup(begin, length);
	char *text = whole + (behind_keyword(g_strchug(whole)) - whole);
	const char *from = text;
	char *assigned;
	int depth = 0;

	for (char *at = text; *at; at++) {
		depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
		if (depth < 0 || (!depth && (*at == ';' || (*at == ':' && at > text && at[-1] == ' ')))) {
			*at = '\0';
			break;
		}
	}
	for (const char *at = text + strlen(text); depth > 0 && at > text; at--) {
		depth -= at[-1] == '(' ? 1 : at[-1] == ')' ? -1 : 0;
		from = at;
	}
	assigned = g_strrstr(from, " = ");
	if (assigned)
		from = assigned + strlen(" = ");
	return g_strstrip(g_strdup(from));
}

static void take(struct conditions *conditions, const char *begin, const char *end, bool is_followed_by_or)
{
	char *text = trimmed(begin, (gsize)(end - begin));

	if (!*text || *text == ':' || conditions->count == CONDITIONS_MAX) {
		g_free(text);
		return;
	}
	conditions->list[conditions->count++] = (struct condition){ text, is_followed_by_or };
}

static bool is_joint(const char *at)
{
	return g_str_has_prefix(at, "&&") || g_str_has_prefix(at, "||");
}

static void read_conditions(const char *text, struct conditions *conditions)
{
	g_autofree char *asked = what_is_asked(text);
	const char *begin = asked;
	bool is_condition = !strstr(asked, "&&") && !strstr(asked, "||") && !strchr(asked, '?');

	for (const char *at = asked; *at; at++) {
		if (!is_joint(at) && *at != '?')
			continue;
		take(conditions, begin, at, *at == '|');
		is_condition = is_joint(at); /* what follows a '?' is a value */
		at += is_joint(at);
		begin = at + 1;
	}
	if (is_condition)
		take(conditions, begin, begin + strlen(begin), false);
}

/* ------------------------------------------------------------------------------------------------------------ branches */

static void add(struct coverage_file *file, guint number, guint64 count, bool is_behind, char *never)
{
	struct coverage_branch *branch = g_new0(struct coverage_branch, 1);

	branch->line = number;
	branch->count = count;
	branch->is_behind = is_behind;
	branch->never = never;
	g_ptr_array_add(file->branches, branch);
}

/* The conditions of the line, or of the statement that begins there, to which gcov counts them all now and then. */
static bool find_conditions(const struct coverage_file *file, guint number, guint arcs, struct conditions *conditions)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint n = number; n < number + STATEMENT_LINES_MAX && file->source[n - 1]; n++) {
		g_autofree char *line = without_quotes(file->source[n - 1]);

		g_string_append_printf(text, "%s%s", n > number ? " " : "", g_strstrip(line));
		conditions_clear(conditions);
		read_conditions(text->str, conditions);
		if (conditions->count * 2 == arcs)
			return arcs == 2 || !strstr(text->str, "!(");
		if (conditions->count * 2 > arcs || strchr("{};", text->str[text->len ? text->len - 1 : 0]))
			return false;
	}
	return false;
}

static void name_conditions(struct coverage_file *file, guint number)
{
	const struct coverage_line *line = &g_array_index(file->lines, struct coverage_line, number);
	struct conditions conditions = { 0 };
	bool is_told = find_conditions(file, number, line->arcs->len, &conditions);

	for (guint i = 0; i < line->arcs->len; i++) {
		guint64 count = g_array_index(line->arcs, guint64, i);
		const struct condition *condition = &conditions.list[is_told ? i / 2 : 0];
		bool is_true = (i % 2 == 0) != condition->is_followed_by_or;
		/* a condition that is never asked lies behind the one before it */
		bool is_behind = !line->count || (is_told && !count && !g_array_index(line->arcs, guint64, i ^ 1u));

		if (is_told)
			add(file, number, count, is_behind,
			    g_strdup_printf("`%s` is never %s", condition->text, is_true ? "true" : "false"));
		else
			add(file, number, count, is_behind,
			    g_strdup_printf("branch %u of %u is never taken", i + 1, line->arcs->len));
	}
	conditions_clear(&conditions);
}

static gsize indent_of(const char *line)
{
	return strspn(line, "\t");
}

static bool is_label(const char *line, gsize indent)
{
	return indent_of(line) == indent &&
	       (g_str_has_prefix(line + indent, "case ") || g_str_has_prefix(line + indent, "default:"));
}

/* "A, B" of the labels "case A:" and "case B:". */
static char *labels_text(char **first, char **end)
{
	GString *text = g_string_new(NULL);

	for (; first < end; first++) {
		const char *label = *first + indent_of(*first);

		g_string_append_printf(text, "%s%.*s", text->len ? ", " : "", (int)strcspn(label, ":"), label);
	}
	return g_string_free(text, FALSE);
}

/* How often the first line of code behind the labels was run; the labels' own count when there is none. */
static guint64 body_count(const struct coverage_file *file, guint first, guint label, gsize indent)
{
	guint64 count = 0;

	for (guint n = label; n < file->lines->len && file->source[n - 1]; n++) {
		const struct coverage_line *line = &g_array_index(file->lines, struct coverage_line, n);

		if (n > label && (is_label(file->source[n - 1], indent) || indent_of(file->source[n - 1]) < indent))
			break;
		if (n > label && line->is_code)
			return line->count;
		count = MAX(count, line->count);
	}
	for (guint n = first; n < label; n++)
		count = MAX(count, g_array_index(file->lines, struct coverage_line, n).count);
	return count;
}

/* That a switch has no default says that there are no other values: no branch. */
static void name_cases(struct coverage_file *file, guint number)
{
	gsize indent = indent_of(file->source[number - 1]);
	bool is_behind = !g_array_index(file->lines, struct coverage_line, number).count;

	for (guint n = number + 1; file->source[n - 1]; n++) {
		const char *text = file->source[n - 1];
		guint first = n;

		if (indent_of(text) == indent && text[indent] == '}')
			return;
		if (!is_label(text, indent))
			continue;
		while (file->source[n] && is_label(file->source[n], indent))
			n++;
		g_autofree char *labels = labels_text(file->source + first - 1, file->source + n);
		add(file, first, body_count(file, first, n, indent), is_behind,
		    g_strdup_printf("%s is never taken", labels));
	}
}

static int compare(gconstpointer a, gconstpointer b)
{
	const struct coverage_branch *left = *(const struct coverage_branch *const *)a;
	const struct coverage_branch *right = *(const struct coverage_branch *const *)b;

	return left->line < right->line ? -1 : left->line > right->line;
}

static bool is_assertion(const struct coverage_file *file, guint number)
{
	const struct coverage_function *function = coverage_function_at(file, number);

	return function && function->is_assertion;
}

void coverage_name_branches(struct coverage_file *file)
{
	guint lines = g_strv_length(file->source);

	for (guint n = 1; n < file->lines->len && n <= lines; n++) {
		const struct coverage_line *line = &g_array_index(file->lines, struct coverage_line, n);

		if (!line->arcs || is_assertion(file, n))
			continue;
		if (g_str_has_prefix(file->source[n - 1] + indent_of(file->source[n - 1]), "switch ("))
			name_cases(file, n);
		else
			name_conditions(file, n);
	}
	g_ptr_array_sort(file->branches, compare);
}
