/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Walks that nobody chose, with cuts and reconnects: what is told about them adds up, and tshark reads all of it. */

#include "protocol/monitor/monitor.h"
#include "reports/kit/kit.h"
#include "sim/world/profile.h"

#include <criterion/criterion.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#define WALKS 6
#define STEPS 250

/* Two channels, a file read in one READ that fills several frames, two connections that may be cut. */
static struct model *model_made(bool starts_mounted)
{
	struct model_config config = {
		.client = { .policy = smb_era_find("6.12")->policy,
			    .page_bytes = 4096,
			    .server = "server",
			    .share = "share" },
		.server = { .share = "share",
			    .interface_count = 1,
			    .interfaces = { { .speed_bps = 1000000000, .rss = true } } },
		.files = 1,
		.file = { { .name = "f", .bytes = 1 << 20 } },
		.threads = 1,
		.thread = { { .steps = 3,
			      .step = { { .kind = MODEL_STEP_OPEN },
					{ .kind = MODEL_STEP_READ, .length = 1 << 20 },
					{ .kind = MODEL_STEP_CLOSE } } } },
		.unmounts = true,
		.starts_mounted = starts_mounted,
		.freedom = { .any_order = true },
		.faults = { [MODEL_FAULT_CUT] = 2 },
	};
	struct smb_mount_report report;
	struct model *model;

	cr_assert_eq(smb_mount_options_parse("vers=3.1.1,multichannel,max_channels=2", &config.client.policy,
					     &config.client.mount, &report),
		     SMB_MOUNT_OK, "%s", report.message);
	cr_assert(sim_profile_load("samba-4.17", &config.server.profile, NULL, NULL));
	config.server.profile.interim = SMB_INTERIM_NEVER;
	model_config_set_limits(&config, 2);
	model = model_new(&config, NULL);
	cr_assert_not_null(model);
	return model;
}

/* Moves drawn one by one; the same every time. */
static GArray *walk_drawn(struct model *model, guint32 seed)
{
	GArray *moves = g_array_new(FALSE, FALSE, sizeof(struct model_move));
	struct model_worker *worker = model_worker_new(model);
	g_autoptr(GRand) random = g_rand_new_with_seed(seed);
	struct model_move possible[MODEL_MOVES_MAX];
	struct model_state state, next;
	uint32_t count;

	model_first_state(model, &state);
	while (moves->len < STEPS && (count = model_moves(worker, &state, possible))) {
		struct model_move move = possible[g_rand_int_range(random, 0, (gint32)count)];

		g_array_append_val(moves, move);
		if (!model_do(worker, &state, move, &next))
			break;
		state = next;
	}
	model_worker_free(worker);
	return moves;
}

struct seen {
	guint sent[2], arrived[2], lost[2]; /* by enum model_direction */
	guint cuts, connects;
};

static void look(const struct kit_walk *walk, struct seen *seen)
{
	*seen = (struct seen){ 0 };
	for (guint i = 0; i < walk->events->len; i++) {
		const struct kit_event *event = &g_array_index(walk->events, struct kit_event, i);

		seen->cuts += event->kind == KIT_CUT;
		seen->connects += event->kind == KIT_CONNECTED;
		if (event->kind == KIT_SENT)
			seen->sent[event->pdu->direction]++;
		if (event->kind == KIT_ARRIVED)
			seen->arrived[event->pdu->direction]++;
	}
	for (guint i = 0; i < walk->pdus->len; i++) {
		const struct kit_pdu *pdu = walk->pdus->pdata[i];

		seen->lost[pdu->direction] += pdu->arrived == KIT_LOST;
		cr_expect(pdu->arrived < 0 || pdu->arrived > pdu->sent);
	}
}

static char *tshark(const char *path, const char *options)
{
	g_autofree char *line = g_strdup_printf("tshark -n -r '%s' %s 2>/dev/null", path, options);
	FILE *pipe = popen(line, "r");
	GString *said = g_string_new(NULL);
	char part[4096];

	cr_assert_not_null(pipe);
	while (fgets(part, sizeof(part), pipe))
		g_string_append(said, part);
	cr_assert_eq(pclose(pipe), 0, "tshark does not run; this test needs it: %s", line);
	return g_string_free(said, FALSE);
}

