/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/engine/internal.h"

#include <simgrid/engine.h>

struct sim_thread {
	struct sim_engine *engine;
	enum sim_side side;
	char *name;
	void (*main)(void *arg);
	void *arg;
	bool daemon;
	struct sim_bell bell;
	void *item; /* handed over by sim_queue_push */
};

struct sim_queue {
	struct sim_engine *engine;
	GQueue items;
	GQueue waiters; /* struct sim_thread, first come, first served */
};

void sim_bell_clear(struct sim_bell *bell)
{
	if (bell->semaphore)
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

void sim_bell_wake(struct sim_bell *bell)
{
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
		if (when_ns == SIM_NEVER)
			bell_suspend(bell);
		else
			bell_sleep(bell, (double)(when_ns - now_ns) * 1e-9);
		bell->waiting = false;
		sim_engine_check_stop(engine);
	}
	bell->rung = false;
}

static void thread_main(int argc, char **argv)
{
	struct sim_thread *thread = sg_actor_self_get_data();

	(void)argc;
	(void)argv;
	thread->main(thread->arg);
	sim_engine_flush(thread->engine);
}

void sim_thread_begin(struct sim_thread *thread)
{
	sg_actor_t actor = sg_actor_init(thread->name, thread->engine->hosts[thread->side]);

	sg_actor_set_data(actor, thread);
	sg_actor_start(actor, thread_main, 0, NULL);
	if (thread->daemon)
		sg_actor_daemonize(actor);
}

struct sim_thread *sim_thread_start(struct sim_engine *engine, enum sim_side side, const char *name,
				    void (*main)(void *arg), void *arg)
{
	struct sim_thread *thread = g_new0(struct sim_thread, 1);

	*thread = (struct sim_thread){ .engine = engine, .side = side, .main = main, .arg = arg };
	thread->name = g_strdup(name);
	g_ptr_array_add(engine->threads, thread);
	*(struct sim_thread **)ring_push(&engine->starts) = thread;
	return thread;
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

void sim_cpu_use(struct sim_engine *engine, uint64_t ns)
{
	if (ns == 0)
		return;
	sim_engine_flush(engine);
	sg_actor_execute((double)ns); /* hosts run at 1e9 operations a second */
	sim_engine_check_stop(engine);
}

void sim_sleep_until(struct sim_engine *engine, uint64_t when_ns)
{
	if (when_ns <= sim_engine_now_ns(engine))
		return;
	sim_engine_flush(engine);
	sg_actor_sleep_until((double)when_ns * 1e-9);
	sim_engine_check_stop(engine);
}

struct sim_queue *sim_queue_new(struct sim_engine *engine)
{
	struct sim_queue *queue = g_new0(struct sim_queue, 1);

	queue->engine = engine;
	g_queue_init(&queue->items);
	g_queue_init(&queue->waiters);
	g_ptr_array_add(engine->queues, queue);
	return queue;
}

void sim_queue_free(struct sim_queue *queue)
{
	g_queue_clear(&queue->items);
	g_queue_clear(&queue->waiters);
	g_free(queue);
}

/* An item goes straight to the thread that has waited longest, so that nobody overtakes it. */
void sim_queue_push(struct sim_queue *queue, void *item)
{
	struct sim_thread *waiter = g_queue_pop_head(&queue->waiters);

	g_assert(item);
	if (!waiter) {
		g_queue_push_tail(&queue->items, item);
		return;
	}
	waiter->item = item;
	sim_bell_ring(queue->engine, &waiter->bell);
}

void *sim_queue_pop_until(struct sim_queue *queue, uint64_t when_ns)
{
	struct sim_thread *self;
	void *item;

	sim_engine_check_stop(queue->engine);
	if (!g_queue_is_empty(&queue->items))
		return g_queue_pop_head(&queue->items);
	if (when_ns != SIM_NEVER && when_ns <= sim_engine_now_ns(queue->engine))
		return NULL;
	self = sg_actor_self_get_data();
	g_queue_push_tail(&queue->waiters, self);
	sim_bell_wait(queue->engine, &self->bell, when_ns);
	item = self->item;
	self->item = NULL;
	if (!item)
		g_queue_remove(&queue->waiters, self);
	return item;
}

void *sim_queue_pop(struct sim_queue *queue)
{
	return sim_queue_pop_until(queue, SIM_NEVER);
}

bool sim_queue_is_empty(const struct sim_queue *queue)
{
	return queue->items.length == 0;
}
