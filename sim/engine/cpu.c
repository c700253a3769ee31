/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processors. While a host has a free core, the use of one has a known end and needs no event: it is a claim, and its
 * thread sleeps until then, or goes on waiting for other things if it owes only. When more threads want to run than
 * there are cores, all open claims are evicted: their threads execute what is left of them as SimGrid executions, which
 * share the cores. Both give the same times.
 */
#include "sim/engine/internal.h"

bool sim_machine_is_roomy(const struct sim_machine *machine)
{
	return machine->users <= machine->cores;
}

static void close_claim(struct sim_thread *thread, guint index)
{
	thread->claim = SIM_CLAIM_NONE;
	g_ptr_array_remove_index(thread->machine->claims, index);
}

static void close_ended_claims(struct sim_machine *machine, uint64_t now_ns)
{
	for (guint i = machine->claims->len; i-- > 0;) {
		struct sim_thread *thread = g_ptr_array_index(machine->claims, i);

		if (thread->claim_end_ns <= now_ns)
			close_claim(thread, i);
	}
}

static void evict_all(struct sim_machine *machine, uint64_t now_ns)
{
	for (guint i = 0; i < machine->claims->len; i++) {
		struct sim_thread *thread = g_ptr_array_index(machine->claims, i);

		thread->claim = SIM_CLAIM_EVICTED;
		thread->claim_left_ns = thread->claim_end_ns - now_ns;
		machine->executing++;
		sim_bell_ring(thread->engine, &thread->bell);
	}
	g_ptr_array_set_size(machine->claims, 0);
}

/* Hosts run at 1e9 operations a second. */
static void execute(struct sim_thread *thread, uint64_t ns)
{
	sim_engine_flush(thread->engine);
	sg_actor_execute((double)ns);
	thread->machine->executing--;
	sim_engine_resumed(thread->engine);
}

void sim_thread_settle(struct sim_thread *thread)
{
	while (thread->claim != SIM_CLAIM_NONE) {
		uint64_t now_ns = sim_engine_now_ns(thread->engine);

		if (thread->claim == SIM_CLAIM_EVICTED) {
			thread->claim = SIM_CLAIM_NONE;
			execute(thread, thread->claim_left_ns);
		} else if (thread->claim_end_ns <= now_ns) {
			close_ended_claims(thread->machine, now_ns);
		} else {
			sim_bell_wait(thread->engine, &thread->bell, thread->claim_end_ns);
		}
	}
}

void sim_thread_claim(struct sim_thread *thread, uint64_t ns)
{
	struct sim_machine *machine = thread->machine;
	uint64_t now_ns;

	if (ns == 0)
		return;
	machine->users += !thread->uses_cpu;
	thread->uses_cpu = true;
	if (thread->claim == SIM_CLAIM_EVICTED)
		sim_thread_settle(thread);
	now_ns = sim_engine_now_ns(thread->engine);
	close_ended_claims(machine, now_ns);
	if (thread->claim == SIM_CLAIM_OPEN) {
		thread->claim_end_ns += ns;
	} else if (machine->claims->len + machine->executing < machine->cores) {
		thread->claim = SIM_CLAIM_OPEN;
		thread->claim_end_ns = now_ns + ns;
		g_ptr_array_add(machine->claims, thread);
	} else {
		evict_all(machine, now_ns);
		machine->executing++;
		execute(thread, ns);
	}
}

uint64_t sim_thread_free_ns(const struct sim_thread *thread)
{
	uint64_t now_ns = sim_engine_now_ns(thread->engine);

	switch (thread->claim) {
	case SIM_CLAIM_OPEN:
		return MAX(thread->claim_end_ns, now_ns);
	case SIM_CLAIM_EVICTED:
		return now_ns + thread->claim_left_ns;
	case SIM_CLAIM_NONE:
		break;
	}
	return now_ns;
}

void sim_cpu_owe(struct sim_engine *engine, uint64_t ns)
{
	(void)engine;
	sim_thread_claim(sg_actor_self_get_data(), ns);
}

void sim_cpu_use(struct sim_engine *engine, uint64_t ns)
{
	struct sim_thread *self = sg_actor_self_get_data();

	(void)engine;
	sim_thread_claim(self, ns);
	if (ns)
		sim_thread_settle(self);
}

void sim_cpu_settle(struct sim_engine *engine)
{
	(void)engine;
	sim_thread_settle(sg_actor_self_get_data());
}
