/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_ENGINE_INTERNAL_H
#define SIM_ENGINE_INTERNAL_H

/** What the files of this folder share. Nothing outside includes it. */

#include "sim/engine/engine.h"
#include "sim/engine/ring.h"
#include "sim/engine/tcp.h"

#include <simgrid/actor.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>

#define SIM_NEVER UINT64_MAX
/** A receiver works on a long message while it arrives, in parts of this size: a quarter of 1 MiB and of what goes
 *  around it. */
#define SIM_PIECE_BYTES (264 * 1024)

/** One direction of one path: a link of zero latency between two hosts that do nothing else. */
struct sim_wire {
	sg_host_t from;
	sg_host_t to;
	uint32_t conn_count;
	uint64_t busy_until_ns; /* when all that TCP has given to the wire so far will have left it */
	struct ring turns; /* struct sim_turn: what waits for the wire, first come, first served */
	bool busy;
};

/** Bytes that one connection has given to the wire in one go. Connections do not share the wire evenly: it is a queue
 *  without classes (netem, and the port of a switch), so whoever comes behind a full window waits for all of it. */
struct sim_turn {
	struct sim_stream *stream;
	uint64_t bytes; /* payload */
};

/** A host with cores. See cpu.c. */
struct sim_machine {
	sg_host_t host;
	guint cores;
	guint users; /* threads that have used its processor so far */
	guint executing; /* threads whose use is a SimGrid execution now */
	GPtrArray *claims; /* struct sim_thread whose claim is SIM_CLAIM_OPEN */
};

struct sim_engine {
	struct sim_path_spec *paths;
	struct sim_wire (*wires)[2]; /* [path][sending side] */
	uint32_t path_count;
	struct sim_machine *clients;
	uint32_t client_count;
	struct sim_machine server_alone;
	struct sim_machine *server; /* the first client's machine when both share a host */
	char *platform_xml;
	GPtrArray *conns;
	GPtrArray *threads;
	GPtrArray *queues;
	struct ring starts; /* struct sim_thread *, to be started */
	struct ring wakes; /* struct sim_bell *, to be woken */
	uint64_t now_ns; /* SimGrid's clock, which stands still until the running thread blocks */
	uint64_t resumptions; /* how often a thread went on */
	uint64_t seed;
	struct sim_order *order; /* NULL unless a model checker chooses it */
	bool stopped;
	bool killed;
};

/** Every call into SimGrid lets other threads run. So what a thread starts or wakes is noted only and done when it
 *  next blocks: first thing in every blocking call, and before the run. */
void sim_engine_flush(struct sim_engine *engine);
/** A stopped run lets no thread go on. */
void sim_engine_check_stop(struct sim_engine *engine);
/** What a blocking call does before it returns: look at the clock, and whether the run was stopped. */
void sim_engine_resumed(struct sim_engine *engine);

/** A wake-up call for exactly one thread: a ring before the wait is remembered, several rings count as one. A wait
 *  without limit suspends the thread, which costs SimGrid a third of a semaphore; only one with a limit needs that. */
struct sim_bell {
	sg_actor_t sleeper; /* suspended until the bell is rung */
	sg_sem_t semaphore; /* NULL until a wait with a limit */
	uint64_t until_ns; /* while waiting: when the wait ends without a ring */
	bool waiting;
	bool rung;
};

void sim_bell_clear(struct sim_bell *bell);
void sim_bell_ring(struct sim_engine *engine, struct sim_bell *bell);
/** Let the thread that waits for a bell go on; only sim_engine_flush does. */
void sim_bell_wake(struct sim_engine *engine, struct sim_bell *bell);
/** [blocks] until rung or until `when_ns` (SIM_NEVER: no limit). */
void sim_bell_wait(struct sim_engine *engine, struct sim_bell *bell, uint64_t when_ns);

struct sim_thread;

/* explore.c: what threads do where the order is chosen from outside. NULL: it is not. */
bool sim_order_is_explored(void);
/** The caller has the baton. */
struct sim_order *sim_order_new(void);
void sim_order_free(struct sim_order *order);
/** First and last thing in a thread; it never comes back from the latter. */
void sim_order_enter(const struct sim_thread *thread);
void sim_order_leave(struct sim_engine *engine);
/** In an actor that is there already. */
void sim_order_begin(struct sim_thread *thread);
/** [blocks] until the bell is rung, or its limit is said to be reached. */
void sim_order_wait(struct sim_engine *engine, struct sim_bell *bell);
/** A thread that waits is let go on. */
void sim_order_woken(struct sim_order *order);
/** Until when a thread that sleeps waits; SIM_NEVER: nothing happens so late. */
uint64_t sim_order_sleep_end_ns(const struct sim_engine *engine, uint64_t when_ns);
/** Instead of simgrid_run, by the thread that made the engine. */
void sim_order_run(struct sim_engine *engine);

