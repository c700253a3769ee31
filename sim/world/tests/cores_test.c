/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whatever the specification lets a server do, and whatever goes wrong meanwhile: the client breaks no rule, the server
 * never has to cut, and in the end every operation is over, every handle closed. */

#include "sim/world/tests/cores.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct {
	const char *era;
	const char *mount;
} clients[] = {
	{ "6.1", "vers=3.0,rsize=65536,wsize=65536,multichannel,max_channels=3" },
	{ "6.12", "vers=3.1.1,rsize=65536,wsize=65536,multichannel,max_channels=2" },
	{ "5.10", "vers=3.1.1,rsize=131072,wsize=131072,cache=none" },
	{ "4.15", "vers=2.1,rsize=65536,wsize=65536" },
	{ "6.1", "vers=2.0,soft" },
};
#define CLIENTS (sizeof(clients) / sizeof(clients[0]))

/** Mount, then run by chance. */
static struct cores *run(const struct cores_config *config, uint32_t steps)
{
	struct cores *cores = cores_new(config);

	cr_assert(cores_mount(cores), "%s %s seed %lu", config->era, config->mount, (unsigned long)config->seed);
	for (uint32_t i = 0; i < steps; i++)
		cr_assert(cores_step(cores), "nothing can happen");
	return cores;
}

static void end(struct cores *cores)
{
	const struct cores_config *config = &cores->config;

	cr_assert(cores_calm_down(cores, 200000), "%s %s seed %lu: an operation never ends", config->era, config->mount,
		  (unsigned long)config->seed);
	for (uint32_t i = 0; i < 4; i++) {
		if (cores->open[i])
			cores_do(cores, &(struct smb_op){ .kind = SMB_OP_CLOSE, .file = i });
	}
	for (uint32_t i = 0; i < 5000; i++)
		cores_step(cores); /* late answers, and what they cause */
	/* An open whose answer went down with one of several channels is the server's until the session ends. */
	bool may_stay = config->chances.cut && strstr(config->mount, "multichannel");
	cr_assert(may_stay || !cores_server_opens(cores), "%s %s seed %lu: %u handles are left", config->era,
		  config->mount, (unsigned long)config->seed, cores_server_opens(cores));
	cr_assert_eq(cores_do(cores, &(struct smb_op){ .kind = SMB_OP_UNMOUNT }), SMB_OP_OK);
}

static void expect_rules_kept(const struct cores *cores)
{
	cr_assert_eq(cores->violations, 0, "%s %s seed %lu: C%u, %s (command %u, id %lu, channel %u, event %lu)",
		     cores->config.era, cores->config.mount, (unsigned long)cores->config.seed, cores->violation.rule,
		     cores->violation.text, cores->violation.command, (unsigned long)cores->violation.message_id,
		     cores->violation.channel, (unsigned long)cores->violation.event);
	cr_assert_eq(cores->cuts_by_server, 0);
}

Test(cores, a_quiet_server_serves_everybody)
{
	for (uint32_t n = 0; n < CLIENTS; n++) {
		struct cores_config config = { clients[n].era, clients[n].mount, .credits_max = 128, .seed = n + 1 };
		struct cores *cores = run(&config, 4000);
		end(cores);
		expect_rules_kept(cores);
		cr_assert_gt(cores->done[SMB_OP_OK], 50);
		cr_assert_eq(cores->done[SMB_OP_CANCELLED], 0);
		cores_free(cores);
	}
}

Test(cores, whatever_a_server_may_choose)
{
	for (uint32_t seed = 1; seed <= 15; seed++) {
		struct cores_config config = {
			clients[seed % CLIENTS].era,
			clients[seed % CLIENTS].mount,
			.chances = { .choose = true, .refuse = 20, .brk = 10 },
			.credits_max = seed % 2 ? 128 : 20,
			.seed = seed,
		};
		struct cores *cores = run(&config, 3000);
		end(cores);
		expect_rules_kept(cores);
		cores_free(cores);
	}
}

Test(cores, signals_and_sends_that_fail)
{
	uint32_t cancels = 0, unsent = 0;

	for (uint32_t seed = 1; seed <= 15; seed++) {
		struct cores_config config = {
			clients[seed % CLIENTS].era,
			clients[seed % CLIENTS].mount,
			.chances = { .choose = seed % 2, .cancel = 60, .unsent = 20, .brk = 10 },
			.credits_max = 128,
			.seed = seed,
		};
		struct cores *cores = run(&config, 3000);
		end(cores);
		expect_rules_kept(cores);
		cancels += cores->counts[1];
		unsent += cores->counts[2];
		cores_free(cores);
	}
	cr_assert_gt(cancels, 250);
	cr_assert_gt(unsent, 250);
}

