/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Queues between threads, inboxes among them. An inbox is the end of the delay lines of its connections: the thread that
 * waits for it sleeps until the next piece is due, so that no other thread is needed to deliver.
 */
#include "sim/engine/internal.h"

struct sim_queue *sim_queue_new(struct sim_engine *engine)
{
	struct sim_queue *queue = g_new0(struct sim_queue, 1);

	queue->engine = engine;
	ring_init(&queue->items, sizeof(struct sim_queue_item));
	g_queue_init(&queue->waiters);
	queue->streams = g_ptr_array_new();
	g_ptr_array_add(engine->queues, queue);
	return queue;
}

void sim_queue_free(struct sim_queue *queue)
{
	ring_clear(&queue->items);
	g_queue_clear(&queue->waiters);
	g_ptr_array_free(queue->streams, TRUE);
	g_free(queue);
}

void sim_queue_set_costs(struct sim_queue *queue, double ns_per_byte, double ns_per_message)
{
	queue->has_costs = ns_per_byte > 0 || ns_per_message > 0;
	queue->ns_per_byte = ns_per_byte;
	queue->ns_per_message = ns_per_message;
}

/* --- in --------------------------------------------------------------------------------------------------------- */

/* The thread that waited last goes first: threads that serve one queue are alike, and so no more of them get to use the
 * processor than are needed at one time. */
static void hand_over(struct sim_queue *queue, struct sim_queue_item item)
{
	struct sim_thread *waiter = g_queue_pop_tail(&queue->waiters);

	if (!waiter) {
		*(struct sim_queue_item *)ring_push(&queue->items) = item;
		return;
	}
	waiter->handed = item;
	sim_bell_ring(queue->engine, &waiter->bell);
}

void sim_queue_push(struct sim_queue *queue, void *item)
{
	g_assert(item);
	sim_queue_take_arrivals(queue); /* what came before stays before */
	hand_over(queue, (struct sim_queue_item){ .item = item });
}

void sim_queue_push_arrival(struct sim_queue *queue, struct sim_arrival *arrival)
{
	hand_over(queue, (struct sim_queue_item){ .item = arrival, .is_arrival = true });
}

/* --- connections ------------------------------------------------------------------------------------------------ */

void sim_queue_add_stream(struct sim_queue *queue, struct sim_stream *stream)
{
	g_ptr_array_add(queue->streams, stream);
}

static struct sim_stream *next_stream(const struct sim_queue *queue)
{
	struct sim_stream *next = NULL;
	uint64_t due_ns = SIM_NEVER;

	for (guint i = 0; i < queue->streams->len; i++) {
		struct sim_stream *stream = g_ptr_array_index(queue->streams, i);
		uint64_t stream_due_ns = sim_stream_next_due_ns(stream);

		if (stream_due_ns >= due_ns)
			continue;
		due_ns = stream_due_ns;
		next = stream;
	}
	return next;
}

void sim_queue_take_arrivals(struct sim_queue *queue)
{
	struct sim_stream *stream = next_stream(queue);
	uint64_t now_ns;

	if (!stream)
		return;
	now_ns = sim_engine_now_ns(queue->engine);
	for (; stream && sim_stream_next_due_ns(stream) <= now_ns; stream = next_stream(queue))
		sim_stream_deliver(stream);
}

void sim_queue_expect(struct sim_queue *queue, uint64_t due_ns)
{
	struct sim_thread *waiter = g_queue_peek_tail(&queue->waiters);

	if (waiter && waiter->bell.waiting && waiter->bell.until_ns > due_ns)
		sim_bell_ring(queue->engine, &waiter->bell);
}

/* --- out -------------------------------------------------------------------------------------------------------- */

static uint64_t cost_ns(const struct sim_queue *queue, const struct sim_arrival *arrival)
{
	return (uint64_t)(queue->ns_per_byte * (double)arrival->bytes + (arrival->message ? queue->ns_per_message : 0));
}

/* When to look again. Where a thread has a core of its own, it is known beforehand when it will have paid for the next
 * arrival: there is no need to wake up when it comes. */
