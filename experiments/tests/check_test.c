/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* smblab check: its configs, and the program itself. */

#include "experiments/check_config.h"
#include "experiments/tests/program.h"
#include "model/explore.h"
#include "model/tests/systems.h"

#include <criterion/criterion.h>
#include <string.h>

#define BASE "[client]\nkernel=6.12\nmount=vers=3.1.1\n[workload]\nfiles=f=64K\n"

static void assert_refused(const char *text, const char *says)
{
	g_autoptr(GError) error = NULL;
	struct lab_check *check = lab_check_parse("a.ini", text, NULL, &error);

	cr_assert_null(check, "%s", text);
	cr_assert_not_null(error);
	cr_assert_eq(lab_exit_code(error), 2);
	cr_assert_not_null(strstr(error->message, says), "'%s' does not say '%s'", error->message, says);
}

Test(check, a_config_becomes_a_model)
{
	g_autoptr(GError) error = NULL;
	struct lab_check *check = lab_check_parse(
		"a.ini",
		BASE "thread1=open f; read f 0 64K; close f\nthread2=read f 4K 4K; sh rm /mnt/g\n"
		     "[server]\ncredits_max=9\norder=any\n[check]\nstart=mounted\nunmount=true\nwindow=32\n"
		     "[faults]\ncuts=2\n",
		(char *[]){ "faults.timers=1", "client.max_channels=2", NULL }, &error);

	cr_assert_not_null(check, "%s", error ? error->message : "");
	cr_assert_eq(check->model.threads, 2u);
	cr_assert_eq(check->model.thread[0].steps, 3u);
	cr_assert_eq(check->model.thread[1].step[0].offset, 4096u);
	cr_assert_eq(check->model.thread[1].step[1].command.kind, SMB_OPS_RM);
	cr_assert_eq(check->model.server.profile.credits_max, 9u);
	cr_assert_eq(check->model.server_limits.window, 32u);
	cr_assert_eq(check->model.client_limits.channels, 2u);
	cr_assert_eq(check->model.faults[MODEL_FAULT_CUT], 2);
	cr_assert_eq(check->model.faults[MODEL_FAULT_TIMER], 1);
	cr_assert(check->model.starts_mounted && check->model.unmounts && check->model.freedom.any_order);
	lab_check_free(check);
}

Test(check, what_the_server_does_wrong_and_what_changes_are_keys)
{
	g_autoptr(GError) error = NULL;
	struct lab_check *check = lab_check_parse(
		"a.ini",
		BASE "thread1=open "
		     "f\n[server]\nmax_read=1M\ninterfaces=3\ninterfaces_down=1\ninterface_speed=0\nleases=false\n"
		     "later_max_read=64K\nlater_credits_max=7\nfinal_grants=true\nbreak_grant=10\nbreak_copies=20\n"
		     "[faults]\ninterface_changes=2\nlimit_changes=1\n[check]\nstart=mounted\n",
		NULL, &error);

	cr_assert_not_null(check, "%s", error ? error->message : "");
	cr_expect_eq(check->model.server.interface_count, 3u);
	cr_expect(!check->model.server.interfaces[1].down && check->model.server.interfaces[2].down);
	cr_expect_eq(check->model.server.interfaces[0].speed_bps, 0u);
	cr_expect_eq(check->model.server.profile.capabilities & SMB2_GLOBAL_CAP_LEASING, 0u);
	cr_expect_eq(check->model.later.max_read, 65536u);
	cr_expect_eq(check->model.later.max_write, check->model.server.profile.max_write);
	cr_expect_eq(check->model.later.credits_max, 7u);
	cr_expect(check->model.server.misbehaviour.final_grants && !check->model.server.misbehaviour.starves);
	cr_expect_eq(check->model.server.misbehaviour.break_grant, 10);
	cr_expect_eq(check->model.server.misbehaviour.break_copies, 20u);
	cr_expect_eq(check->model.faults[MODEL_FAULT_INTERFACE], 2);
	cr_expect_eq(check->model.faults[MODEL_FAULT_LIMITS], 1);
	cr_expect(check->model.behaves_in_mount);
	lab_check_free(check);
}