Test(cores, channels_that_are_cut_sessions_that_expire_and_time_that_passes)
{
	uint32_t expired = 0;

	for (uint32_t seed = 1; seed <= 20; seed++) {
		struct cores_config config = {
			clients[seed % CLIENTS].era,
			clients[seed % CLIENTS].mount,
			.chances = { .choose = seed % 2,
				     .cut = 8,
				     .cancel = 20,
				     .unsent = 10,
				     .brk = 10,
				     .time = 20,
				     .refuse = 10,
				     .expire = seed % 2 ? 3 : 0 },
			.credits_max = 128,
			.seed = seed,
		};
		struct cores *cores = run(&config, 3000);
		end(cores);
		expect_rules_kept(cores);
		expired += cores->counts[6];
		cores_free(cores);
	}
	cr_assert_gt(expired, 25);
}

/* ------------------------------------------------------------------------------------ servers that do what they must not */

static const struct {
	const char *name;
	struct smb_server_misbehaviour misbehaviour;
	bool may_hang; /* there is no way on with such a server */
} bad_servers[] = {
	{ "starves", { .starves = true }, true },
	{ "overgrants", { .overgrants = true }, false },
	{ "break_grant", { .break_grant = 10 }, false },
	{ "interim_is_free", { .interim_is_free = true }, true },
	{ "final_grants", { .final_grants = true }, false },
	{ "pending_is_odd", { .pending_is_odd = true }, false },
	{ "write_has_junk", { .write_has_junk = true }, false },
	{ "last_is_unpadded", { .last_is_unpadded = true }, false },
	{ "next_is_wild", { .next_is_wild = true }, true },
	{ "second_read_is_lost", { .second_read_is_lost = true }, false },
	{ "interfaces_are_padded", { .interfaces_are_padded = true }, false },
	{ "break_copies", { .break_copies = 20 }, false },
	{ "write_pushback", { .write_pushback = 3 }, false },
};

Test(cores, bad_servers_are_survived_and_their_faults_are_not_the_client_s)
{
	for (uint32_t n = 0; n < sizeof(bad_servers) / sizeof(bad_servers[0]); n++) {
		for (uint32_t seed = 1; seed <= CLIENTS; seed++) {
			struct cores_config config = {
				clients[seed % CLIENTS].era,
				clients[seed % CLIENTS].mount,
				.misbehaviour = bad_servers[n].misbehaviour,
				.chances = { .choose = true, .brk = 20 },
				.credits_max = 128,
				.seed = seed,
			};
			struct cores *cores = cores_new(&config);
			bool mounted = cores_mount(cores);
			cr_assert(mounted || bad_servers[n].may_hang, "%s", bad_servers[n].name);
			for (uint32_t i = 0; i < 2000; i++)
				cores_step(cores);
			bool over = cores_calm_down(cores, 20000);
			cr_assert(over || bad_servers[n].may_hang, "%s, %s %s: an operation never ends",
				  bad_servers[n].name, config.era, config.mount);
			cr_assert(!cores->violations || cores->violation.received, "%s, %s %s: C%u, %s",
				  bad_servers[n].name, config.era, config.mount, cores->violation.rule,
				  cores->violation.text);
			cr_assert_eq(cores->cuts_by_server, 0, "%s, %s", bad_servers[n].name, config.mount);
			cores_free(cores);
		}
	}
}

/* Break acknowledgements of all kernels take no notice of the window; with one credit and another request they leave it. */
Test(cores, acknowledgements_that_overdraw_leave_the_window)
{
	uint32_t violations = 0;

	for (uint32_t seed = 1; seed <= 20; seed++) {
		struct cores_config config = {
			"6.1",
			"vers=3.0,rsize=65536,wsize=65536,multichannel,max_channels=3",
			.chances = { .choose = true, .cut = 20, .brk = 60 },
			.credits_max = 128,
			.overdraw = true,
			.seed = seed,
		};
		struct cores *cores = run(&config, 2000);
		violations += cores->violations || cores->cuts_by_server;
		cr_assert(!cores->violations || cores->violation.rule == SMB_RULE_C6 ||
				  cores->violation.rule == SMB_RULE_C1,
			  "C%u", cores->violation.rule);
		cores_free(cores);
	}
	cr_assert_gt(violations, 0);
}
