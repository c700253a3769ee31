/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/plan.h"
#include "experiments/tests/program.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(plan);

#define WORK "[workload]\ncommand=dd if=/mnt/f of=/dev/null bs=1M count=4\n"

static struct lab_plan *plan_of(const char *config)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(lab_config) parsed = lab_config_parse("test.ini", config, NULL, &error);
	struct lab_plan *plan = parsed ? lab_plan_new(parsed, NULL, &error) : NULL;

	cr_assert(plan, "%s", error ? error->message : "");
	return plan;
}

static struct lab_point *point_at(const struct lab_plan *plan, guint index)
{
	cr_assert_lt(index, plan->points->len);
	return plan->points->pdata[index];
}

static char *first_hash(const char *config)
{
	struct lab_plan *plan = plan_of(config);
	char *hash = g_strdup(point_at(plan, 0)->hash);

	lab_plan_free(plan);
	return hash;
}

Test(plan, combinations_come_in_the_order_written_the_last_key_fastest)
{
	static const char *const expected[][2] = {
		{ "unset", "1ms" }, { "unset", "20ms" }, { "4M", "1ms" }, { "4M", "20ms" }
	};
	struct lab_plan *plan = plan_of(WORK "[sweep]\nclient.rasize=unset;4M\nnetwork.rtt=1ms;20ms;\n");

	cr_assert_eq(plan->points->len, 4);
	cr_assert_eq(plan->sweep_columns, 2);
	cr_assert_str_eq(plan->columns->pdata[0], "client.rasize");
	cr_assert_str_eq(plan->columns->pdata[1], "network.rtt");
	for (guint i = 0; i < 4; i++) {
		cr_assert_str_eq(point_at(plan, i)->columns[0], expected[i][0]);
		cr_assert_str_eq(point_at(plan, i)->columns[1], expected[i][1]);
	}
	cr_assert_eq(point_at(plan, 0)->point->mount.rasize, 0);
	cr_assert_eq(point_at(plan, 2)->point->mount.rasize, 4 << 20);
	lab_plan_free(plan);
}

Test(plan, the_same_point_spelled_twice_is_one_point)
{
	struct lab_plan *plan = plan_of(WORK "[sweep]\nclient.rasize=1M;1048576;4M\nnetwork.rtt=1ms;1000us\n");

	cr_assert_eq(plan->points->len, 2);
	cr_assert_eq(plan->merged, 4);
	lab_plan_free(plan);
}

Test(plan, identity_is_what_can_change_the_result_and_nothing_else)
{
	static const struct {
		const char *config;
		bool same; /* as WORK alone */
	} cases[] = {
		{ "[experiment]\ntitle=another\n" WORK, true },
		{ "# comment\n" WORK, true },
		{ "[client]\nkernel=6.1\n" WORK, true },
		{ "[client]\npage_size=4K\n" WORK, true },
		{ "[network]\nrtt=100us\n" WORK, true },
		{ "[experiment]\nseed=2\n" WORK, false },
		{ "[client]\nkernel=6.12\n" WORK, false },
		{ "[client]\npolicy.channel_pick=rotating\n" WORK, false },
		{ "[client]\nrasize=1M\n" WORK, false },
		{ "[client]\nmount=vers=3.1.1,tcpnodelay\n" WORK, false },
		{ "[client]\ncost.request_cpu=77us\n" WORK, false },
		{ "[client]\ncores=3\n" WORK, false },
		{ "[server]\nprofile=azure\n" WORK, false },
		{ "[server]\ncredits_max=100\n" WORK, false },
		{ "[network]\nrtt=101us\n" WORK, false },
		{ "[network]\ntcp.initial_window=4\n" WORK, false },
		{ "[network]\ntcp.server_nagle=true\n" WORK, false },
		{ "[network]\nloss=0.001\n" WORK, false },
		{ "[workload]\ncommand=dd if=/mnt/f of=/dev/null bs=1M count=5\n", false },
		{ WORK "file_size=1G\n", false },
	};
	g_autofree char *plain = first_hash(WORK);

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *hash = first_hash(cases[i].config);

		cr_assert_eq(!strcmp(hash, plain), cases[i].same, "case %zu: %s", i, cases[i].config);
	}
}

Test(plan, identity_follows_the_content_of_a_fio_job_file)
{
	char *directory = program_directory();
	g_autofree char *config = g_strdup_printf("[workload]\ncommand=fio %s/job.fio\n", directory);
	g_autofree char *before = NULL, *after = NULL;

	program_write(directory, "job.fio", "[a]\nfilename=f\nsize=1m\nbs=64k\n", -1);
	before = first_hash(config);
	program_write(directory, "job.fio", "[a]\nfilename=f\nsize=1m\nbs=32k\n", -1);
	after = first_hash(config);
	cr_assert_str_neq(before, after);
	program_clean(directory);
}

Test(plan, single_options_replace_those_of_the_mount_string)
{
	struct lab_plan *plan = plan_of(
		"[client]\nmount=vers=3.1.1,rasize=4194304,multichannel,max_channels=4,soft\n" WORK
		"[sweep]\nclient.rasize=unset;8M\nclient.max_channels=1;2\n");
	const struct sim_point *point = point_at(plan, 0)->point;

	cr_assert_eq(point->mount.rasize, 0);
	cr_assert_eq(point->mount.max_channels, 1);
	point = point_at(plan, 3)->point;
	cr_assert_eq(point->mount.rasize, 8 << 20);
	cr_assert_eq(point->mount.max_channels, 2);
	cr_assert(point->mount.multichannel && point->mount.soft);
	lab_plan_free(plan);
}

