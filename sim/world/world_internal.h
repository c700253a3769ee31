/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_WORLD_INTERNAL_H
#define SIM_WORLD_INTERNAL_H

/* What the files of this folder share: one run's state and the calls between its parts. Nobody else includes this. */

#include "protocol/client/client.h"
#include "sim/server/server.h"
#include "sim/world/director.h"
#include "sim/world/pairs.h"
#include "sim/world/world.h"

/** One PDU on its way, with a copy of its bytes. */
struct world_frame {
	struct world *world; /* its client */
	struct smb_pdu pdu;
	uint32_t channel;
	uint32_t read_slot; /* the READ it asks for, WORLD_NO_READ otherwise */
	bool is_other; /* a request that is no READ, or the final answer to one */
	uint8_t bytes[];
};

#define WORLD_NO_READ UINT32_MAX

/** Where a READ is, for telling what the blocked reader waits for. */
enum world_read_stage { WORLD_READ_REQUEST, WORLD_READ_SERVER, WORLD_READ_WIRE };

struct world_read {
	uint64_t message_id;
	uint64_t offset;
	uint32_t length; /* 0 = slot is free */
	uint32_t channel;
	bool is_write;
	enum world_read_stage stage;
	uint32_t active; /* its place in world.active_reads */
};

/** What the reader is doing; indexes the parts of struct sim_reader_time. */
enum world_cause {
	WORLD_CAUSE_CPU,
	WORLD_CAUSE_WIRE,
	WORLD_CAUSE_SERVER,
	WORLD_CAUSE_REQUEST,
	WORLD_CAUSE_CREDITS,
	WORLD_CAUSE_NOTHING,
	WORLD_CAUSES,
};

struct world_reader_clock {
	enum world_cause cause;
	uint64_t since_ns;
	uint64_t spent_ns[WORLD_CAUSES];
	uint64_t wanted; /* file offset the reader waits for */
	uint64_t blocked_since_ns;
	uint32_t read_slot; /* the READ that brings it, WORLD_NO_READ when none is sent */
	bool blocked;
	bool running; /* the workload's clock runs */
};

struct world_channel {
	struct world *world;
	uint32_t number;
	struct sim_conn *conn;
	struct sim_queue *client_inbox;
	struct sim_queue *server_inbox; /* with its own thread; NULL when one process serves all */
	struct sim_queue *writes; /* how many bytes each WRITE carries that is on its way into the socket */
	uint32_t path; /* NIC */
	bool open;
	bool used; /* was opened at least once */
};

/** Work for the server's storage; `arrival.conn` NULL tells it apart from an arrival in a server thread's inbox. */
struct world_work {
	struct sim_arrival arrival;
	struct world *world; /* whose request it is for */
	uint32_t channel;
	uint32_t token;
	uint64_t bytes;
	bool is_write;
};

/** When a core wants to be woken next, and how. */
struct world_timer {
	struct world *world;
	struct sim_queue *changed; /* told when `due_ns` is another */
	uint64_t due_ns; /* UINT64_MAX: not at all */
	void (*ring)(struct world *world);
	bool is_held; /* it does not come by itself */
	struct sim_queue *rung; /* told when it has rung; may be NULL */
};

/** How many READs of one length were sent. */
struct world_length {
	uint32_t bytes; /* 0 = not in use */
	uint64_t count;
};
#define WORLD_LENGTHS 32 /* further lengths are not counted: a run has a handful */

/** What all clients of a run share: the server, and whether it is over. */
struct world_site {
	struct world *clients;
	uint32_t client_count;
	uint32_t channels_each; /* connection numbers that each client has */
	struct smb_server *server;
	struct sim_queue *storage;
	struct world_timer server_timer;
	uint64_t storage_free_ns;
	uint32_t ready; /* clients that have prepared what they measure */
	uint32_t done; /* clients whose workload is over */
	struct sim_result *result; /* of all */
	struct world_director *director; /* NULL: things happen when they happen */
	bool finished;
};

/** One client, its application, and what is between it and the server. */
struct world {
	const struct sim_point *point;
	const struct sim_trace *trace;
	struct sim_result *result; /* its own */
	struct sim_engine *engine;
	struct world_site *site;
	uint32_t number;
	struct sim_queue *start; /* told when all are ready */

	struct smb_client *client;
	struct smb_server *server; /* the site's */
	struct smb_monitor *monitor; /* NULL when it is off */

	struct world_channel channels[SMB_CHANNELS_MAX];
	struct sim_queue *application; /* outputs for the application thread, unless another one waits for them */
	struct sim_queue **op_queues; /* by operation: of the thread that waits for it; NULL = the application's */
	uint32_t op_count;
	uint32_t threads_awake; /* of the application's, that are not blocked */
	struct sim_queue *server_inbox; /* one for all its connections (an smbd) unless each has its own thread */
	struct world_timer client_timer;