Test(check, a_slip_is_named_with_its_line)
{
	assert_refused(BASE "thraed1=open f\n", "a.ini:6: [workload] thraed1: unknown key; nearest: workload.thread1");
	assert_refused(BASE "thread1=open g\n", "a.ini:6: [workload] thread1: there is no file 'g'");
	assert_refused(BASE "thread1=opn f\n", "the steps are open, read");
	assert_refused(BASE "thread1=read f 0\n", "OFFSET LENGTH");
	assert_refused(BASE "thread1=open f quickly\n", "none of write, readwrite, direct");
	assert_refused(BASE "thread1=sh rm\n", "thread1: ");
	assert_refused(BASE "thread2=open f\n", "there is no thread1 before it");
	assert_refused(BASE, "no thread does anything");
	assert_refused(BASE "thread1=;\n", "a.ini:6: [workload] thread1: there is no step");
	assert_refused(BASE "thread1=read f 0 4K\n", "a.ini: [workload] thread1: step 1: no thread opens 'f'");
	assert_refused(BASE "thread1=open f; write f 0 4K; close f\n", "no thread opens 'f' with write or readwrite");
	assert_refused(BASE "thread1=open f write; write f 0 0; close f\n", "a LENGTH of 0");
	assert_refused("[workload]\nfiles=f;f=4K\nthread1=open f\n", "'f' is there twice");
	assert_refused(BASE "thread1=open f\n[faults]\ncuts=10\n", "more than 9");
	assert_refused(BASE "thread1=open f\n[check]\nstart=later\n", "neither mount nor mounted");
	assert_refused(BASE "thread1=open f\n[check]\nsymmetry=all\n", "neither threads nor none");
	assert_refused(BASE "thread1=open f\n[network]\nrtt=1ms\n", "unknown key");
	assert_refused("[client]\nkernel=9.9\n", "no era");
	assert_refused("[client]\nkernel=6.1\nmount=vers=1.0\n[workload]\nfiles=f\nthread1=open f\n",
		       "the model has SMB2 and SMB3 alone");
	assert_refused(BASE "thread1=open f\n[server]\ninterfaces=5\n", "5 is not between 1 and 4");
	assert_refused(BASE "thread1=open f\n[server]\ninterfaces=2\ninterfaces_down=3\n", "3 is not between 0 and 2");
	assert_refused(BASE "thread1=open f\n[server]\nleases=some\n", "leases: ");
	assert_refused(BASE "thread1=open f\n[server]\nlater_max_read=4K\n", "4K is not between 64K and 4G");
	assert_refused(BASE "thread1=open f\n[server]\nlater_credits_max=0\n", "0 is not between 1 and 65535");
	assert_refused(BASE "thread1=open f\n[faults]\nlimit_changes=1\n", "none of server.later_max_read");
	assert_refused(BASE "thread1=open f\n[server]\nstarve=true\n", "unknown key; nearest: server.starves");
	assert_refused(BASE "thread1=open f\n[server]\nbreak_copies=33\n", "33 is not between 0 and 32");
	assert_refused(BASE "thread1=open f\n[server]\novergrants=2\n", "overgrants: ");
}

Test(check, a_wrong_set_is_named)
{
	g_autoptr(GError) error = NULL;

	cr_assert_null(lab_check_parse("a.ini", BASE "thread1=open f\n", (char *[]){ "faults.cut=1", NULL }, &error));
	cr_assert_not_null(strstr(error->message, "--set faults.cut=1: unknown key; nearest: faults.cuts"), "%s",
			   error->message);
}

#define CREDITS SMB_SOURCE_DIR "/experiments/check/credits-1ch.ini"

Test(check, the_program_says_that_the_rules_hold)
{
	struct program run = program_run(".", "check", CREDITS, NULL);

	cr_assert_eq(run.exit_code, 0, "%s", run.err);
	cr_assert_not_null(strstr(run.out, "\nall rules hold (liveness not judged)\n"), "%s", run.out);
	program_clear(&run);
}

#define SMALL_CLIENT "[client]\nkernel=6.12\nmount=vers=3.1.1,rsize=65536,max_credits=20\n"
#define LARGE_SERVER "[server]\nprofile=samba-4.17\ncredits_max=64\n"

/* A server may grant more than the client keeps, the application reads what it has just written, and O_DIRECT asks for all
 * of a read(2) at once. */
