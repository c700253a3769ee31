/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files of searches that do not do, and discs. */

#include "model/tests/saving.h"
#include "model/tests/systems.h"

#include <criterion/criterion.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

/* A small file; returns its bytes. */
static char *write_small(const struct scratch *scratch, struct model_config *config, size_t *length)
{
	char *bytes;
	bool stop = true;

	system_two_readers(config, 1, 16);
	config->faults[MODEL_FAULT_CUT] = 1;
	struct model_result part = saving_go_on(
		config, &(struct model_options){ .jobs = 1, .stop = &stop, .liveness = true }, scratch);
	cr_assert_eq(part.outcome, MODEL_STOPPED);
	cr_assert(g_file_get_contents(scratch->file, &bytes, length, NULL));
	return bytes;
}

static struct model_result resume(const struct model_config *config, const struct scratch *scratch,
				  const struct model_saving *saving, struct model_options options)
{
	struct model_saving from = *saving;

	from.resume = scratch->file;
	options.jobs = 1;
	options.saving = &from;
	return saving_explore(config, &options);
}

static void assert_refused(const struct model_result *result, const char *says)
{
	cr_assert_eq(result->outcome, MODEL_REFUSED, "expected: %s", says);
	cr_assert(g_error_matches(result->error, MODEL_ERROR, MODEL_ERROR_FILE));
	cr_assert_not_null(strstr(result->error->message, says), "'%s' does not say '%s'", result->error->message,
			   says);
}

Test(save_file, a_file_of_something_else_is_refused_and_says_why)
{
	const struct model_options live = { .liveness = true };
	struct scratch scratch = scratch_new();
	struct model_saving other = saving_plain;
	struct model_config config;
	struct model_result result;
	size_t length;

	g_free(write_small(&scratch, &config, &length));
	other.program = "program 2";
	result = resume(&config, &scratch, &other, live);
	assert_refused(&result, "another version of the program (program 1, this is program 2)");
	model_result_clear(&result);
	other = saving_plain;
	other.config = "a=2";
	result = resume(&config, &scratch, &other, live);
	assert_refused(&result, "another config ('a test')");
	model_result_clear(&result);
	result = resume(&config, &scratch, &saving_plain,
			(struct model_options){ .liveness = true, .depth_first = true });
	assert_refused(&result, "begun breadth first");
	model_result_clear(&result);
	result = resume(&config, &scratch, &saving_plain, (struct model_options){ 0 });
	assert_refused(&result, "begun with liveness");
	model_result_clear(&result);
	config.client_limits.requests++; /* as another build might */
	result = resume(&config, &scratch, &saving_plain, live);
	assert_refused(&result, "another build");
	model_result_clear(&result);
	g_unlink(scratch.file);
	result = resume(&config, &scratch, &saving_plain, live);
	assert_refused(&result, "cannot read");
	model_result_clear(&result);
	scratch_clear(&scratch);
}

static void assert_damaged(const struct model_config *config, const struct scratch *scratch, const char *bytes,
			   size_t length)
{
	FILE *file = fopen(scratch->file, "wb");
	struct model_result result;

	cr_assert_eq(fwrite(bytes, 1, length, file), length);
	fclose(file);
	result = resume(config, scratch, &saving_plain, (struct model_options){ .liveness = true });
	cr_assert_eq(result.outcome, MODEL_REFUSED, "%zu bytes", length);
	cr_assert(g_error_matches(result.error, MODEL_ERROR, MODEL_ERROR_FILE));
	model_result_clear(&result);
}

Test(save_file, a_file_that_is_cut_off_or_goes_on_behind_its_end_is_refused)
{
	struct scratch scratch = scratch_new();
	struct model_config config;
	size_t length;
	char *bytes = write_small(&scratch, &config, &length);

	for (size_t cut = 0; cut < length; cut += cut < 128 || cut + 128 > length ? 1 : 37)
		assert_damaged(&config, &scratch, bytes, cut);
	bytes = g_realloc(bytes, length + 1);
	bytes[length] = 0;
	assert_damaged(&config, &scratch, bytes, length + 1);
	g_free(bytes);
	scratch_clear(&scratch);
}

/* Behind the 24 bytes by which a file is known: the order of bytes, and the format. */
Test(save_file, a_file_of_another_machine_or_format_is_refused_and_says_so)
{
	static const struct {
		size_t at;
		const char *says;
	} cases[] = {
		{ 0, "was not written by smblab check --save" },
		{ 24, "was written on a machine of another kind" },
		{ 28, ", and this program reads format 2: begin again" },
	};
	struct scratch scratch = scratch_new();
	struct model_config config;
	size_t length;
	g_autofree char *bytes = write_small(&scratch, &config, &length);

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct model_result result;

		bytes[cases[i].at] ^= 64;
		cr_assert(g_file_set_contents(scratch.file, bytes, (gssize)length, NULL));
		result = resume(&config, &scratch, &saving_plain, (struct model_options){ .liveness = true });
		assert_refused(&result, cases[i].says);
		model_result_clear(&result);
		bytes[cases[i].at] ^= 64;
	}
	scratch_clear(&scratch);
}

