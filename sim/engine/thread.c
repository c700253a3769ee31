/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/engine/internal.h"

#include <simgrid/engine.h>

/* Where the order is chosen from outside, a thread leaves the semaphore after the run. */
void sim_bell_clear(struct sim_bell *bell)
{
	if (bell->semaphore && !sim_order_is_explored())
		sg_sem_destroy(bell->semaphore);
}

void sim_bell_ring(struct sim_engine *engine, struct sim_bell *bell)
{
	if (bell->rung)
		return;
	bell->rung = true;
	if (bell->waiting)
		*(struct sim_bell **)ring_push(&engine->wakes) = bell;
}

void sim_bell_wake(struct sim_engine *engine, struct sim_bell *bell)
{
	sim_order_woken(engine->order);
	if (bell->sleeper)
		sg_actor_resume(bell->sleeper);
	else
		sg_sem_release(bell->semaphore);
}

static void bell_suspend(struct sim_bell *bell)
{
	bell->sleeper = sg_actor_self();
	sg_actor_suspend(bell->sleeper);
	bell->sleeper = NULL;
}

/* A ring in the same instant as the time-out leaves one count in the semaphore; it is taken out here. */
static void bell_sleep(struct sim_bell *bell, double seconds)
{
	if (!bell->semaphore)
		bell->semaphore = sg_sem_init(0);
	if (sg_sem_acquire_timeout(bell->semaphore, seconds) && bell->rung)
		sg_sem_acquire(bell->semaphore);
}

void sim_bell_wait(struct sim_engine *engine, struct sim_bell *bell, uint64_t when_ns)
{
	uint64_t now_ns;

	sim_engine_flush(engine);
	now_ns = sim_engine_now_ns(engine);
	if (!bell->rung && when_ns > now_ns) {
		bell->waiting = true;
		bell->until_ns = when_ns;
		if (engine->order)
			sim_order_wait(engine, bell);
		else if (when_ns == SIM_NEVER)
			bell_suspend(bell);
		else
			bell_sleep(bell, (double)(when_ns - now_ns) * 1e-9);
		bell->waiting = false;
		sim_engine_resumed(engine);
	}
	bell->rung = false;
}

void sim_thread_run(struct sim_thread *thread)
{
	sim_order_enter(thread);
	sim_engine_resumed(thread->engine);
	thread->main(thread->arg);
	sim_thread_settle(thread);
	sim_engine_flush(thread->engine);
	sim_order_leave(thread->engine);
}

static void thread_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	sim_thread_run(sg_actor_self_get_data());
}

void sim_thread_begin(struct sim_thread *thread)
{
	sg_actor_t actor;

	if (thread->engine->order) {
		sim_order_begin(thread);
		return;
	}
	actor = sg_actor_init(thread->name, thread->machine->host);
	sg_actor_set_data(actor, thread);
	sg_actor_start(actor, thread_main, 0, NULL);
	if (thread->daemon)
		sg_actor_daemonize(actor);
}

static struct sim_thread *thread_new(struct sim_engine *engine, struct sim_machine *machine, const char *name,
				     void (*main)(void *arg), void *arg)
{
	struct sim_thread *thread = g_new0(struct sim_thread, 1);

	*thread = (struct sim_thread){ .engine = engine, .machine = machine, .main = main, .arg = arg };
	thread->name = g_strdup(name);
	g_ptr_array_add(engine->threads, thread);
	*(struct sim_thread **)ring_push(&engine->starts) = thread;
	return thread;
}

struct sim_thread *sim_thread_start(struct sim_engine *engine, enum sim_side side, const char *name,
				    void (*main)(void *arg), void *arg)
{
	return thread_new(engine, sim_machine_at(engine, side, 0), name, main, arg);
}

struct sim_thread *sim_client_thread_start(struct sim_engine *engine, uint32_t client, const char *name,
					   void (*main)(void *arg), void *arg)
{
	return thread_new(engine, sim_machine_at(engine, SIM_CLIENT, client), name, main, arg);
}

struct sim_thread *sim_thread_start_daemon(struct sim_engine *engine, enum sim_side side, const char *name,
					   void (*main)(void *arg), void *arg)
{
	struct sim_thread *thread = sim_thread_start(engine, side, name, main, arg);

	thread->daemon = true;
	return thread;
}

void sim_thread_free(struct sim_thread *thread)
{
	sim_bell_clear(&thread->bell);
	g_free(thread->name);
	g_free(thread);
}

/* SimGrid goes on to a later time only when no thread is ready, and whoever yields is. A thread that was let go on in one
 * round runs in the next; one that was started, a round later. */
#define QUIET_ROUNDS 4

void sim_engine_rest(struct sim_engine *engine)
{
	int quiet = 0;

	while (quiet < QUIET_ROUNDS) {
		uint64_t before = engine->resumptions;

		sim_engine_flush(engine);
		sg_actor_yield();
		sim_engine_resumed(engine);
		quiet = engine->resumptions == before + 1 ? quiet + 1 : 0;
	}
}

void sim_sleep_until(struct sim_engine *engine, uint64_t when_ns)
{
	struct sim_thread *self = sg_actor_self_get_data();

	sim_thread_settle(self);
	if (when_ns <= sim_engine_now_ns(engine))
		return;
	if (engine->order) {
		sim_bell_wait(engine, &self->bell, sim_order_sleep_end_ns(engine, when_ns));
		return;
	}
	sim_engine_flush(engine);
	sg_actor_sleep_until((double)when_ns * 1e-9);
	sim_engine_resumed(engine);
}