Test(check, what_is_allowed_is_not_reported)
{
	static const char *const cases[] = {
		SMALL_CLIENT LARGE_SERVER "[workload]\nfiles=f=64K\nthread1=open f; read f 0 64K; close f\n",
		SMALL_CLIENT LARGE_SERVER "grants=0;1;30\n"
					  "[workload]\nfiles=f=64K\nthread1=open f; read f 0 64K; close f\n",
		BASE "thread1=open f readwrite; write f 0 8K; read f 4K 8K; close f\n",
		"[client]\nkernel=6.12\nmount=vers=3.1.1,rsize=65536\n" LARGE_SERVER
		"[workload]\nfiles=f=1M\nthread1=open f direct; read f 0 1M; close f\n",
	};
	char *directory = program_directory();

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct program run;

		program_write(directory, "allowed.ini", cases[i], -1);
		run = program_run(directory, "check", "allowed.ini", NULL);
		cr_expect_eq(run.exit_code, 0, "case %zu: %s%s", i, run.out, run.err);
		program_clear(&run);
	}
	program_clean(directory);
}

#define BREAK_AND_FAILURE                                                                                              \
	"[client]\nkernel=6.12\nmount=vers=3.1.1,rsize=65536\n[server]\nprofile=samba-4.17\ncredits_max=12\n"          \
	"[faults]\nbreaks=1\nsend_failures=1\n[check]\nstart=mounted\n[workload]\nfiles=f=64K\n"

/* Who has no open does not acknowledge its break (MS-SMB2 3.2.5.19.2), also when the server still has it because the
 * CLOSE of a shell command was not sent. An acknowledgement that was not sent itself is never sent again, as in cifs
 * (cifs 6.12, cifs_oplock_break): the server waits in vain. */
Test(check, a_break_is_owed_for_opens_that_the_client_has)
{
	static const struct {
		const char *text;
		const char *last;
	} cases[] = {
		{ BREAK_AND_FAILURE "thread1=sh touch /mnt/h; sh rm /mnt/h\n", "\nall rules hold" },
		{ BREAK_AND_FAILURE "thread1=open f; read f 0 64K; close f\n", "\nall rules hold" },
		{ BREAK_AND_FAILURE "thread1=open f\n", "\nC20 is broken: the break of open 0" },
	};
	char *directory = program_directory();

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct program run;

		program_write(directory, "broken.ini", cases[i].text, -1);
		run = program_run(directory, "check", "broken.ini", "--no-kit", NULL);
		cr_expect_not_null(strstr(run.out, cases[i].last), "case %zu: %s%s", i, run.out, run.err);
		program_clear(&run);
	}
	program_clean(directory);
}

Test(check, the_program_says_what_was_left_out)
{
	struct program run = program_run(".", "check", SMB_SOURCE_DIR "/experiments/check/multi-credit-io.ini",
					 "--partial-order", "--set", "server.grants=0;5", NULL);

	cr_assert_eq(run.exit_code, 0, "%s", run.err);
	cr_assert_not_null(
		strstr(run.out, "\nall rules hold (orders that come to the same left out; liveness not judged)\n"),
		"%s", run.out);
	cr_assert_not_null(strstr(run.out, "\npartial order: "), "%s", run.out);
	program_clear(&run);
}