	struct world_read *reads; /* READs under way, by slot */
	uint32_t *active_reads; /* slots in use, in no order */
	uint32_t read_slots;
	uint32_t read_count;
	uint64_t read_bytes;
	struct world_length lengths[WORLD_LENGTHS];
	enum world_read_stage other_stage; /* of the request that moved last and is no READ */
	uint32_t other_count; /* such requests under way */
	struct world_reader_clock clock;

	uint64_t begun_ns; /* the workload's first clock start */
	uint64_t pairs_before;
	uint64_t sample_every_ns;
	uint64_t sample_due_ns;
	struct sim_sample sample_held; /* the state since the last event */
	bool nic_down[SIM_NICS_MAX];
	GArray *heard; /* struct sim_pair: what is said while a command runs for the first time, else NULL */
	bool sends_block; /* the client waits until its sockets have taken what it writes */
	bool mounted;
	bool measuring; /* what was to be prepared is done */
};

/* client_host.c: the client's machine */
void world_client_start(struct world *world);
/** Act on everything the core wants; costs of what was sent are spent on the calling thread's processor. */
void world_client_drain(struct world *world);
/** The connection of a channel is over; the client core is told when it was not its own wish. */
void world_channel_close(struct world *world, uint32_t number, bool tell_client);
/** Requests in a PDU: the members of a compound chain, else 1. */
uint32_t world_members(const struct smb_pdu *pdu);
struct world_frame *world_frame_new(struct world *world, const struct smb_pdu *pdu, uint32_t channel);
/** For sim_conn_cut: a frame that will not arrive. */
void world_frame_drop(void *frame, void *arg);

/* application.c: the workload, job by job */
void world_application_main(void *arg);
/** `name` with SIM_LOOP_MARK replaced by the number and SIM_CLIENT_MARK by the client's; free with g_free. */
char *world_name_of(const struct world *world, const char *name, uint64_t number);

/* operation.c: one operation of the core, followed to its end by the thread that submits it. False: the run is over. */
/** `file`, as CREATE names it: whose content comes back. */
bool world_op_run(struct world *world, const struct smb_op *op, const char *file, struct smb_client_output *done);
/** The same for one whose failure ends the run; `what` says what was tried. */
bool world_op_must(struct world *world, const struct smb_op *op, const char *what, struct smb_client_output *done);
/** Submit one whose outputs go to `queue`; SMB_OP_NONE: the run is over. */
uint32_t world_op_submit(struct world *world, const struct smb_op *op, struct sim_queue *queue);
/** The next output for the thread that waits at `queue`; it is blocked meanwhile, at file offset `wanted`. With
 *  `until_ns` < UINT64_MAX: false when the clock shows that before. */
bool world_op_wait(struct world *world, struct sim_queue *queue, uint64_t wanted, uint64_t until_ns,
		   struct smb_client_output *output);
/** A COPY output: the thread takes the bytes of `file`, as CREATE names it, or gives those it writes. */
void world_op_copy(struct world *world, const struct smb_op *op, const char *file,
		   const struct smb_client_output *output);
/** End the run because of an operation that failed. */
void world_op_failed(struct world *world, const char *what, const struct smb_client_output *done);

/* write_job.c: a file written call by call. False: the run is over. */
bool world_write_job(struct world *world, const struct sim_write_job *job, const char *file);

/* read_job.c: a file read call by call. False: the run is over. */
bool world_read_job(struct world *world, const struct sim_read_job *job, const char *file);

/* fio_job.c: jobs `first` to `end` - 1, which are of fio and run side by side. False: the run is over. */
bool world_fio_jobs(struct world *world, uint32_t first, uint32_t end, uint64_t number);
/** Room in the client core for all calls and files of jobs that run side by side. */
void world_fio_limits(const struct sim_workload *workload, struct smb_client_limits *limits);
/** The block that comes `index`-th of `count` in an order that depends on `seed`: each comes once. */
uint64_t world_shuffle(uint64_t index, uint64_t count, uint64_t seed);
/** splitmix64: the next of a sequence of draws. */
uint64_t world_random(uint64_t *state);

/* command_job.c: a shell command; `error` says how it ended. False: the run is over. */
bool world_command_job(struct world *world, const struct smb_ops_command *command, enum smb_ops_error *error);
bool world_mount(struct world *world);

/* names.c: what is on the share before anybody mounts it */
/** A path as CREATE names it, with '\\' between components; free with g_free. */
char *world_wire_path(const char *path);
/** The source of a file's content (payload.h). */
uint64_t world_source_of(const char *path);
void world_make_names(struct world *world);

