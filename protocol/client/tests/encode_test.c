/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The canonical form: the same for histories that make no difference, another for states that differ. */
#include "protocol/client/tests/peer.h"

#include <criterion/criterion.h>
#include <string.h>

#define FORM_MAX 65536

struct form {
	uint8_t bytes[FORM_MAX];
	size_t length;
};

static const struct smb_client_limits limits = { .channels = 2,
						 .requests = 24,
						 .ops = 4,
						 .files = 2,
						 .page_runs = 40,
						 .outputs = 24,
						 .names = 16,
						 .command_files = 2 };

static struct form *form_of(const struct peer *peer)
{
	static struct form forms[4];
	static unsigned turn;
	struct form *form = &forms[turn++ % 4];

	form->length = smb_client_encode(peer->client, form->bytes, sizeof(form->bytes));
	cr_assert_gt(form->length, 0);
	return form;
}

static bool same(const struct form *a, const struct form *b)
{
	return a->length == b->length && !memcmp(a->bytes, b->bytes, a->length);
}

/** Three uncached READs, answered in this order. */
static struct peer *after_reads(const uint32_t order[3])
{
	struct peer *peer = peer_new_limits("6.1", "cache=none,rsize=65536", 4096, &limits);
	struct smb_op read = { .kind = SMB_OP_READ, .length = 4096 };

	peer->any_copy_order = true;
	read.file = peer_mount_and_open(peer);
	peer->hold_reads = true;
	for (uint32_t i = 0; i < 3; i++) {
		read.offset = 4096 * i;
		peer_submit(peer, &read);
	}
	for (uint32_t i = 0; i < 3; i++)
		peer_answer_read(peer, order[i]);
	peer->held_count = 0;
	peer_run(peer);
	return peer;
}

Test(encode, the_order_of_answers_leaves_nothing_behind)
{
	static const uint32_t orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 } };
	struct smb_op read = { .kind = SMB_OP_READ, .length = 4096 };
	struct peer *first = after_reads(orders[0]);

	peer_submit(first, &read);
	for (uint32_t n = 1; n < 3; n++) {
		struct peer *other = after_reads(orders[n]);
		peer_submit(other, &read); /* takes another slot */
		cr_expect(same(form_of(first), form_of(other)), "order %u", n);
		peer_free(other);
	}
	peer_free(first);
}

Test(encode, message_ids_are_relative)
{
	struct smb_client_limits single = limits;
	single.channels = 1;
	struct peer *peer = peer_new_limits("6.12", "cache=none,rsize=65536,max_credits=40", 4096, &single);
	struct smb_op read = { .kind = SMB_OP_READ, .length = 65536 };
	struct smb_channel_info info;

	read.file = peer_mount_and_open(peer);
	for (uint32_t i = 0; i < 30; i++)
		peer_do(peer, &read); /* until the client has all credits it wants */
	uint64_t now_ns = peer->now_ns;
	smb_client_look_channel(peer->client, 0, &info);
	uint64_t next = info.next_message_id;
	struct form *form = form_of(peer);
	peer->now_ns -= 1000; /* the answer comes at the same time again */
	peer_do(peer, &read);
	cr_assert_eq(peer->now_ns, now_ns);
	smb_client_look_channel(peer->client, 0, &info);
	cr_assert_eq(info.next_message_id, next + 1);
	cr_expect(same(form, form_of(peer)));
	peer_free(peer);
}

static void run_command(struct peer *peer, const char *text)
{
	struct smb_ops_shell shell = { .mount_point = "/mnt" };
	char message[SMB_OPS_MESSAGE_MAX];
	struct smb_ops_command command;
	struct smb_op op = { .kind = SMB_OP_COMMAND, .command = &command };

	cr_assert(smb_ops_parse(text, &shell, &command, NULL, message), "%s", message);
	cr_assert_neq(peer_submit(peer, &op), SMB_OP_NONE);
}

Test(encode, shell_commands_are_part_of_the_state)
{
	static const char *const commands[] = { "rm /mnt/a", "touch /mnt/a", "touch /mnt/b", "mv /mnt/a /mnt/b" };
	static struct form forms[4];

	for (uint32_t n = 0; n < 4; n++) {
		struct peer *peer = peer_new_limits("6.1", "", 4096, &limits);
		peer_mount_and_open(peer);
		struct form idle = *form_of(peer);
		run_command(peer, commands[n]);
		forms[n] = *form_of(peer);
		cr_expect_not(same(&idle, &forms[n]));
		for (uint32_t i = 0; i < n; i++)
			cr_expect_not(same(&forms[i], &forms[n]), "%s, %s", commands[i], commands[n]);
		peer_free(peer);
	}
}

Test(encode, what_a_command_learned_is_part_of_the_state)
{
	struct peer *peer = peer_new_limits("6.1", "", 4096, &limits);

	peer_mount_and_open(peer);
	struct form before = *form_of(peer);
	run_command(peer, "stat /mnt/a");
	peer_run(peer);
	cr_expect_not(same(&before, form_of(peer)));
	cr_expect_eq(smb_client_encode(peer->client, before.bytes, form_of(peer)->length - 1), 0, "too small");
	peer_free(peer);
}

Test(encode, a_wait_that_was_cancelled_is_not_one_that_goes_on)
{
	struct form *forms[2];

	for (uint32_t n = 0; n < 2; n++) {
		struct peer *peer = peer_new_limits("6.1", "vers=3.0", 4096, &limits);
		struct smb_op open = { .kind = SMB_OP_OPEN, .name = "other" };
		peer_mount_and_open(peer);
		uint32_t op = peer_submit(peer, &open);
		peer_deliver(peer);
		if (n)
			smb_client_cancel(peer->client, op, peer->now_ns);
		peer_drain(peer);
		forms[n] = form_of(peer);
		peer_free(peer);
	}
	cr_expect_not(same(forms[0], forms[1]));
}
