/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The block itself, and answers that no good server gives. What real kernels send is compared in sim/world/tests. */

#include "protocol/ops/ops.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct smb_ops_config config_of(const char *kernel)
{
	return (struct smb_ops_config){
		.policy = smb_era_find(kernel)->policy,
		.dialect = SMB2_DIALECT_311,
		.can_lease = true,
		.actimeo_ms = 1000,
		.serverino = true,
		.rsize = 4194304,
		.wsize = 4194304,
		.page_bytes = 4096,
	};
}

static const struct smb_ops_limits limits = { .dentries = 16, .files = 2 };

static struct smb_ops *ops_new(const char *kernel)
{
	struct smb_ops_config config = config_of(kernel);
	struct smb_ops *ops = smb_ops_init(malloc(smb_ops_size(&limits)), &limits, &config);

	cr_assert(ops);
	cr_assert(smb_ops_is_valid(ops));
	return ops;
}

static void begin(struct smb_ops *ops, enum smb_ops_command_kind kind, const char *source, const char *target)
{
	struct smb_ops_command command = { .kind = kind, .bytes = 3 };

	strcpy(command.source, source);
	strcpy(command.target, target);
	cr_assert(smb_ops_begin(ops, &command, 0));
}

Test(ops, limits_and_configurations_out_of_range_are_refused)
{
	struct smb_ops_config config = config_of("6.1");
	struct smb_ops_limits bad = limits;
	void *block = malloc(smb_ops_size(&limits));

	bad.dentries = 7;
	cr_expect_eq(smb_ops_size(&bad), 0);
	cr_expect_null(smb_ops_init(block, &bad, &config));
	config.page_bytes = 5000;
	cr_expect_null(smb_ops_init(block, &limits, &config));
	config = config_of("6.1");
	config.rsize = 0;
	cr_expect_null(smb_ops_init(block, &limits, &config));
	free(block);
}

Test(ops, one_command_at_a_time_and_no_mount)
{
	struct smb_ops *ops = ops_new("6.1");
	struct smb_ops_command stat = { .kind = SMB_OPS_STAT };
	struct smb_ops_command mount = { .kind = SMB_OPS_MOUNT };

	cr_expect_not(smb_ops_begin(ops, &mount, 0));
	cr_expect(smb_ops_begin(ops, &stat, 0));
	cr_expect_not(smb_ops_begin(ops, &stat, 0));
	free(ops);
}

Test(ops, a_copy_of_the_block_goes_on_as_the_original)
{
	struct smb_ops *ops = ops_new("6.1");
	struct smb_ops_step first, second;
	struct smb_ops *copy = malloc(smb_ops_block_size(ops));

	begin(ops, SMB_OPS_MV, "a", "b");
	memcpy(copy, ops, smb_ops_block_size(ops));
	smb_ops_next(ops, 5, &first);
	smb_ops_next(copy, 5, &second);
	cr_expect_eq(first.kind, SMB_OPS_SEND);
	cr_expect_eq(second.kind, SMB_OPS_SEND);
	cr_expect_eq(first.count, second.count);
	free(ops);
	free(copy);
}

Test(ops, replies_to_nothing_are_refused)
{
	struct smb_ops *ops = ops_new("6.1");
	struct smb2_message message = { .kind = SMB2_BODY_ERROR_RSP };
	struct smb_ops_step step;

	cr_expect_not(smb_ops_reply(ops, SMB_OPS_LANE_COMMAND, 0, &message, 0));
	cr_expect_not(smb_ops_reply(ops, 1, 0, &message, 0));
	begin(ops, SMB_OPS_STAT, "a", "");
	smb_ops_next(ops, 0, &step);
	cr_assert_eq(step.count, 3);
	cr_expect_not(smb_ops_reply(ops, SMB_OPS_LANE_COMMAND, 3, &message, 0));
	cr_expect(smb_ops_reply(ops, SMB_OPS_LANE_COMMAND, 2, &message, 0));
	cr_expect_not(smb_ops_reply(ops, SMB_OPS_LANE_COMMAND, 2, &message, 0), "twice");
	free(ops);
}

/** Answer whatever is asked with `message` (NULL: lost); how the command ends. */
static enum smb_ops_error answer_all(struct smb_ops *ops, const struct smb2_message *message, unsigned int *sends)
{
	struct smb_ops_step step;

	for (*sends = 0; *sends < 100;) {
		smb_ops_next(ops, 0, &step);
		cr_assert(smb_ops_is_valid(ops));
		if (step.kind == SMB_OPS_DONE)
			return step.error;
		cr_assert_eq(step.kind, SMB_OPS_SEND);
		++*sends;
		for (uint32_t i = 0; i < step.count; i++) {
			struct smb_ops_member_info info;
			struct smb_ops_scratch scratch = { 0 };
			struct smb2_message request;

			smb_ops_member(ops, step.lane, i, &request, &scratch, &info);
			cr_assert(smb_ops_reply(ops, step.lane, i, message, 0));
		}
	}
	cr_assert_fail("the command does not end");
	return SMB_OPS_IO;
}

Test(ops, every_command_ends_when_all_requests_are_lost_or_refused)
{
	static const char *const kernels[] = { "4.15", "4.20", "5.10", "6.1", "6.12", "next" };
	struct smb2_message refused = { .header.status = STATUS_ACCESS_DENIED, .kind = SMB2_BODY_ERROR_RSP };
	struct smb2_message empty = { .kind = SMB2_BODY_EMPTY };
	const struct smb2_message *answers[] = { NULL, &refused, &empty };
	unsigned int sends;

	for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
		for (int kind = 0; kind < SMB_OPS_COMMANDS; kind++) {
			for (size_t i = 0; i < 3; i++) {
				struct smb_ops *ops = ops_new(kernels[k]);

				if (kind == SMB_OPS_MOUNT) {
					free(ops);
					continue;
				}
				begin(ops, (enum smb_ops_command_kind)kind, "d/a", "d/b");
				answer_all(ops, answers[i], &sends);
				cr_expect_geq(sends, 1u, "%s", smb_ops_command_name(kind));
				free(ops);
			}
		}
	}
}

Test(ops, names_that_do_not_fit_are_refused)
{
	struct smb_ops *ops = ops_new("6.1");
	char name[100];
	unsigned int sends;

	memset(name, 'a', sizeof(name));
	name[61] = 0;
	begin(ops, SMB_OPS_STAT, name, "");
	cr_expect_eq(answer_all(ops, NULL, &sends), SMB_OPS_NAME_TOO_LONG);
	cr_expect_eq(sends, 0);
	free(ops);
}

Test(ops, old_names_make_room_for_new_ones)
{
	struct smb_ops *ops = ops_new("6.1");
	struct smb_ops_info info;
	unsigned int sends;

	for (int i = 0; i < 100; i++) {
		struct smb2_message missing = { .header.status = STATUS_OBJECT_NAME_NOT_FOUND,
						.kind = SMB2_BODY_ERROR_RSP };
		char name[16];

		snprintf(name, sizeof(name), "f%d", i);
		begin(ops, SMB_OPS_STAT, name, "");
		cr_expect_eq(answer_all(ops, &missing, &sends), SMB_OPS_NOT_FOUND);
		cr_expect_eq(sends, 1);
	}
	smb_ops_look(ops, &info);
	cr_expect_eq(info.names, limits.dentries);
	smb_ops_drop_caches(ops);
	smb_ops_look(ops, &info);
	cr_expect_eq(info.names, 1, "the root stays");
	free(ops);
}
