/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Baton, clock and alarms of a run whose order a model checker chooses; explore.h says why. */
#include "sim/engine/explore.h"
#include "sim/engine/internal.h"

#include <simgrid/engine.h>
#include <simgrid/modelchecker.h>
#include <simgrid/mutex.h>

#define HORIZON_NS (UINT64_C(10) * 1000000000) /* shorter than the interval of any ECHO, which would go on for ever */

/* From C, simgrid-mc is not told of actors that others start: all are there from the beginning. */
#define WORKERS 18
static struct worker {
	sg_sem_t begin;
	sg_sem_t begun; /* it blocks for the first time */
	struct sim_thread *thread;
} workers[WORKERS];

struct sim_order {
	sg_mutex_t baton;
	sg_sem_t over; /* released when the run was stopped and no thread is awake any more */
	GPtrArray *asleep; /* semaphores, of threads that wait or have ended */
	GPtrArray *limited; /* struct sim_bell, that wait with a limit */
	guint threads; /* begun */
	guint awake; /* begun, and neither ended nor waiting for something that has not come yet */
	bool has_alarms; /* to come; the thread that gives them is never counted as awake */
	bool is_running;
	struct worker *borrower; /* has the baton of the thread that began it */
};

static const struct sim_exploration *exploration; /* NULL: the order is SimGrid's */
static bool has_returned; /* from main */
static bool has_ended; /* all actors end: simgrid-mc asks only about orders in which nothing more can happen */

bool sim_order_is_explored(void)
{
	return exploration != NULL;
}

/* --- the baton -------------------------------------------------------------------------------------------------- */

static void take(struct sim_order *order)
{
	sg_mutex_lock(order->baton);
}

static void give(struct sim_order *order)
{
	if (order->borrower)
		sg_sem_release(order->borrower->begun);
	else
		sg_mutex_unlock(order->baton);
}

struct sim_order *sim_order_new(void)
{
	struct sim_order *order = g_new0(struct sim_order, 1);

	order->baton = sg_mutex_init();
	order->over = sg_sem_init(0);
	order->asleep = g_ptr_array_new();
	order->limited = g_ptr_array_new();
	take(order);
	return order;
}

void sim_order_free(struct sim_order *order)
{
	if (!order)
		return;
	g_ptr_array_free(order->asleep, TRUE);
	g_ptr_array_free(order->limited, TRUE);
	g_free(order);
}

/* --- time ------------------------------------------------------------------------------------------------------- */

static struct sim_bell *first_limit(const struct sim_order *order)
{
	struct sim_bell *first = NULL;

	for (guint i = 0; i < order->limited->len; i++) {
		struct sim_bell *bell = g_ptr_array_index(order->limited, i);

		if (!bell->rung && (!first || bell->until_ns < first->until_ns))
			first = bell;
	}
	return first;
}

static void reach(struct sim_engine *engine, struct sim_bell *bell)
{
	engine->now_ns = MAX(engine->now_ns, bell->until_ns);
	sim_bell_ring(engine, bell);
	sim_engine_flush(engine);
}

static void acquire(sg_sem_t semaphore)
{
	sg_sem_acquire(semaphore);
	if (has_ended)
		sg_actor_exit();
}

/* When all sleep, time passes; the run is over when it was stopped. */
static void pass_time(struct sim_engine *engine)
{
	struct sim_order *order = engine->order;
	struct sim_bell *next;

	if (order->awake)
		return;
	if (engine->stopped) {
		if (!order->has_alarms)
			sg_sem_release(order->over);
		return;
	}
	next = first_limit(order);
	if (next && next->until_ns < engine->now_ns + HORIZON_NS)
		reach(engine, next);
}

static void sleep_on(struct sim_engine *engine, struct sim_bell *bell)
{
	struct sim_order *order = engine->order;

	if (!bell->semaphore)
		bell->semaphore = sg_sem_init(0);
	order->awake--;
	g_ptr_array_add(order->asleep, bell->semaphore);
	pass_time(engine);
	give(order);
	acquire(bell->semaphore);
	take(order);
	g_ptr_array_remove_fast(order->asleep, bell->semaphore);
}

static void alarm_main(void *arg)
{
	struct sim_engine *engine = arg;
	struct sim_order *order = engine->order;

	order->awake--;
	for (uint32_t left = exploration->alarms; left && !engine->stopped; left--) {
		struct sim_bell *next;

		give(order);
		take(order);
		next = first_limit(order);
		if (next && !engine->stopped)
			reach(engine, next);
	}
	order->has_alarms = false;
	order->awake++;
}

