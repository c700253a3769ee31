/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

/**
 * The simulated machines: hosts with cores, threads that use them, TCP connections between them, the clock.
 *
 * This folder holds every SimGrid call of the project. One engine exists per process and runs once (SimGrid keeps
 * one platform per process); a sweep forks a process per point. All times are nanoseconds since the start of the
 * run. Runs are deterministic: same topology, seed and calls, same order of events.
 *
 * Threads are SimGrid actors: exactly one runs at a time, so the world needs no locks. A thread gives up the
 * processor only inside the calls marked [blocks].
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_engine;
struct sim_thread;
struct sim_queue;
struct sim_conn;

struct sim_host_spec {
	const char *name; /* unique */
	int cores; /* >= 1 */
};

/** One network path between a client and the server: a NIC on each side and the wire between. Connections over one path
 *  share its rate, each direction for itself, through one queue without classes and without end, first in, first out:
 *  as in netem and in the port of a switch. So a connection's round trip grows by what others have in the queue, which
 *  is what ends its slow start early (tcp.h, HyStart) and makes several channels over one bottleneck slower than one. */
struct sim_path_spec {
	uint64_t rtt_ns; /* both directions together; half each way; 0 allowed */
	uint64_t rate_bps; /* bits per second on the wire, headers included; 0 = no limit */
	uint64_t jitter_ns; /* each segment's one-way delay is uniform in [rtt/2, rtt/2 + jitter], order kept */
	double loss; /* probability that a segment is lost, [0, 1) */
	uint32_t client; /* whose path it is, below client_count */
};

struct sim_topology {
	struct sim_host_spec client; /* of several, the first has this name, others "NAME-1", "NAME-2", ... */
	uint32_t client_count; /* 0 = 1 */
	struct sim_host_spec server; /* same name as the client: both sides share that host's cores */
	const struct sim_path_spec *paths;
	uint32_t path_count; /* >= 1 */
	uint64_t seed; /* for loss and jitter only */
};

/** What decides throughput of a TCP connection on a long link. Defaults (sim_tcp_defaults) are those of Linux 6.1. */
struct sim_tcp_options {
	uint32_t mss_bytes; /* payload per segment; 1448 */
	uint32_t header_bytes; /* charged on the wire per segment; netem: 66, Ethernet with preamble and gap: 90 */
	uint32_t initial_window; /* segments; 10 (RFC 6928) */
	uint64_t send_buffer_bytes; /* tcp_wmem maximum of the sender */
	uint64_t receive_buffer_bytes; /* tcp_rmem maximum of the receiver */
	bool nagle; /* this side's small segments wait for outstanding acknowledgements (RFC 896) */
	bool slow_start_after_idle; /* RFC 5681 4.1, on in Linux */
	bool cubic; /* RFC 9438; false = Reno */
};

enum sim_side { SIM_CLIENT, SIM_SERVER };

void sim_tcp_defaults(struct sim_tcp_options *options);

/** `error`: SIM_ENGINE_ERROR when the platform cannot be built. At most one engine per process. */
struct sim_engine *sim_engine_new(const struct sim_topology *topology, GError **error);
/** Run until no thread can proceed any more. Returns the simulated time of the last event. A run in which threads
 *  are still blocked at the end is not an error here: the world checks its own completion flag. */
uint64_t sim_engine_run(struct sim_engine *engine);
/** Stop at the end of the current event although threads could still run. Callable from any thread. */
void sim_engine_stop(struct sim_engine *engine);
void sim_engine_free(struct sim_engine *engine);
uint64_t sim_engine_now_ns(const struct sim_engine *engine);
/** The platform as SimGrid XML, as the engine generated it. Owned by the engine. */
const char *sim_engine_platform_xml(const struct sim_engine *engine);

/** Threads. `start` may be called before run and from any thread; the new thread first runs when the caller blocks or
 *  ends. */
struct sim_thread *sim_thread_start(struct sim_engine *engine, enum sim_side side, const char *name,
				    void (*main)(void *arg), void *arg);
/** The same on the host of one of several clients; sim_thread_start takes the first one's. */
struct sim_thread *sim_client_thread_start(struct sim_engine *engine, uint32_t client, const char *name,
					   void (*main)(void *arg), void *arg);
/** [blocks] Use one core of this thread's host for `ns` nanoseconds of work; more threads than cores share them.
 *  0 returns at once. */
void sim_cpu_use(struct sim_engine *engine, uint64_t ns);
/** The same, but the thread goes on at once and has done the work by the time its next blocking call returns: for work
 *  whose end nobody waits for. [blocks] only when all cores are in use. While a thread waits in sim_queue_pop it pays
 *  at the same time. */
