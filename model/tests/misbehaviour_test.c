/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of misbehaviours: what each switch sets, and whose fault a rule is. */

#include "model/explore.h"
#include "model/misbehaviour.h"
#include "model/tests/systems.h"

#include <criterion/criterion.h>

Test(misbehaviour, each_row_sets_its_own_member_and_nothing_else)
{
	uint32_t count;
	const struct model_misbehaviour *rows = model_misbehaviours(&count);
	size_t bytes = 0;

	cr_assert_leq(count, MODEL_MISBEHAVIOURS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		struct smb_server_misbehaviour some = { 0 };

		model_misbehaviour_set(&rows[i], &some, rows[i].max);
		for (uint32_t other = 0; other < count; other++)
			cr_expect_eq(model_misbehaviour_is_on(&rows[other], &some), other == i, "%s, %s", rows[i].name,
				     rows[other].name);
		cr_expect_eq(model_misbehaviour_rules(&some), rows[i].rules);
		cr_expect_eq(model_misbehaviour_may_fail(&some), rows[i].may_fail);
		bytes += rows[i].bytes;
	}
	cr_expect_leq(bytes, sizeof(struct smb_server_misbehaviour));
	cr_expect_gt(bytes + sizeof(uint32_t), sizeof(struct smb_server_misbehaviour), "a member without a row");
}

/* The same server, with the fault and without the word that it is one. */
Test(misbehaviour, a_rule_that_the_server_breaks_is_told_apart)
{
	struct model_config config;
	struct model_result result;

	system_two_readers(&config, 1, 16);
	config.freedom.grant[config.freedom.grants++] = 0;
	config.server.misbehaviour.starves = true;
	struct model *model = model_new(&config, NULL);
	model_explore(model, &(struct model_options){ .jobs = 1 }, &result);
	cr_expect_eq(result.outcome, MODEL_HOLDS, "%s: %s", result.found.rule, result.found.text);
	cr_expect_eq(model_server_broke(model), UINT64_C(1) << 11);
	model_result_clear(&result);
	model_free(model);

	config.server.misbehaviour = (struct smb_server_misbehaviour){ 0 };
	model = model_new(&config, NULL);
	model_explore(model, &(struct model_options){ .jobs = 1 }, &result);
	cr_expect_eq(result.outcome, MODEL_HOLDS, "%s: %s", result.found.rule, result.found.text);
	cr_expect_eq(model_server_broke(model), 0);
	model_result_clear(&result);
	model_free(model);
}
