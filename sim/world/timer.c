/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A core's one alarm: the thread that wakes it at the time it last asked for. */

#include "sim/world/world_internal.h"

static uint64_t alarm_ns(const struct world_timer *timer)
{
	return timer->is_held ? UINT64_MAX : timer->due_ns;
}

static void timer_main(void *arg)
{
	struct world_timer *timer = arg;

	for (;;) {
		uint64_t due_ns = alarm_ns(timer);
		if (sim_queue_pop_until(timer->changed, due_ns) || due_ns != alarm_ns(timer))
			continue;
		timer->due_ns = UINT64_MAX;
		timer->ring(timer->world);
		if (timer->rung)
			sim_queue_push(timer->rung, timer);
	}
}

void world_timer_start(struct world *world, struct world_timer *timer, enum sim_side side, const char *name)
{
	timer->world = world;
	timer->changed = sim_queue_new(world->engine);
	timer->due_ns = UINT64_MAX;
	if (side == SIM_CLIENT)
		world_thread_start(world, name, timer_main, timer);
	else
		sim_thread_start(world->engine, side, name, timer_main, timer);
}

void world_timer_set(struct world_timer *timer, uint64_t due_ns)
{
	timer->due_ns = due_ns;
	sim_queue_push(timer->changed, timer);
}