void sim_cpu_owe(struct sim_engine *engine, uint64_t ns);
/** [blocks] until the calling thread has done what it owes. */
void sim_cpu_settle(struct sim_engine *engine);
/** [blocks] until the clock shows `when_ns` (returns at once when it is past). */
void sim_sleep_until(struct sim_engine *engine, uint64_t when_ns);
/** [blocks] until no other thread can go on at this time: the next thing to happen is at a later one, or comes from the
 *  caller. By one thread of a run. */
void sim_engine_rest(struct sim_engine *engine);

/** A queue of pointers between threads. Push never blocks; order is first in, first out. Of several threads that wait,
 *  the one that came last gets the next item. */
struct sim_queue *sim_queue_new(struct sim_engine *engine);
void sim_queue_push(struct sim_queue *queue, void *item);
/** [blocks] until there is an item. */
void *sim_queue_pop(struct sim_queue *queue);
/** [blocks] until there is an item or the clock shows `when_ns`; NULL then. */
void *sim_queue_pop_until(struct sim_queue *queue, uint64_t when_ns);
/** The next item, NULL when there is none. Never blocks: what the thread owes, and what sim_queue_set_costs says, is not
 *  paid. */
void *sim_queue_take(struct sim_queue *queue);

/**
 * Connections carry messages in order, each with its length on the stream; the bytes themselves stay with the caller.
 *
 * Pattern: one sender thread per direction takes what the TCP window lets go, waits for its turn on the wire, serialises
 * it over a zero-latency link with a blocking sendto (exact there, and one at a time), stamps it with the time it is due
 * at the other end and appends it to a delay line; the thread that pops from the inbox at its end sleeps until due and
 * gets a `struct sim_arrival`. Its own TCP acknowledges in time whatever that thread does.
 */
struct sim_arrival {
	struct sim_conn *conn;
	enum sim_side side; /* who receives */
	uint64_t bytes; /* stream bytes that arrived with this */
	void *message; /* the message that is complete with these bytes; NULL when more is to come */
	uint64_t sent_ns; /* when sim_conn_send was called for it (message != NULL) */
	uint64_t begun_ns; /* when the first of what came in this piece was there */
	uint64_t arrived_ns; /* when the last was */
};

/** `options[SIM_CLIENT]` governs what the client sends (its send buffer, Nagle) and its receive buffer. */
struct sim_conn *sim_conn_new(struct sim_engine *engine, uint32_t path, const struct sim_tcp_options options[2]);
/** [blocks] TCP handshake from the client: one RTT. Without it a connection counts as just established. */
void sim_conn_connect(struct sim_conn *conn);
/** Where arrivals for `side` go. Several connections may share one inbox. Must be set before the first send. */
void sim_conn_set_inbox(struct sim_conn *conn, enum sim_side side, struct sim_queue *inbox);
/** What the one thread that pops from an inbox pays with its processor for each arrival before it gets it. On a host
 *  with a core for each thread that uses its processor, a message that TCP can send at once then comes as one arrival of
 *  up to 1056 KiB, and the thread works on it while it comes, 264 KiB at a time: the end is that of an arrival per 264
 *  KiB. Where cores are scarce such pieces do come one by one. */
void sim_queue_set_costs(struct sim_queue *inbox, double ns_per_byte, double ns_per_message);
/** Append a message of `stream_bytes` (>= 1) to the stream in the direction away from `from`. Never blocks.
 *  Messages are cut into arrivals at TCP's own pace; an arrival with message != NULL comes exactly once per send. */
void sim_conn_send(struct sim_conn *conn, enum sim_side from, void *message, uint64_t stream_bytes);
/** [blocks] until all that was given is in the sender's socket buffer, as send(2) does; by one thread per connection and
 *  side. False: the connection was cut. */
bool sim_conn_wait_buffered(struct sim_conn *conn, enum sim_side from);
/** The receiver took the arrival off its inbox and is done with it: opens the receive window, frees the arrival. A
 *  receiver that keeps arrivals stops the sender once the receive buffer is full, as with a real socket. */
void sim_arrival_done(struct sim_arrival *arrival);
/** Bytes given to sim_conn_send and not yet acknowledged. */
uint64_t sim_conn_unacked_bytes(const struct sim_conn *conn, enum sim_side from);
/** Cut the connection: nothing more is delivered in either direction; messages in flight are handed to `drop`, and so
 *  is each one sent later. Arrivals already in an inbox stay there. */
void sim_conn_cut(struct sim_conn *conn, void (*drop)(void *message, void *arg), void *arg);

/** For benchmarks: processor seconds that SimGrid alone needs for `messages` blocking sendto calls of `bytes` each, one
 *  after another over one link. Makes its own engine, so the process must not have one; negative when it cannot. */
double sim_engine_bare_seconds(uint32_t messages, uint64_t bytes, GError **error);

#endif