Test(check, liveness_is_not_judged_where_something_is_left_out)
{
	static const char *const cases[][2] = {
		{ "--partial-order", "check.partial_order and check.liveness exclude each other" },
		{ "--symmetry", "check.symmetry and check.liveness exclude each other" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct program run = program_run(".", "check", SMB_SOURCE_DIR "/experiments/check/reconnect.ini",
						 cases[i][0], NULL);

		cr_assert_eq(run.exit_code, 2);
		cr_assert_not_null(strstr(run.err, cases[i][1]), "%s", run.err);
		program_clear(&run);
	}
}

#define ALIKE                                                                                                          \
	BASE "directories=g\nthread1=open f direct; read f 0 4K; open g; close f\nthread2=read f 4K 4K\n"              \
	     "thread3=read f 4K 4K\n[check]\nstart=mounted\nsymmetry=threads\n[server]\norder=any\n"

/* The kit, and what it is replayed by, know the threads as they are. */
Test(check, a_fault_that_was_found_with_symmetry_can_be_replayed)
{
	char *directory = program_directory();
	struct program run, replay;

	program_write(directory, "alike.ini", ALIKE, -1);
	run = program_run(directory, "check", "alike.ini", "--kit", "kit", NULL);
	cr_assert_eq(run.exit_code, 1, "%s%s", run.out, run.err);
	cr_assert_not_null(strstr(run.out, "(threads that do the same taken for each other)\n"), "%s", run.out);
	replay = program_run(directory, "replay", "kit/replay.smblab", NULL);
	cr_assert_eq(replay.exit_code, 1, "%s%s", replay.out, replay.err);
	cr_assert_not_null(strstr(replay.out, "(the recorded fault)"), "%s", replay.out);
	program_clear(&run);
	program_clear(&replay);
	program_clean(directory);
}

static char *line_of(const char *text, const char *begin)
{
	const char *at = strstr(text, begin);

	return at ? g_strndup(at, strcspn(at, "\n")) : NULL;
}

Test(check, the_program_says_what_the_model_lacks)
{
	struct program run = program_run(".", "check", CREDITS, "--max-states", "2000", NULL);
	g_autofree char *lacks = line_of(run.out, "not in this model: ");

	cr_assert_not_null(lacks, "%s", run.out);
	cr_assert_not_null(strstr(lacks, "cuts"), "%s", lacks);
	cr_assert_not_null(strstr(lacks, "liveness"), "%s", lacks);
	cr_assert_null(strstr(lacks, "grants"), "%s", lacks);
	cr_assert_null(strstr(run.out, "never happened"), "%s", run.out);
	program_clear(&run);
}

Test(check, what_was_added_to_the_model_is_lacking_no_more)
{
	struct program run = program_run(".", "check", CREDITS, "--max-states", "2000", "--set", "check.start=mounted",
					 "--set", "faults.cancels=1", "--set", "faults.refusals=1", NULL);
	g_autofree char *lacks = line_of(run.out, "not in this model: ");
	g_autofree char *never = line_of(run.out, "allowed, but never happened: ");

	cr_assert_not_null(lacks, "%s", run.out);
	cr_assert_null(strstr(lacks, "cancels"), "%s", lacks);
	cr_assert_null(strstr(lacks, "refusals"), "%s", lacks);
	/* without a cut no connection is made that could be refused */
	cr_assert_str_eq(never, "allowed, but never happened: refusals");
	program_clear(&run);
}

Test(check, a_model_that_starts_mounted_has_a_mount_that_works)
{
	struct program run = program_run(".", "check", CREDITS, "--set", "check.start=mounted", "--set",
					 "server.credits_max=4", NULL);

	cr_assert_eq(run.exit_code, 2, "%s", run.out);
	cr_assert_not_null(strstr(run.err, "the mount fails"), "%s", run.err);
	program_clear(&run);
}

Test(check, the_program_says_that_a_bound_was_reached)
{
	struct program run = program_run(".", "check", CREDITS, "--max-states", "20", NULL);

	cr_assert_eq(run.exit_code, 4, "%s", run.err);
	cr_assert_not_null(strstr(run.out, "inconclusive: the bound on states was reached\n"), "%s", run.out);
	program_clear(&run);
}

Test(check, the_program_tells_the_way_to_a_fault)
{
	struct program run = program_run(".", "check", CREDITS, "--set", "workload.files=f=4K", "--set",
					 "workload.directories=g", "--set", "workload.thread2=open g", "--no-kit",
					 NULL);

	cr_assert_eq(run.exit_code, 1, "%s%s", run.out, run.err);
	cr_assert_not_null(strstr(run.out, "fails is broken: "), "%s", run.out);
	cr_assert_not_null(strstr(run.out, "  1. mount\n"), "%s", run.out);
	program_clear(&run);
}

static struct model_progress explore_a_little(const struct model_config *config)
{
	const struct model_options options = { .jobs = 1, .bounds = { .depth = 12 } };
	struct model *model = model_new(config, NULL);
	struct model_result result;

	cr_assert_not_null(model);
	model_explore(model, &options, &result);
	cr_assert_eq(result.outcome, MODEL_BOUND);
	model_result_clear(&result);
	model_free(model);
	return result.numbers;
}

Test(check, the_benchmark_explores_compound_ini)
{
	struct lab_check *check = lab_check_load("experiments/check/compound.ini", NULL, NULL);
	struct model_config measured;

	cr_assert_not_null(check);
	system_compound(&measured);
	struct model_progress of_config = explore_a_little(&check->model);
	struct model_progress of_bench = explore_a_little(&measured);
	cr_expect_gt(of_config.states, 1000u);
	cr_expect_eq(of_config.states, of_bench.states);
	cr_expect_eq(of_config.transitions, of_bench.transitions);
	lab_check_free(check);
}