GQuark sim_engine_error(void);
/** Start SimGrid with the hosts and links of a topology; their XML is the caller's. */
bool sim_platform_start(const struct sim_topology *topology, char **xml, GError **error);

/** A use of a core that began while one was free. It is a promise of an end, not yet an event. */
enum sim_claim {
	SIM_CLAIM_NONE,
	SIM_CLAIM_OPEN, /* done at `claim_end_ns` unless somebody else wants the core before */
	SIM_CLAIM_EVICTED, /* cores are scarce: `claim_left_ns` of it is to be executed */
};

struct sim_queue_item {
	void *item; /* NULL: none */
	bool is_arrival;
};

struct sim_thread {
	struct sim_engine *engine;
	struct sim_machine *machine;
	char *name;
	void (*main)(void *arg);
	void *arg;
	bool daemon;
	bool uses_cpu;
	enum sim_claim claim;
	uint64_t claim_end_ns;
	uint64_t claim_left_ns;
	struct sim_bell bell; /* rung for an item and for an eviction: look again */
	struct sim_queue_item handed; /* by sim_queue_push */
	uint64_t idle_since_ns; /* since when it waits for what it pops; only while it pops */
	uint64_t paid_ns; /* when it had paid for the last arrival, */
	uint64_t popped_ns; /* and when it got that */
};

struct sim_stream;

struct sim_queue {
	struct sim_engine *engine;
	struct ring items; /* struct sim_queue_item */
	GQueue waiters; /* struct sim_thread */
	GPtrArray *streams; /* struct sim_stream, whose arrivals come here */
	struct sim_thread *consumer; /* the first that popped */
	bool is_shared; /* others popped as well */
	bool has_costs;
	double ns_per_byte;
	double ns_per_message;
};

/** The machine at one end of a path. */
struct sim_machine *sim_machine_at(struct sim_engine *engine, enum sim_side side, uint32_t client);
/** Whether each thread that uses the machine's processor has a core of its own, so that nobody waits for one. */
bool sim_machine_is_roomy(const struct sim_machine *machine);
/** Begin to use a core; blocks only when cores are scarce. */
void sim_thread_claim(struct sim_thread *thread, uint64_t ns);
/** [blocks] until the thread has done all it claimed. */
void sim_thread_settle(struct sim_thread *thread);
/** When the thread will have done all it claimed; now when it has. */
uint64_t sim_thread_free_ns(const struct sim_thread *thread);

/** Hand over what has come by now over all connections, in the order it came. */
void sim_queue_take_arrivals(struct sim_queue *queue);
void sim_queue_push_arrival(struct sim_queue *queue, struct sim_arrival *arrival);
/** Something will arrive at `due_ns`: a waiting thread must not sleep longer. */
void sim_queue_expect(struct sim_queue *queue, uint64_t due_ns);
void sim_queue_add_stream(struct sim_queue *queue, struct sim_stream *stream);

/** A thread that does not keep the run alive. */
struct sim_thread *sim_thread_start_daemon(struct sim_engine *engine, enum sim_side side, const char *name,
					   void (*main)(void *arg), void *arg);
void sim_thread_begin(struct sim_thread *thread);
/** All that an actor does for its thread. */
void sim_thread_run(struct sim_thread *thread);
void sim_thread_free(struct sim_thread *thread);
void sim_queue_free(struct sim_queue *queue);

/** Messages still under way belong to the caller and are not freed. */
void sim_conn_free(struct sim_conn *conn);

/** A message on a stream. */
struct sim_parcel {
	void *message;
	uint64_t end; /* position of its last byte + 1 */
	uint64_t sent_ns;
};

/** What TCP gave to the network card in one go. */
struct sim_burst {
	uint64_t bytes;
	uint32_t segments;
	uint64_t sent_ns;
};

/** What is on its way through the delay line. */
struct sim_flight {
	uint64_t end; /* position */
	uint64_t bytes;
	uint32_t segments;
	bool spread; /* acknowledge from its first byte on, see stream.c */
	bool joins_next; /* what it brings of an incomplete message is shown with the next piece, which has left, too */
	uint64_t sent_ns;
	uint64_t wire_ns; /* time on the wire */
	uint64_t due_ns;
	uint64_t begin_ns; /* when its first byte comes */
};

/** An acknowledgement on its way back. */
struct sim_ack {
	struct tcp_ack ack;
	uint64_t when_ns;
	uint64_t sent_ns; /* of the newest segment it covers */
	bool lost; /* it tells of a lost segment */
};