/* --- threads ---------------------------------------------------------------------------------------------------- */

void sim_order_enter(const struct sim_thread *thread)
{
	struct sim_order *order = thread->engine->order;

	if (order && (!order->borrower || order->borrower->thread != thread))
		take(order);
}

void sim_order_leave(struct sim_engine *engine)
{
	struct sim_thread *self = sg_actor_self_get_data();

	if (engine->order)
		sleep_on(engine, &self->bell); /* nobody rings */
}

void sim_order_woken(struct sim_order *order)
{
	if (order)
		order->awake++;
}

void sim_order_wait(struct sim_engine *engine, struct sim_bell *bell)
{
	struct sim_order *order = engine->order;
	bool is_limited = bell->until_ns != SIM_NEVER;

	if (is_limited)
		g_ptr_array_add(order->limited, bell);
	sleep_on(engine, bell);
	if (is_limited)
		g_ptr_array_remove(order->limited, bell);
}

uint64_t sim_order_sleep_end_ns(const struct sim_engine *engine, uint64_t when_ns)
{
	return when_ns < engine->now_ns + HORIZON_NS ? when_ns : SIM_NEVER;
}

/* Those that begin before the run, and what sends for a new connection, do so one after another, each until it blocks. */
void sim_order_begin(struct sim_thread *thread)
{
	struct sim_order *order = thread->engine->order;
	struct worker *worker = &workers[order->threads++];
	struct worker *outer = order->borrower;

	g_assert(worker < workers + WORKERS);
	worker->thread = thread;
	order->awake++;
	if (order->is_running && !thread->daemon) {
		sg_sem_release(worker->begin);
		return;
	}
	order->borrower = worker;
	sg_sem_release(worker->begin);
	sg_sem_acquire(worker->begun);
	order->borrower = outer;
}

static void worker_main(int argc, char **argv)
{
	struct worker *worker = sg_actor_self_get_data();

	(void)argc;
	(void)argv;
	acquire(worker->begin);
	sg_actor_set_data(sg_actor_self(), worker->thread);
	sim_thread_run(worker->thread);
}

/* --- runs ------------------------------------------------------------------------------------------------------- */

void sim_order_run(struct sim_engine *engine)
{
	struct sim_order *order = engine->order;

	if (exploration->alarms) {
		order->has_alarms = true;
		sim_thread_start(engine, SIM_CLIENT, "alarm", alarm_main, engine);
		sim_engine_flush(engine);
	}
	order->is_running = true;
	give(order);
	sg_sem_acquire(order->over);
	take(order); /* the last one is done with all that will be freed */
	has_ended = true;
	for (guint i = 0; i < order->asleep->len; i++)
		sg_sem_release(g_ptr_array_index(order->asleep, i));
	for (guint i = order->threads; i < WORKERS; i++)
		sg_sem_release(workers[i].begin);
}

static void explore_main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	exploration->main(exploration->arg);
	has_returned = true;
}

static void actor_start(const char *name, sg_host_t host, void (*main)(int argc, char **argv), void *data)
{
	sg_actor_t actor = sg_actor_init(name, host);

	sg_actor_set_data(actor, data);
	sg_actor_start(actor, main, 0, NULL);
}

bool sim_explore(const struct sim_exploration *wanted, GError **error)
{
	g_autofree char *xml = NULL;
	g_autofree char *name = g_strconcat("host-", wanted->platform->client.name, NULL);
	sg_host_t host;

	if (!sim_platform_start(wanted->platform, &xml, error))
		return false;
	exploration = wanted;
	host = sg_host_by_name(name);
	actor_start("run", host, explore_main, NULL);
	for (guint i = 0; i < WORKERS; i++) {
		workers[i].begin = sg_sem_init(0);
		workers[i].begun = sg_sem_init(0);
		actor_start("thread", host, worker_main, &workers[i]);
	}
	simgrid_run();
	if (!has_returned)
		g_set_error(error, sim_engine_error(), 0, "The run does not end: each thread waits for another one");
	return has_returned;
}

void sim_explore_require(bool holds)
{
	if (MC_is_active())
		MC_assert(holds);
	else
		g_assert(holds);
}
