/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Oplock and lease breaks (MS-SMB2 3.3.4.6, 3.3.4.7, 3.3.5.22). */

#include "protocol/wire/contexts.h"
#include "sim/server/tests/harness.h"

#include <string.h>

#define RWH (SMB2_LEASE_READ_CACHING | SMB2_LEASE_WRITE_CACHING | SMB2_LEASE_HANDLE_CACHING)
#define NONE UINT32_MAX

static struct t *start(void)
{
	struct t *t = t_new();

	t_mount(t);
	t_bind(t, 1);
	t->credits = 10;
	return t;
}

static struct smb2_file_id open_with(struct t *t, uint8_t oplock, uint32_t lease_state)
{
	static uint8_t data[SMB2_LEASE_V2_SIZE];
	struct smb2_message create = t_create_request(t, "file", 1, 0);
	struct smb2_lease lease = { .is_v2 = true, .key = "key", .state = lease_state };

	create.body.create_req.oplock_level = oplock;
	if (oplock == SMB2_OPLOCK_LEVEL_LEASE)
		create.body.create_req.contexts[create.body.create_req.context_count++] = smb2_lease_context(&lease,
													     data);
	struct t_reply *reply = t_ask(t, 0, &create);
	cr_assert_eq(t_status(reply), STATUS_SUCCESS);
	return reply->message.body.create_rsp.file_id;
}

static uint32_t only_open(const struct t *t, struct smb_server_open_info *info)
{
	uint32_t found = NONE;

	for (uint32_t i = 0; i < smb_server_limits_simulation.handles; i++) {
		struct smb_server_open_info look;
		smb_server_look_open(t->server, i, &look);
		if (!look.is_open)
			continue;
		cr_assert_eq(found, NONE);
		found = i;
		*info = look;
	}
	return found;
}

static bool do_break(struct t *t, uint32_t connection, uint32_t to)
{
	struct smb_server_open_info info;
	uint32_t open = only_open(t, &info);

	t->replies = 0;
	bool done = smb_server_break(t->server, open, connection, to, t->now_ns);
	t_drain(t);
	return done;
}

static struct t_reply *acknowledge_lease(struct t *t, const char *key, uint32_t state)
{
	struct smb2_message ack = t_request(t, 0, SMB2_OPLOCK_BREAK, SMB2_BODY_LEASE_BREAK_ACK);

	memcpy(ack.body.lease_break_ack.lease_key, key, strlen(key));
	ack.body.lease_break_ack.lease_state = state;
	return t_ask(t, 0, &ack);
}

static struct t_reply *acknowledge_oplock(struct t *t, struct smb2_file_id id, uint8_t level)
{
	struct smb2_message ack = t_request(t, 0, SMB2_OPLOCK_BREAK, SMB2_BODY_OPLOCK_BREAK);

	ack.body.oplock_break = (struct smb2_oplock_break){ level, id };
	return t_ask(t, 0, &ack);
}

Test(breaks, a_lease_break_is_notified_on_any_channel_and_acknowledged)
{
	struct t *t = start();
	struct smb_server_open_info info;

	open_with(t, SMB2_OPLOCK_LEVEL_LEASE, RWH);
	cr_assert_neq(only_open(t, &info), NONE);
	cr_assert_eq(info.lease_state, (uint32_t)RWH);
	cr_assert_eq(info.channels, 3u);
	cr_assert(do_break(t, 1, SMB2_LEASE_READ_CACHING));
	struct t_reply *reply = t_last(t);
	cr_assert_eq(reply->connection, 1u);
	cr_assert_eq(reply->message.header.message_id, SMB2_MESSAGE_ID_UNSOLICITED);
	cr_assert_eq(reply->message.header.session_id, 0u);
	cr_assert_eq(reply->message.header.credits, 0);
	cr_assert_eq(reply->message.kind, SMB2_BODY_LEASE_BREAK_NOTIFY);
	cr_assert_eq(reply->message.body.lease_break_notify.flags, 1u);
	cr_assert_eq(reply->message.body.lease_break_notify.current_state, (uint32_t)RWH);
	cr_assert_eq(reply->message.body.lease_break_notify.new_state, SMB2_LEASE_READ_CACHING);
	only_open(t, &info);
	cr_assert(info.is_breaking);
	cr_assert_not(do_break(t, 0, 0), "one break at a time");
	cr_assert_eq(t_status(acknowledge_lease(t, "key", SMB2_LEASE_READ_CACHING)), STATUS_SUCCESS);
	only_open(t, &info);
	cr_assert_not(info.is_breaking);
	cr_assert_eq(info.lease_state, SMB2_LEASE_READ_CACHING);
	cr_assert(do_break(t, 0, 0), "and once more, to nothing");
	cr_assert_eq(t_last(t)->message.body.lease_break_notify.flags, 0u, "nothing to write back: no acknowledgement");
	only_open(t, &info);
	cr_assert_not(info.is_breaking);
	t_free(t);
}

