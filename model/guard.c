/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A core that finds what cannot be stops itself with an assertion. To the model that is one more thing an event can bring. */

#include "model/internal.h"

#include <setjmp.h>

/* Where the thread goes on when the core that it runs stops. */
static _Thread_local jmp_buf *way_out;
static _Thread_local const char *said;

void model_core_stops(const char *text)
{
	if (!way_out)
		return;
	said = text;
	longjmp(*way_out, 1);
}

void model_guarded(struct model_worker *worker, struct model_event event,
		   uint32_t (*run)(struct model_worker *worker, struct model_event event), uint32_t before)
{
	jmp_buf place;

	way_out = &place;
	if (setjmp(place) == 0) {
		worker->effect->next = run(worker, event);
	} else {
		model_effect_broken(worker, "assertion", "%s", said);
		worker->effect->next = before;
	}
	way_out = NULL;
}
