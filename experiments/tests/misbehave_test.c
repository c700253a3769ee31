/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Servers of the field that do what no server may (facts D, kind SV): the client as it is survives each of them. */

#include "experiments/check_config.h"
#include "model/explore.h"
#include "model/misbehaviour.h"

#include <criterion/criterion.h>

#define CONFIG(name) SMB_SOURCE_DIR "/experiments/check/misbehave-" name ".ini"

static const struct {
	const char *bug;
	const char *config;
	const char *off; /* the config without the misbehaviour; NULL: it is no switch of the server */
	const char *more; /* another replaced value; NULL */
	uint64_t server_breaks; /* rules, bit per number */
	bool is_unmoved; /* the client goes the same ways with it and without */
} bugs[] = {
	{ "D-16", CONFIG("grants-twice"), "server.break_grant=0", NULL, 1 << 9, false },
	{ "D-21", CONFIG("next-is-wild"), "server.next_is_wild=false", NULL, 1 << 12, false },
	{ "D-40", CONFIG("interim-is-free"), "server.interim_is_free=false", NULL, 1 << 11, false },
	{ "D-41", CONFIG("grants-twice"), "server.final_grants=false", NULL, 1 << 9, false },
	{ "D-43", CONFIG("starves"), "server.starves=false", NULL, 1 << 11, false },
	{ "D-47", CONFIG("write-pushback"), "server.write_pushback=0", NULL, 0, false },
	{ "D-8", CONFIG("malformed"), "server.pending_is_odd=false", NULL, 0, true },
	{ "junk behind WRITE", CONFIG("malformed"), "server.write_has_junk=false", NULL, 0, true },
	{ "D-59", CONFIG("malformed"), "server.second_read_is_lost=false", NULL, 0, true },
	{ "D-60", CONFIG("grants-twice"), "server.break_copies=0", NULL, 1 << 9, true },
	{ "D-61", CONFIG("overgrants"), "server.overgrants=false", NULL, 0, false },
	{ "D-63", CONFIG("malformed"), "server.last_is_unpadded=false", NULL, 0, true },
	{ "D-64", CONFIG("interfaces"), NULL, NULL, 0, false },
	{ "Azure's padding", CONFIG("interfaces"), "server.interfaces_are_padded=false", NULL, 0, true },
	{ "D-71", CONFIG("session-deleted"), NULL, NULL, 0, false },
};

struct seen {
	uint64_t states;
	uint64_t server_breaks;
};

static struct seen explore(const char *bug, const char *config, char **sets)
{
	struct model_options how = { .jobs = 1 };
	g_autoptr(GError) error = NULL;
	struct lab_check *check = lab_check_load(config, sets, &error);
	struct model_result result;
	struct seen seen;

	cr_assert_not_null(check, "%s: %s", bug, error ? error->message : "");
	struct model *model = model_new(&check->model, &error);
	cr_assert_not_null(model, "%s: %s", bug, error ? error->message : "");
	model_explore(model, &how, &result);
	cr_expect_eq(result.outcome, MODEL_HOLDS, "%s: %s %s", bug, result.found.rule, result.found.text);
	cr_expect_gt(result.ends, 0u, "%s", bug);
	seen = (struct seen){ result.numbers.states, model_server_broke(model) };
	model_result_clear(&result);
	model_free(model);
	lab_check_free(check);
	return seen;
}

/* No rule is broken by what the client sends, and operations end. */
Test(misbehave, the_client_survives_servers_of_the_field)
{
	for (size_t i = 0; i < G_N_ELEMENTS(bugs); i++) {
		struct seen on, off;

		on = explore(bugs[i].bug, bugs[i].config, (char *[]){ (char *)bugs[i].more, NULL });
		cr_expect_eq(on.server_breaks, bugs[i].server_breaks, "%s: the server breaks %#lx", bugs[i].bug,
			     (unsigned long)on.server_breaks);
		if (!bugs[i].off)
			continue;
		off = explore(bugs[i].bug, bugs[i].config,
			      (char *[]){ (char *)bugs[i].off, (char *)bugs[i].more, NULL });
		cr_expect_eq(on.states == off.states, bugs[i].is_unmoved, "%s: %lu and %lu states", bugs[i].bug,
			     (unsigned long)on.states, (unsigned long)off.states);
	}
}

/* A hard mount goes on for ever, and that is told. */
Test(misbehave, a_hard_mount_does_not_give_up)
{
	g_autoptr(GError) error = NULL;
	struct lab_check *check = lab_check_load(
		CONFIG("next-is-wild"), (char *[]){ "client.mount=hard,vers=3.1.1", "workload.thread2=open f", NULL },
		&error);
	struct model_result result;

	cr_assert_not_null(check, "%s", error ? error->message : "");
	struct model *model = model_new(&check->model, NULL);
	model_explore(model, &(struct model_options){ .jobs = 1 }, &result);
	cr_expect_eq(result.outcome, MODEL_BROKEN);
	cr_expect_str_eq(result.found.rule, "stuck");
	model_result_clear(&result);
	model_free(model);
	lab_check_free(check);
}

/* What the client does wrong is found with such a server, too: 6.12 keeps the sizes of its mount. */
Test(misbehave, a_fault_of_the_client_is_not_excused)
{
	g_autoptr(GError) error = NULL;
	struct lab_check *check = lab_check_load(SMB_SOURCE_DIR "/experiments/check/limits.ini",
						 (char *[]){ "client.kernel=6.12", "server.final_grants=true", NULL },
						 &error);
	struct model_result result;

	cr_assert_not_null(check, "%s", error ? error->message : "");
	struct model *model = model_new(&check->model, NULL);
	model_explore(model, &(struct model_options){ .jobs = 1 }, &result);
	cr_expect_eq(result.outcome, MODEL_BROKEN);
	cr_expect_str_eq(result.found.rule, "C31", "%s", result.found.rule);
	model_result_clear(&result);
	model_free(model);
	lab_check_free(check);
}