/* Frames that tshark marks: what it cannot read, and holes in the streams. */
#define BAD_FRAMES                                                                                                     \
	"-Y '_ws.malformed || _ws.expert.severity == error || tcp.analysis.lost_segment || "                           \
	"tcp.analysis.retransmission || tcp.analysis.ack_lost_segment || tcp.analysis.out_of_order'"

/* Frames of the capture against what the walk knows. */
static void assert_captured(const struct kit_walk *walk, const struct seen *seen)
{
	struct kit_origin origin = { .program = (char *)"test" };
	g_autoptr(GByteArray) capture = kit_capture(walk, &origin);
	g_autofree char *path = NULL, *frames = NULL, *bad = NULL;
	int file = g_file_open_tmp("kit-XXXXXX.pcapng", &path, NULL);
	guint under_way = seen->sent[MODEL_TO_CLIENT] - seen->arrived[MODEL_TO_CLIENT] - seen->lost[MODEL_TO_CLIENT];
	guint pdus = 0, connects = 0;

	cr_assert(file >= 0 && g_close(file, NULL));
	cr_assert(g_file_set_contents(path, (const char *)capture->data, (gssize)capture->len, NULL));
	frames = tshark(path, "-T fields -E occurrence=f -e tcp.flags -e smb2.cmd");
	bad = tshark(path, BAD_FRAMES);
	remove(path);
	for (const char *at = frames; *at; at = strchr(at, '\n') + 1) {
		connects += g_str_has_prefix(at, "0x0002\t");
		pdus += strchr(at, '\t')[1] != '\n';
	}
	cr_expect_eq(pdus, seen->sent[MODEL_TO_SERVER] + seen->arrived[MODEL_TO_CLIENT] + under_way, "%s", frames);
	cr_expect_eq(connects, seen->connects, "%s", frames);
	cr_expect_str_eq(bad, "", "marked by tshark: %s", bad);
}

Test(walk, what_is_sent_arrives_is_lost_or_is_under_way_and_tshark_sees_it)
{
	guint cuts = 0, arrived = 0, lost = 0, reconnects = 0;

	for (guint32 seed = 1; seed <= WALKS; seed++) {
		struct model *model = model_made(seed % 2);
		g_autoptr(GArray) moves = walk_drawn(model, seed);
		g_autoptr(GError) error = NULL;
		guint bad;
		struct kit_walk *walk = kit_walk_new(model, moves, &bad, &error);
		struct seen seen;

		cr_assert_not_null(walk, "seed %u, move %u: %s", seed, bad, error ? error->message : "");
		cr_expect_eq(walk->steps->len, walk->mounting + moves->len);
		cr_expect_eq(walk->mounting > 0, seed % 2);
		look(walk, &seen);
		for (int i = 0; i < 2; i++)
			cr_expect(seen.arrived[i] + seen.lost[i] <= seen.sent[i]);
		assert_captured(walk, &seen);
		cuts += seen.cuts;
		arrived += seen.arrived[MODEL_TO_SERVER] + seen.arrived[MODEL_TO_CLIENT];
		lost += seen.lost[MODEL_TO_SERVER] + seen.lost[MODEL_TO_CLIENT];
		reconnects += seen.connects > 2;
		kit_walk_free(walk);
		model_free(model);
	}
	cr_expect(arrived > 100 && cuts > WALKS / 2 && lost && reconnects,
		  "%u PDUs arrived, %u were lost, %u cuts, %u walks that reconnect", arrived, lost, cuts, reconnects);
}

Test(walk, a_move_that_cannot_happen_is_named)
{
	struct model *model = model_made(true);
	g_autoptr(GArray) moves = walk_drawn(model, 1);
	g_autoptr(GError) error = NULL;
	guint bad = 0;

	g_array_set_size(moves, 3);
	g_array_append_vals(moves, &(struct model_move){ .kind = MODEL_MOVE_WORK, .argument = 63 }, 1);
	cr_assert_null(kit_walk_new(model, moves, &bad, &error));
	cr_expect_eq(bad, 3u);
	cr_expect_str_eq(error->message, "'work 63' cannot happen here");
	model_free(model);
}

Test(walk, what_ought_to_happen_is_known_for_each_rule)
{
	for (int i = 1; i < SMB_RULE_MAX; i++) {
		const struct smb_rule_info *info = smb_rule_info((enum smb_rule)i);

		cr_expect(!info || strcmp(kit_instead(info->name), info->meaning) != 0, "%s has no sentence of its own",
			  info ? info->name : "");
	}
}