Test(breaks, wrong_lease_acknowledgements_are_refused)
{
	struct t *t = start();

	open_with(t, SMB2_OPLOCK_LEVEL_LEASE, RWH);
	cr_assert_eq(t_status(acknowledge_lease(t, "key", 0)), 0xc0000001u, "nothing is breaking");
	cr_assert(do_break(t, 0, SMB2_LEASE_READ_CACHING));
	cr_assert_eq(t_status(acknowledge_lease(t, "other", 0)), STATUS_OBJECT_NAME_NOT_FOUND);
	cr_assert_eq(t_status(acknowledge_lease(t, "key", RWH)), STATUS_REQUEST_NOT_ACCEPTED);
	cr_assert_eq(t_status(acknowledge_lease(t, "key", 0)), STATUS_SUCCESS, "less than it was broken to");
	t_free(t);
}

Test(breaks, a_batch_oplock_is_broken_to_level_two)
{
	struct t *t = start();
	struct smb_server_open_info info;
	struct smb2_file_id id = open_with(t, 9, 0);

	cr_assert_eq(t_status(acknowledge_oplock(t, id, 1)), 0xc0000184u, "nothing is breaking");
	cr_assert(do_break(t, 1, 1));
	cr_assert_eq(t_last(t)->message.kind, SMB2_BODY_OPLOCK_BREAK);
	cr_assert_eq(t_last(t)->message.body.oplock_break.oplock_level, 1);
	cr_assert_eq(t_last(t)->message.body.oplock_break.file_id.volatile_id, id.volatile_id);
	cr_assert_eq(t_status(acknowledge_oplock(t, id, 8)), 0xc00000e3u);
	cr_assert_eq(t_status(acknowledge_oplock(t, id, 1)), STATUS_SUCCESS);
	only_open(t, &info);
	cr_assert_eq(info.oplock_level, 1);
	cr_assert(do_break(t, 0, 0));
	only_open(t, &info);
	cr_assert_eq(info.oplock_level, 0);
	t_free(t);
}

Test(breaks, what_cannot_be_broken_is_left_alone)
{
	struct t *t = start();

	struct smb2_file_id id = t_open(t, "file");
	cr_assert_not(do_break(t, 0, 0), "an open without caching");
	t_close(t, id);
	open_with(t, SMB2_OPLOCK_LEVEL_LEASE, RWH);
	cr_assert_not(do_break(t, 0, RWH), "to what it has");
	cr_assert_not(do_break(t, 2, 0), "on a connection that is not open");
	t_negotiate(t, 2, SMB2_DIALECT_311);
	cr_assert_not(do_break(t, 2, 0), "on a connection of no session");
	cr_assert_eq(t->replies, 0u);
	t_free(t);
}

Test(breaks, a_close_ends_the_break)
{
	struct t *t = start();
	struct smb2_file_id id = open_with(t, SMB2_OPLOCK_LEVEL_LEASE, RWH);

	cr_assert(do_break(t, 0, 0));
	cr_assert_eq(t_status(t_close(t, id)), STATUS_SUCCESS);
	cr_assert_eq(t_status(acknowledge_lease(t, "key", 0)), STATUS_OBJECT_NAME_NOT_FOUND);
	t_free(t);
}

Test(breaks, all_opens_of_a_lease_lose_together)
{
	struct t *t = start();
	struct smb_server_open_info info;
	uint32_t opens = 0, first = NONE;

	open_with(t, SMB2_OPLOCK_LEVEL_LEASE, RWH);
	open_with(t, SMB2_OPLOCK_LEVEL_LEASE, RWH);
	for (uint32_t i = 0; i < smb_server_limits_simulation.handles; i++) {
		smb_server_look_open(t->server, i, &info);
		first = info.is_open && first == NONE ? i : first;
	}
	t->replies = 0;
	cr_assert(smb_server_break(t->server, first, 0, 0, 0));
	t_drain(t);
	cr_assert_eq(t->replies, 1u, "one notification per key");
	cr_assert_eq(t_status(acknowledge_lease(t, "key", 0)), STATUS_SUCCESS);
	for (uint32_t i = 0; i < smb_server_limits_simulation.handles; i++) {
		smb_server_look_open(t->server, i, &info);
		opens += info.is_open;
		cr_assert(!info.is_open || (!info.is_breaking && !info.lease_state));
	}
	cr_assert_eq(opens, 2u);
	t_free(t);
}