/* server_host.c: the server's machine */
void world_server_start(struct world_site *site);
/** The number that the server knows a client's channel by, and whose it is. */
uint32_t world_connection(const struct world *world, uint32_t channel);
struct world *world_of_connection(const struct world_site *site, uint32_t connection);
void world_server_drain(struct world *world);
void world_server_add_connection(struct world *world, uint32_t channel);

/* reads.c: READs and WRITEs (both are called reads here) under way, and the reader's time */
void world_reads_init(struct world *world);
/** The READ or WRITE that an SMB1 PDU asks for; false: none. */
bool world_read_smb1(const struct smb_pdu *pdu, struct world_read *read);
/** The next READ or WRITE that the members of an SMB2 PDU ask for; false: no more. */
bool world_read_next(struct smb_chain_reader *reader, struct world_read *read);
/** `read` says what is asked for and under which id. */
uint32_t world_read_sent(struct world *world, uint32_t channel, const struct world_read *read);
uint32_t world_read_find(const struct world *world, uint32_t channel, uint64_t message_id);
/** The length that most READs asked for. */
uint64_t world_read_usual_length(const struct world *world);
void world_read_stage(struct world *world, uint32_t slot, enum world_read_stage stage);
/** The same for a stage that began earlier. */
void world_read_stage_since(struct world *world, uint32_t slot, enum world_read_stage stage, uint64_t since_ns);
void world_read_done(struct world *world, uint32_t slot);
/** The same for requests that are no READ, all of them together: one is sent, has come to a stage, is answered. */
void world_other_sent(struct world *world);
void world_other_stage(struct world *world, enum world_read_stage stage);
void world_other_done(struct world *world);
/** READs of a connection that is gone get no answer. */
void world_reads_lost(struct world *world, uint32_t channel);
void world_reader_start(struct world *world);
void world_reader_stop(struct world *world);
void world_reader_blocks(struct world *world, uint64_t wanted);
void world_reader_runs(struct world *world);
void world_reader_time(const struct world *world, struct sim_reader_time *time);

/* faults.c: what goes wrong, and links of different speed */
void world_faults_start(struct world *world);
uint64_t world_nic_rate(const struct sim_network *network, uint32_t nic);
struct smb_server_interface world_nic_interface(const struct world *world, uint32_t nic);

/* director.c: a run whose order is given. Without a director nothing of this makes any difference. */
enum world_turn { WORLD_TURN_TAKEN, WORLD_TURN_REFUSED, WORLD_TURN_GONE };
/** [blocks] until it is the turn of what the calling thread is about to do. GONE: its connection is over. */
enum world_turn world_turn(struct world *world, struct sim_turn turn);
/** What waits for its turn on a connection never gets it. */
void world_turns_drop(struct world *world, uint32_t channel);
/** False: the PDU is not to be sent, and the client knows. */
bool world_may_send(struct world *world, const struct smb_client_output *output);
/** The server's clock: a director lets it stand still, as the model checker does. */
uint64_t world_server_now_ns(const struct world *world);
/** Whether storage takes until its turn. */
bool world_director_holds_work(const struct world *world);
void world_director_start(struct world *world);
/** NULL without a director. */
const struct sim_script *world_script(const struct world_site *site);
void world_director_furnish(struct world *world);
/** A rule was seen broken. */
void world_director_note(struct world *world, const char *rule, const char *text);
/** The server of the script is told to break this rule. */
bool world_director_excuses(const struct world *world, enum smb_rule rule);
/** sim_world_run, with a director or without (NULL). */
bool world_run(const struct sim_point *point, const struct sim_trace *trace, struct world_director *director,
	       struct sim_result *result, GError **error);

/* timer.c: a core's alarm; `ring` is set before the start */
void world_timer_start(struct world *world, struct world_timer *timer, enum sim_side side, const char *name);
void world_timer_set(struct world_timer *timer, uint64_t due_ns);

/* samples.c: the run over time */
void world_sample(struct world *world);

/** The mount is done: what was negotiated goes into the result and to the monitor. */
void world_mounted(struct world *world);
/** From now on counts and times belong to the workload. */
void world_measure(struct world *world);
/** Up to now: the workload is done. */
void world_measured(struct world *world);
/** Nothing of this client's is left to do: with the last one the run has ended. */
void world_done(struct world *world);
/** On this client's host. */
void world_thread_start(struct world *world, const char *name, void (*main)(void *arg), void *arg);

/* sum.c: the results of several clients */
void world_sum(const struct world_site *site, struct sim_result *sum);
uint64_t world_pairs(const struct world *world);
/** End the run; the first call decides the outcome. */
void world_end(struct world *world, enum sim_outcome outcome, const char *failure);

#endif