static uint64_t next_look_ns(const struct sim_queue *queue, const struct sim_thread *self)
{
	bool knows_paid = queue->has_costs && sim_machine_is_roomy(self->machine);
	uint64_t look_ns = SIM_NEVER;

	for (guint i = 0; i < queue->streams->len; i++) {
		const struct sim_stream *stream = g_ptr_array_index(queue->streams, i);
		struct sim_arrival next;
		uint64_t when_ns;

		if (sim_stream_next_due_ns(stream) == SIM_NEVER)
			continue;
		next = sim_stream_next_arrival(stream);
		when_ns = knows_paid ? sim_arrival_paid_ns(&next, cost_ns(queue, &next), self->idle_since_ns)
				     : next.arrived_ns;
		look_ns = MIN(look_ns, when_ns);
	}
	return look_ns;
}

/* [blocks] */
static void pay(struct sim_queue *queue, struct sim_thread *self, const struct sim_arrival *arrival)
{
	uint64_t cpu_ns = cost_ns(queue, arrival), paid_ns;

	if (cpu_ns && !self->uses_cpu) {
		self->uses_cpu = true;
		self->machine->users++;
	}
	if (!sim_machine_is_roomy(self->machine)) {
		sim_thread_claim(self, cpu_ns);
		sim_thread_settle(self);
		return;
	}
	paid_ns = sim_arrival_paid_ns(arrival, cpu_ns, self->idle_since_ns);
	while (paid_ns > sim_engine_now_ns(queue->engine))
		sim_bell_wait(queue->engine, &self->bell, paid_ns);
	sim_thread_settle(self);
	self->paid_ns = paid_ns;
	self->popped_ns = sim_engine_now_ns(queue->engine);
}

static struct sim_queue_item wait_for_item(struct sim_queue *queue, struct sim_thread *self, uint64_t when_ns)
{
	struct sim_queue_item item;

	g_queue_push_tail(&queue->waiters, self);
	while (!self->handed.item && when_ns > sim_engine_now_ns(queue->engine)) {
		if (self->claim == SIM_CLAIM_EVICTED) {
			sim_thread_settle(self);
			self->idle_since_ns = sim_engine_now_ns(queue->engine);
		} else {
			sim_bell_wait(queue->engine, &self->bell, MIN(when_ns, next_look_ns(queue, self)));
		}
		sim_queue_take_arrivals(queue);
	}
	item = self->handed;
	self->handed.item = NULL;
	if (!item.item)
		g_queue_remove(&queue->waiters, self);
	return item;
}

static struct sim_queue_item take(struct sim_queue *queue)
{
	struct sim_queue_item item = { .is_arrival = false };

	sim_queue_take_arrivals(queue);
	if (!queue->items.length)
		return item;
	item = *(struct sim_queue_item *)ring_head(&queue->items);
	ring_pop(&queue->items);
	return item;
}

void *sim_queue_take(struct sim_queue *queue)
{
	return take(queue).item;
}

void *sim_queue_pop_until(struct sim_queue *queue, uint64_t when_ns)
{
	struct sim_thread *self = sg_actor_self_get_data();
	struct sim_queue_item item;

	sim_engine_check_stop(queue->engine);
	if (!queue->consumer)
		queue->consumer = self;
	queue->is_shared |= queue->consumer != self;
	if (queue->is_shared || when_ns != SIM_NEVER)
		sim_thread_settle(self);
	self->idle_since_ns = sim_thread_free_ns(self);
	if (self->idle_since_ns == self->popped_ns)
		self->idle_since_ns = self->paid_ns; /* it had done the last one earlier than it was told of it */
	item = take(queue);
	if (!item.item)
		item = wait_for_item(queue, self, when_ns);
	if (item.is_arrival && queue->has_costs)
		pay(queue, self, item.item);
	else
		sim_thread_settle(self);
	return item.item;
}

void *sim_queue_pop(struct sim_queue *queue)
{
	return sim_queue_pop_until(queue, SIM_NEVER);
}
