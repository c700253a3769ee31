/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the README shows of the program is what the program says. */

#include "experiments/tests/program.h"

#include <criterion/criterion.h>
#include <string.h>

static char *readme(void)
{
	g_autoptr(GError) error = NULL;
	char *text;

	cr_assert(g_file_get_contents(SMB_SOURCE_DIR "/README.md", &text, NULL, &error), "%s", error->message);
	return text;
}

/* What stands between `begin`, behind `heading`, and `end`. */
static char *part(const char *text, const char *heading, const char *begin, const char *end)
{
	const char *at = strstr(text, heading), *to;

	cr_assert_not_null(at, "README has no \"%s\"", heading);
	at = strstr(at, begin);
	cr_assert_not_null(at, "README has no \"%s\" behind \"%s\"", begin, heading);
	at += strlen(begin);
	to = strstr(at, end);
	cr_assert_not_null(to);
	return g_strndup(at, (gsize)(to - at));
}

static void assert_says(const struct program *run, const char *line)
{
	cr_assert_not_null(strstr(run->out, line), "not said: \"%s\"\n%s%s", line, run->out, run->err);
}

Test(readme, a_config_of_ones_own_holds_as_shown)
{
	g_autofree char *text = readme();
	g_autofree char *config = part(text, "## Every order", "```ini\n", "```");
	g_autofree char *counts = part(text, "$ smblab check mine.ini --jobs 2\n", "\n", "\n");
	g_autofree char *verdict = part(text, "interface_changes, limit_changes\n", "\n", "\n");
	char *directory = program_directory();
	struct program run;

	program_write(directory, "mine.ini", config, -1);
	run = program_run(directory, "check", "mine.ini", "--jobs", "2", NULL);
	cr_assert_eq(run.exit_code, 0, "%s", run.err);
	assert_says(&run, counts);
	assert_says(&run, verdict);
	program_clear(&run);
	run = program_run(directory, "check", "mine.ini", "--set", "client.kernel=6.12", "--no-kit", NULL);
	cr_assert_eq(run.exit_code, 1);
	assert_says(&run, "\nC6 is broken: ");
	program_clear(&run);
	program_clean(directory);
}

Test(readme, a_broken_rule_is_told_as_shown)
{
	g_autofree char *text = readme();
	g_autofree char *told = part(text, "--set client.kernel=6.1\n...\n", "...\n", "\n");
	char *directory = program_directory();
	struct program run = program_run(directory, "check", SMB_SOURCE_DIR "/experiments/check/max-credits.ini",
					 "--set", "client.kernel=6.1", NULL);

	cr_assert_eq(run.exit_code, 1, "%s", run.err);
	assert_says(&run, told);
	program_clear(&run);
	program_clean(directory);
}

Test(readme, a_bill_is_written_as_shown)
{
	g_autofree char *text = readme();
	g_autofree char *bill = part(text, "$ smblab bill \"rm /mnt/file\" --kernel 4.20 --rtt 20ms\n", "\n", "```");
	struct program run = program_run(".", "bill", "rm /mnt/file", "--kernel", "4.20", "--rtt", "20ms", NULL);

	cr_assert_eq(run.exit_code, 0, "%s", run.err);
	cr_assert_str_eq(run.out, bill);
	program_clear(&run);
}