Test(plan, nagle_of_the_client_follows_the_mount)
{
	struct lab_plan *plan = plan_of(WORK "[sweep]\nclient.mount=vers=3.1.1;vers=3.1.1,tcpnodelay\n");

	cr_assert(point_at(plan, 0)->point->network.tcp[SIM_CLIENT].nagle);
	cr_assert_not(point_at(plan, 1)->point->network.tcp[SIM_CLIENT].nagle);
	lab_plan_free(plan);
}

Test(plan, an_impossible_combination_is_a_point_that_says_so)
{
	struct lab_plan *plan = plan_of(WORK "[sweep]\nclient.rasize=1M;64M;128M\n");

	cr_assert_eq(plan->points->len, 3, "two refused values are two rows");
	cr_assert_null(point_at(plan, 0)->impossible);
	cr_assert(strstr(point_at(plan, 1)->impossible, "Invalid rasize 67108864"));
	cr_assert_str_eq(point_at(plan, 1)->columns[0], "64M");
	cr_assert_str_eq(point_at(plan, 2)->columns[0], "128M");
	lab_plan_free(plan);
}

Test(plan, repeats_differ_in_the_seed_alone)
{
	struct lab_plan *plan = plan_of("[experiment]\nseed=5\nrepeat=3\n" WORK "[sweep]\nnetwork.rtt=1ms;2ms\n");

	cr_assert_eq(plan->points->len, 6);
	for (guint i = 0; i < 6; i++)
		cr_assert_eq(point_at(plan, i)->point->seed, 5 + i % 3);
	lab_plan_free(plan);
}

Test(plan, too_many_points_are_refused_before_they_are_made)
{
	GString *config = g_string_new(WORK "[sweep]\n");
	g_autoptr(GError) error = NULL;
	g_autoptr(lab_config) parsed = NULL;
	static const char *const keys[] = { "experiment.seed", "client.cores", "server.credits_max" };

	for (size_t k = 0; k < G_N_ELEMENTS(keys); k++) {
		g_string_append_printf(config, "%s=1", keys[k]);
		for (int i = 2; i <= 200; i++)
			g_string_append_printf(config, ";%d", i);
		g_string_append_c(config, '\n');
	}
	parsed = lab_config_parse("test.ini", config->str, NULL, NULL);
	cr_assert(parsed);
	cr_assert_null(lab_plan_new(parsed, NULL, &error));
	cr_assert(strstr(error->message, "8000000 points"), "%s", error->message);
	g_string_free(config, TRUE);
}

Test(plan, a_key_given_its_value_in_force_changes_nothing)
{
	struct lab_plan *plan = plan_of(WORK);
	const struct lab_point *point = point_at(plan, 0);

	for (guint i = 0; i < plan->columns->len; i++) {
		const char *name = plan->columns->pdata[i];
		g_autofree char *set = g_strconcat(name, "=", point->columns[i], NULL);
		char *sets[] = { set, NULL };
		g_autoptr(GError) error = NULL;
		g_autoptr(lab_config) config = NULL;
		struct lab_plan *again;

		if (!strcmp(point->columns[i], "unset") || !strcmp(name, "workload.command"))
			continue;
		config = lab_config_parse("test.ini", WORK, sets, &error);
		cr_assert(config, "%s: %s", set, error ? error->message : "");
		again = lab_plan_new(config, NULL, &error);
		cr_assert(again, "%s: %s", set, error ? error->message : "");
		cr_assert_str_eq(point_at(again, 0)->hash, point->hash, "%s", set);
		lab_plan_free(again);
	}
	lab_plan_free(plan);
}

Test(plan, every_config_of_the_project_makes_a_plan)
{
	g_autoptr(GDir) dir = g_dir_open(SMB_SOURCE_DIR "/experiments", 0, NULL);
	const char *name;
	guint found = 0;

	while ((name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(SMB_SOURCE_DIR, "experiments", name, NULL);
		g_autoptr(GError) error = NULL;
		g_autoptr(lab_config) config = NULL;
		g_autoptr(lab_plan) plan = NULL;

		if (!g_str_has_suffix(name, ".ini"))
			continue;
		config = lab_config_load(path, NULL, &error);
		cr_assert(config, "%s", error ? error->message : "");
		plan = lab_plan_new(config, NULL, &error);
		cr_assert(plan, "%s", error ? error->message : "");
		for (guint i = 0; i < plan->points->len; i++)
			cr_assert_null(point_at(plan, i)->impossible, "%s: %s", name, point_at(plan, i)->impossible);
		found++;
	}
	cr_assert_geq(found, 5);
}

Test(plan, the_measurements_of_2021_lie_on_points_of_the_main_experiment)
{
	g_autoptr(lab_config) config = lab_config_load(SMB_SOURCE_DIR "/experiments/rasize-azure.ini", NULL, NULL);
	struct lab_plan *plan = config ? lab_plan_new(config, NULL, NULL) : NULL;
	guint measured = 0;

	cr_assert(plan);
	for (guint i = 0; i < plan->points->len; i++)
		measured += point_at(plan, i)->measured.rows;
	cr_assert_eq(measured, 2, "one point per published figure: at.network.rtt must be the profile's RTT");
	lab_plan_free(plan);
}

Test(plan, what_a_config_says_at_its_head_is_for_the_report)
{
	static const struct {
		const char *text, *about;
	} cases[] = {
		{ "# SPDX-License-Identifier: X\n# One\n# line.\n#\n# Two.\n# smblab run it\n\n# not this\n" WORK,
		  "One line.\nTwo." },
		{ "#\n#   \n# smblab run it\n" WORK, "" },
		{ WORK "# later\n", "" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(lab_config) config = lab_config_parse("c.ini", cases[i].text, NULL, &error);
		g_autofree char *about = config ? lab_config_about(config) : NULL;

		cr_assert(config, "%s", error->message);
		cr_expect_str_eq(about, cases[i].about);
	}
}
