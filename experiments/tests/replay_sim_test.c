/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The simulation follows not only counterexamples: any run of any model, each core in the same state after each move. */

#include "experiments/replay_sim.h"

#include <criterion/criterion.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECKS "experiments/check"
#define MOVES_MAX 200

/* A run in which any move is as likely as any other, faults and choices of the server among them. `end`: a rule that is
 * broken because it ends there, "none" otherwise. */
static GArray *walk_of(const struct model_config *config, guint32 seed, struct model_fault_found *end)
{
	GArray *walk = g_array_new(FALSE, FALSE, sizeof(struct model_move));
	struct model *model = model_new(config, NULL);
	struct model_worker *worker = model_worker_new(model);
	g_autoptr(GRand) random = g_rand_new_with_seed(seed);
	struct model_move moves[MODEL_MOVES_MAX];
	struct model_state state, next;
	uint32_t count;

	model_first_state(model, &state);
	while (walk->len < MOVES_MAX && (count = model_moves(worker, &state, moves))) {
		struct model_move move = moves[g_rand_int_range(random, 0, (gint32)count)];

		if (!model_do(worker, &state, move, &next))
			break;
		g_array_append_val(walk, move);
		state = next;
	}
	*end = (struct model_fault_found){ .rule = "none" };
	if (walk->len < MOVES_MAX && !model_moves(worker, &state, moves) && !model_check_end(worker, &state))
		*end = *model_broken(worker);
	model_worker_free(worker);
	model_free(model);
	return walk;
}

/* In a process of its own, as SimGrid wants it; 0: followed to the end. */
static int follow(const struct lab_check *check, const char *name, guint32 seed)
{
	struct model_fault_found end;
	g_autoptr(GArray) walk = walk_of(&check->model, seed, &end);
	struct lab_sim_verdict verdict;
	GError *error = NULL;

	if (!lab_replay_sim(check, walk, end.rule, &verdict, &error)) {
		fprintf(stderr, "%s, seed %u: %s\n", name, seed, error->message);
		return 1;
	}
	if (verdict.is_followed && (verdict.is_same || (!verdict.is_broken && !strcmp(end.rule, "none"))))
		return 0;
	fprintf(stderr, "%s, seed %u, step %s of %u: %s%s %s\n", name, seed, verdict.step, walk->len, verdict.why,
		verdict.rule, verdict.text);
	return 1;
}

static void follow_apart(const struct lab_check *check, const char *name, guint32 seed)
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(follow(check, name, seed));
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s, seed %u is not followed", name, seed);
}

/* All that may go wrong, and all that a server may choose. */
static const char *const everything[] = {
	"faults.cuts=2",	  "faults.refusals=2",	 "faults.cancels=2",
	"faults.send_failures=2", "faults.pushbacks=2",	 "faults.expiries=1",
	"faults.breaks=2",	  "faults.timers=3",	 "faults.strangers=1",
	"server.order=any",	  "server.grants=0;1;5", "server.interims=true",
	"server.splits=true",	  "server.spreads=true", NULL,
};

static void follow_all(const char *const *sets, guint32 walks)
{
	g_autofree char *directory = g_build_filename(SMB_SOURCE_DIR, CHECKS, NULL);
	GDir *configs = g_dir_open(directory, 0, NULL);
	const char *name;
	guint count = 0;

	cr_assert(configs);
	while ((name = g_dir_read_name(configs))) {
		g_autofree char *path = g_build_filename(directory, name, NULL);
		GError *error = NULL;
		struct lab_check *check = lab_check_load(path, (char **)sets, &error);

		cr_assert(check, "%s", error ? error->message : "");
		check->model.symmetry = false;
		for (guint32 seed = 0; seed < walks; seed++)
			follow_apart(check, name, seed);
		lab_check_free(check);
		count++;
	}
	g_dir_close(configs);
	cr_expect_geq(count, 11u);
}

Test(replay_sim, any_run_of_any_config_is_followed)
{
	follow_all(NULL, 1);
}

Test(replay_sim, any_run_is_followed_though_everything_may_happen_in_it)
{
	follow_all(everything, 2);
}
