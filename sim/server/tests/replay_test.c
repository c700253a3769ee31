/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What real Linux clients asked and what a real Samba 4.17.12 answered, replayed against the simulated server: every
 * status, every credit grant and the length of every reply must be the same.
 *
 * One difference is understood and left: some FLUSHes of the real server took longer than 500 us and were answered
 * with STATUS_PENDING first, which then carried the grant. Here FLUSH takes no time; grants of both replies are added
 * before comparing.
 */

#include "sim/server/tests/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA SMB_SOURCE_DIR "/sim/server/tests/data/"
#define MEMBERS_MAX 8

struct answer {
	uint64_t message_id;
	uint32_t command, status, credits, async;
	uint64_t session_id;
	uint32_t tree_id;
	uint8_t file_id[16];
	bool has_file_id;
};

/* Ids of the real server and those of the simulated one. */
struct ids {
	uint64_t real_session, session;
	uint32_t real_tree[8], tree[8];
	uint32_t trees;
	uint8_t real_file[256][16], file[256][16];
	uint32_t files;
};

struct replay {
	struct t *t;
	struct ids ids;
	char operation[64];
	uint32_t compared;
	uint32_t interims; /* of the real server */
	uint32_t wrong;
};

static const char *const directories[] = { "dummy", "rds", "rdc", "d10", "d10b", "d1000", "d1000b" };
static const char *const files[] = { "ex",  "exs", "rmc",  "rms", "mvc", "mvs", "lnc",
				     "stc", "sts", "catc", "cpx", "apc", "chc", "trc" };

static void make_namespace(struct smb_server *server)
{
	char name[64];

	for (size_t i = 0; i < sizeof(directories) / sizeof(*directories); i++)
		cr_assert(smb_server_make_directory(server, directories[i]));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		cr_assert(smb_server_make_file(server, files[i], 0, 10));
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "d10\\file%d", i);
		cr_assert(smb_server_make_file(server, name, 0, 0));
		snprintf(name, sizeof(name), "d10b\\file%d", i);
		cr_assert(smb_server_make_file(server, name, 0, 0));
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "d1000\\file%03d", i);
		cr_assert(smb_server_make_file(server, name, 0, 0));
		snprintf(name, sizeof(name), "d1000b\\file%03d", i);
		cr_assert(smb_server_make_file(server, name, 0, 0));
	}
}

static uint32_t from_hex(const char *hex, uint8_t *bytes)
{
	uint32_t length = 0;
	unsigned value;

	for (; sscanf(hex, "%2x", &value) == 1; hex += 2)
		bytes[length++] = (uint8_t)value;
	return length;
}

static uint64_t get(const uint8_t *p, int bytes)
{
	uint64_t value = 0;

	for (int i = bytes - 1; i >= 0; i--)
		value = value << 8 | p[i];
	return value;
}

static void put(uint8_t *p, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++, value >>= 8)
		p[i] = (uint8_t)value;
}

/* Replace the real server's ids in a request by ours. */
static void rewrite(const struct ids *ids, uint8_t *bytes, uint32_t length)
{
	uint32_t position = 0, next;

	do {
		uint8_t *header = bytes + position;
		if (get(header + 40, 8) == ids->real_session)
			put(header + 40, ids->session, 8);
		for (uint32_t i = 0; i < ids->trees; i++) {
			if (get(header + 36, 4) == ids->real_tree[i]) {
				put(header + 36, ids->tree[i], 4);
				break;
			}
		}
		next = (uint32_t)get(header + 20, 4);
		position += next;
	} while (next);
	for (uint32_t i = 0; i < ids->files; i++) {
		uint8_t *found = memmem(bytes, length, ids->real_file[i], 16);
		if (found)
			memcpy(found, ids->file[i], 16);
	}
}

static uint32_t parse_answers(char *line, struct answer *answers, uint32_t *length)
{
	uint32_t count = 0;

	*length = (uint32_t)atoi(strtok(line, " \n"));
	for (char *part = strtok(NULL, " \n"); part; part = strtok(NULL, " \n")) {
		struct answer *answer = &answers[count++];
		unsigned long long id, session;
		char file[64];
		cr_assert_leq(count, MEMBERS_MAX);
		cr_assert_eq(sscanf(part, "%llu:%u:%x:%u:%u:%llx:%x:%63s", &id, &answer->command, &answer->status,
				    &answer->credits, &answer->async, &session, &answer->tree_id, file),
			     8);
		answer->message_id = id;
		answer->session_id = session;
		answer->has_file_id = *file != '-';
		if (answer->has_file_id)
			from_hex(file, answer->file_id);
	}
	return count;
}

static void learn_ids(struct ids *ids, const struct answer *real, const struct t_reply *ours)
{
	const struct smb2_message *message = &ours->message;

	if (real->command == SMB2_SESSION_SETUP) {
		ids->real_session = real->session_id;
		ids->session = message->header.session_id;
	}
	if (real->command == SMB2_TREE_CONNECT) {
		ids->real_tree[ids->trees] = real->tree_id;
		ids->tree[ids->trees++] = message->header.tree_id;
	}
	if (real->has_file_id && message->kind == SMB2_BODY_CREATE_RSP) {
		uint32_t i = ids->files++;
		memcpy(ids->real_file[i], real->file_id, 16);
		put(ids->file[i], message->body.create_rsp.file_id.persistent, 8);
		put(ids->file[i] + 8, message->body.create_rsp.file_id.volatile_id, 8);
	}
}