Test(save_file, a_file_in_which_any_bit_is_another_is_refused)
{
	struct scratch scratch = scratch_new();
	GRand *rand = g_rand_new_with_seed(1);
	struct model_config config;
	size_t length;
	char *bytes = write_small(&scratch, &config, &length);

	for (guint i = 0; i < 600; i++) {
		size_t at = i < 64 ? i : (size_t)g_rand_int_range(rand, 0, (gint32)length);
		char flip = (char)(1 << g_rand_int_range(rand, 0, 8));

		bytes[at] ^= flip;
		assert_damaged(&config, &scratch, bytes, length);
		bytes[at] ^= flip;
	}
	g_rand_free(rand);
	g_free(bytes);
	scratch_clear(&scratch);
}

/* -------------------------------------------------------------------------------------------------- the disc */

Test(save_file, when_the_disc_is_full_the_old_file_stays)
{
	struct scratch scratch = scratch_new();
	struct rlimit limit;
	struct model_config config;
	g_autofree char *before = NULL, *after = NULL;
	struct model_result result;
	bool stop = true;
	size_t length, length_after;

	before = write_small(&scratch, &config, &length);
	limit = (struct rlimit){ length - 1, RLIM_INFINITY };
	signal(SIGXFSZ, SIG_IGN); /* a write fails with EFBIG then */
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	result = saving_go_on(&config, &(struct model_options){ .jobs = 1, .stop = &stop, .liveness = true }, &scratch);
	limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &limit);
	cr_assert_eq(result.outcome, MODEL_STOPPED, "what was explored counts all the same");
	cr_assert_eq(result.saved_bytes, 0u);
	cr_assert(g_error_matches(result.error, MODEL_ERROR, MODEL_ERROR_WRITE));
	cr_assert_not_null(strstr(result.error->message, scratch.file), "%s", result.error->message);
	cr_assert(g_file_get_contents(scratch.file, &after, &length_after, NULL));
	cr_assert_eq(length, length_after);
	cr_assert_arr_eq(before, after, length);
	model_result_clear(&result);
	scratch_clear(&scratch);
}

Test(save_file, whoever_gives_up_waiting_keeps_the_old_file)
{
	struct scratch scratch = scratch_new();
	struct model_saving saving = saving_plain;
	struct model_config config;
	struct model_result result;
	g_autofree char *before = NULL, *after = NULL;
	size_t length, length_after;
	bool yes = true;

	before = write_small(&scratch, &config, &length);
	saving.path = scratch.file;
	saving.give_up = &yes;
	result = saving_explore(&config, &(struct model_options){ .jobs = 1, .stop = &yes, .saving = &saving });
	cr_assert_eq(result.outcome, MODEL_STOPPED);
	cr_assert_eq(result.saved_bytes, 0u);
	cr_assert(g_error_matches(result.error, MODEL_ERROR, MODEL_ERROR_WRITE), "%s", result.error->message);
	cr_assert(g_file_get_contents(scratch.file, &after, &length_after, NULL));
	cr_assert_eq(length, length_after);
	cr_assert_arr_eq(before, after, length);
	model_result_clear(&result);
	scratch_clear(&scratch);
}

Test(save_file, a_file_that_is_something_else_is_not_overwritten)
{
	struct scratch scratch = scratch_new();
	struct model_saving saving = saving_plain;
	g_autoptr(GError) error = NULL;

	saving.path = scratch.file;
	cr_assert(model_save_may_write(&saving, NULL));
	cr_assert(g_file_set_contents(scratch.file, "[client]\nkernel=6.12\n", -1, NULL));
	cr_assert_not(model_save_may_write(&saving, &error));
	cr_assert(g_error_matches(error, MODEL_ERROR, MODEL_ERROR_FILE), "%s", error->message);
	g_clear_error(&error);
	saving.path = "/dev/null";
	cr_assert_not(model_save_may_write(&saving, &error));
	cr_assert(g_error_matches(error, MODEL_ERROR, MODEL_ERROR_FILE), "%s", error->message);
	g_clear_error(&error);
	saving.path = "/nonexistent/states";
	cr_assert_not(model_save_may_write(&saving, &error));
	cr_assert(g_error_matches(error, MODEL_ERROR, MODEL_ERROR_WRITE), "%s", error->message);
	scratch_clear(&scratch);
}
