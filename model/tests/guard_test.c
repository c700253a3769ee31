/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A core that stops itself in the middle of an event. */
#include "model/internal.h"
#include "model/tests/systems.h"

#include <criterion/criterion.h>

static uint32_t stop(struct model_worker *worker, struct model_event event)
{
	(void)event;
	model_effect_add(worker, MODEL_OUTPUT_CLOSE, 0, 0);
	model_core_stops("file.c:1: function: what cannot be");
	return 7;
}

static uint32_t go_on(struct model_worker *worker, struct model_event event)
{
	(void)worker;
	(void)event;
	return 7;
}

static const struct model_fault_found *broken(const struct model *model, const struct model_worker *worker)
{
	return worker->effect->broken ? model_store_get(model->texts, worker->effect->broken, NULL) : NULL;
}

Test(guard, a_core_that_stops_is_a_rule_broken_and_the_side_stays_as_it_was)
{
	struct model_event event = { .kind = MODEL_MOVE_WAKE };
	struct model_config config;

	system_two_readers(&config, 1, 16);
	struct model *model = model_new(&config, NULL);
	struct model_worker *worker = model_worker_new(model);
	*worker->effect = (struct model_effect){ 0 };
	model_guarded(worker, event, stop, 3);
	const struct model_fault_found *found = broken(model, worker);
	cr_assert_not_null(found);
	cr_expect_str_eq(found->rule, "assertion");
	cr_expect_str_eq(found->text, "file.c:1: function: what cannot be");
	cr_expect_eq(worker->effect->next, 3u);
	cr_expect_eq(worker->effect->outputs, 1u, "what came before it has happened");

	*worker->effect = (struct model_effect){ 0 };
	model_guarded(worker, event, go_on, 3);
	cr_expect_null(broken(model, worker));
	cr_expect_eq(worker->effect->next, 7u);
	model_worker_free(worker);
	model_free(model);
}