/* A real request that went asynchronous: its interim reply carried the grant, its final one none. */
static void compare(struct replay *replay, const struct answer *real, uint32_t credits)
{
	const struct t_reply *ours = NULL;

	for (uint32_t i = 0; i < replay->t->replies; i++) {
		if (replay->t->reply[i].message.header.message_id == real->message_id)
			ours = &replay->t->reply[i];
	}
	cr_assert(ours, "no reply to MessageId %llu", (unsigned long long)real->message_id);
	learn_ids(&replay->ids, real, ours);
	replay->compared++;
	if (t_status(ours) == real->status && ours->message.header.credits == credits &&
	    ours->message.header.command == real->command)
		return;
	replay->wrong++;
	cr_log_error("%s, MessageId %llu, %s: Samba %08x with %u credits, here %08x with %u", replay->operation,
		     (unsigned long long)real->message_id, smb2_command_name((uint16_t)real->command), real->status,
		     credits, t_status(ours), ours->message.header.credits);
}

/* Replies of the same length take the same time on a link. */
static void compare_length(struct replay *replay, const struct answer *real, uint32_t length)
{
	uint32_t ours = t_last(replay->t)->pdu_bytes;

	if (ours == length)
		return;
	replay->wrong++;
	cr_log_error("%s, MessageId %llu, %s: Samba %u bytes, here %u", replay->operation,
		     (unsigned long long)real->message_id, smb2_command_name((uint16_t)real->command), length, ours);
}

static void send_request(struct replay *replay, const char *hex)
{
	uint8_t bytes[4096];
	struct smb_pdu pdu = { .bytes = bytes, .length = from_hex(hex, bytes) };

	rewrite(&replay->ids, bytes, pdu.length);
	replay->t->replies = 0;
	enum smb_server_verdict verdict = smb_server_receive(replay->t->server, 0, &pdu, replay->t->now_ns);
	t_drain(replay->t);
	cr_assert_eq(verdict, SMB_SERVER_OK, "%s: cut: %s", replay->operation, replay->t->cut);
}

static void run(struct replay *replay, FILE *file)
{
	static char line[16384];
	uint32_t interim_credits = 0;

	while (fgets(line, sizeof(line), file)) {
		struct answer answers[MEMBERS_MAX];
		sscanf(line, "# B %63s", replay->operation);
		if (line[0] == 'C')
			send_request(replay, line + 2);
		if (line[0] != 'S')
			continue;
		uint32_t length;
		uint32_t count = parse_answers(line + 2, answers, &length);
		if (answers[0].status == STATUS_PENDING) {
			replay->interims++;
			interim_credits = answers[0].credits;
			continue;
		}
		for (uint32_t i = 0; i < count; i++)
			compare(replay, &answers[i], answers[i].credits + interim_credits);
		interim_credits = 0;
		compare_length(replay, &answers[count - 1], length);
	}
}

static void replay_file(const char *name, uint32_t at_least)
{
	struct smb_server_profile profile = t_profile();
	struct replay replay = { 0 };
	char path[512];

	snprintf(path, sizeof(path), "%s%s", DATA, name);
	FILE *file = fopen(path, "r");
	cr_assert(file, "%s", path);
	profile.interim = SMB_INTERIM_AFTER; /* as samba-4.17.ini */
	profile.interim_after_ns = 500000;
	replay.t = calloc(1, sizeof(*replay.t));
	replay.t->config = (struct smb_server_config){ .profile = profile, .share = "s", .interface_count = 1 };
	replay.t->server = smb_server_init(malloc(smb_server_size(&smb_server_limits_simulation)),
					   &smb_server_limits_simulation, &replay.t->config);
	make_namespace(replay.t->server);
	smb_server_connected(replay.t->server, 0, 0);
	run(&replay, file);
	fclose(file);
	cr_log_info("%s: %u replies compared, %u interim replies of the real server", name, replay.compared,
		    replay.interims);
	cr_assert_eq(replay.wrong, 0);
	cr_assert_geq(replay.compared, at_least);
	t_free(replay.t);
}

Test(replay, samba_answers_and_grants_a_311_mount_as_recorded)
{
	replay_file("linux-6.1-v311-samba-4.17.txt", 255);
}

Test(replay, samba_answers_and_grants_a_300_mount_as_recorded)
{
	replay_file("linux-6.1-v300-samba-4.17.txt", 250);
}

Test(replay, samba_answers_and_grants_a_210_mount_as_recorded)
{
	replay_file("linux-6.1-v210-samba-4.17.txt", 250);
}

Test(replay, samba_answers_and_grants_a_mount_of_linux_612_as_recorded)
{
	replay_file("linux-6.12-v311-samba-4.17.txt", 200);
}