/** One direction of a connection: TCP sender, network card queue, wire, delay line, TCP receiver, inbox. */
struct sim_stream {
	struct sim_engine *engine;
	struct sim_conn *conn;
	struct sim_stream *back; /* the other direction */
	enum sim_side from;
	const struct sim_path_spec *path;
	struct sim_wire *wire;
	struct sim_queue *inbox; /* of the receiver */
	uint32_t mss_bytes;
	uint32_t header_bytes;
	struct tcp_sender tx;
	struct tcp_receiver rx;
	struct ring parcels; /* not yet delivered */
	size_t parcels_on_wire; /* how many of them have left whole */
	struct ring bursts;
	struct ring staged; /* struct sim_flight on the wire now */
	struct ring flights;
	struct ring acks; /* by when_ns */
	uint64_t wire_end; /* positions: taken off the bursts, */
	uint64_t wire_segments;
	uint64_t delivered; /* handed to the inbox */
	struct sim_flight newest; /* the last that came */
	uint64_t joined_begin_ns; /* of pieces that came and wait for the next one; SIM_NEVER: none do */
	uint64_t last_due_ns; /* order is kept */
	uint64_t pending_sent_ns; /* when the segment with the delayed acknowledgement was sent */
	uint64_t repair_bytes; /* retransmissions to be charged on the wire */
	uint64_t hole_until_ns; /* later segments wait behind a lost one */
	uint64_t segments_to_loss;
	GRand *random;
	struct sim_bell sender_bell;
	struct sim_bell writer_bell; /* rung when the socket buffer has taken everything */
};

void sim_stream_init(struct sim_stream *stream, const struct tcp_config *sender, const struct tcp_config *receiver);
void sim_stream_clear(struct sim_stream *stream);
void sim_stream_start(struct sim_stream *stream, const char *name);
void sim_stream_send(struct sim_stream *stream, void *message, uint64_t bytes);
void sim_stream_consumed(struct sim_stream *stream, uint64_t bytes);
/** When the next piece arrives; SIM_NEVER: none is under way. */
uint64_t sim_stream_next_due_ns(const struct sim_stream *stream);
/** Receive the piece that is due. */
void sim_stream_deliver(struct sim_stream *stream);
/** What the pieces under way will bring first, as sim_stream_deliver will push it. */
struct sim_arrival sim_stream_next_arrival(const struct sim_stream *stream);
/** When a thread that pays `cpu_ns` for an arrival, and had nothing else to do since `idle_since_ns`, is done with it:
 *  it works on the bytes while they come, SIM_PIECE_BYTES at a time. */
uint64_t sim_arrival_paid_ns(const struct sim_arrival *arrival, uint64_t cpu_ns, uint64_t idle_since_ns);
/** Take in the acknowledgements that have come by now. */
void sim_stream_take_acks(struct sim_stream *stream);
bool sim_conn_is_cut(const struct sim_conn *conn);
/** Note an acknowledgement that will reach the sender. */
void sim_stream_add_ack(struct sim_stream *stream, struct sim_ack ack);

/* wire.c */

/** Decide how many segments go before the next one is lost. */
void sim_stream_draw_loss(struct sim_stream *stream);
bool sim_stream_is_limited(const struct sim_stream *stream);
uint64_t sim_stream_one_way_ns(const struct sim_stream *stream);
/** Payload and headers. */
uint64_t sim_stream_wire_bytes(const struct sim_stream *stream, uint64_t bytes, uint64_t segments);
/** How long a segment handed to the network card at the sending side at `now_ns` takes to the other end: it queues
 *  behind everything that waits for the same wire. */
uint64_t sim_stream_transit_ns(const struct sim_stream *stream, uint64_t now_ns);
void sim_stream_occupy_wire(struct sim_stream *stream, uint64_t now_ns, uint64_t bytes);
/** Take off the card's queue what is serialised in one go: a message or as much of it as may go, or several short
 *  ones. Returns the bytes to be charged. */
uint64_t sim_stream_stage(struct sim_stream *stream);
/** What was staged was on the wire from `from_ns` to `to_ns`: into the delay line with it. */
void sim_stream_launch(struct sim_stream *stream, uint64_t charged, uint64_t from_ns, uint64_t to_ns);
/** TCP gave `burst` to the network card: append it to what waits for the wire. */
void sim_stream_enqueue(struct sim_stream *stream, const struct sim_burst *burst);
/** Forget all that waits; the connection is cut. */
void sim_stream_dequeue_all(struct sim_stream *stream);
/** It is this stream's turn, and the wire is free. */
bool sim_stream_has_wire(const struct sim_stream *stream);
/** [blocks] Stage, transfer over the wire, launch. Only with the wire. */
void sim_stream_serialise(struct sim_stream *stream);

#endif
