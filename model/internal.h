/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_INTERNAL_H
#define MODEL_INTERNAL_H

/** The inside of a model; private to model/. */

#include "model/host.h"
#include "model/model.h"
#include "model/packed.h"
#include "model/store.h"
#include "model/wires.h"
#include "protocol/monitor/monitor.h"

#define MODEL_OUTPUTS_MAX 64 /* of one event */
#define MODEL_ENCODED_MAX 65536
#define MODEL_TOKENS 64
#define MODEL_IDLE_WAKES_MAX                                                                                           \
	40 /* so many timers, or connections to a server that misbehaves, without an end of any operation: none will end any more */

enum model_phase { MODEL_MOUNTING, MODEL_RUNNING, MODEL_UNMOUNTING, MODEL_FINISHED };
enum model_link { MODEL_LINK_NONE, MODEL_LINK_OPENING, MODEL_LINK_OPEN };
enum model_file_state { MODEL_FILE_CLOSED, MODEL_FILE_OPEN, MODEL_FILE_FAILED };

struct model_thread_state {
	uint8_t step;
	bool is_running;
	uint16_t op;
};

/** The client's side: the threads, the client core and the monitor, which sees what the client sends and receives. */
struct model_client_head {
	uint64_t now_ns;
	uint64_t wake_ns; /* UINT64_MAX: no timer is set */
	uint8_t phase;
	uint8_t idle_wakes; /* timers since an operation ended, with a server that misbehaves connections, too */
	bool has_renewed; /* a connection was made while the application ran */
	bool has_failed; /* an operation was told that it failed */
	uint8_t link[MODEL_CHANNELS_MAX];
	struct model_thread_state thread[MODEL_THREADS_MAX + 1]; /* the last: mount and unmount */
	uint8_t file_state[MODEL_FILES_MAX];
	uint32_t file[MODEL_FILES_MAX];
};

/** What moves and rules need to know of a client side, without unpacking it. */
struct model_client_ports {
	uint8_t phase;
	uint8_t startable; /* bit per thread */
	uint8_t opening; /* bit per channel */
	uint8_t open;
	bool is_armed;
	bool is_at_work; /* an operation is under way */
	bool is_dirty; /* what was written has not all been answered for */
	uint8_t running; /* bit per thread */
	uint8_t orbit; /* it stands for so many, see symmetry.c */
	uint32_t broken; /* number of what is wrong with this client side among the model's texts; 0 = nothing */
	struct model_hash form; /* what tells it from others, wherever its windows stand */
	struct {
		uint64_t next_message_id;
		int32_t credits; /* by the monitor: 1 + grants seen - charges sent */
		uint32_t in_flight; /* the same */
	} channel[MODEL_CHANNELS_MAX];
};

struct model_server_head {
	uint8_t interfaces; /* bit per interface that is not as it was at first */
	bool has_later_limits;
	bool misbehaves; /* as the config has it */
	uint64_t works; /* bit per token that storage has not done */
	uint8_t connection[MODEL_TOKENS]; /* of each token */
};

#define MODEL_OPENS_MAX 8

struct model_server_ports {
	uint64_t works;
	uint32_t broken; /* the same of this server side */
	struct model_hash form;
	struct {
		uint8_t channels; /* it can be broken on; bit per channel */
		bool to_none;
		bool to_read; /* to SMB2_LEASE_READ, or oplock level II */
		bool is_breaking;
	} open[MODEL_OPENS_MAX];
	struct {
		uint64_t window_low;
		uint32_t granted;
		bool is_open;
	} channel[MODEL_CHANNELS_MAX];
};

/** How a PDU is kept. */
struct model_pdu {
	struct smb_slice payload;
	struct model_hash form; /* with ids relative to its first one */
	uint64_t message_id; /* that one; SMB2_MESSAGE_ID_UNSOLICITED: it has none */
	uint32_t length;
	uint32_t headers;
	uint32_t credits; /* requests: sum of charges; responses: sum of grants */
	bool is_compound;
	uint8_t bytes[];
};

struct model {
	struct model_config config;
	uint64_t server_breaks; /* rules, bit per number: those that its misbehaviours break */
	uint64_t server_broke; /* of them, those that were broken; changed by any thread */
	size_t client_block; /* bytes of head, core and monitor */
	size_t monitor_at; /* in it */
	size_t server_block;
	uint8_t *client_base; /* what packed blocks are told apart from */
	uint8_t *server_base;
	struct model_store *clients;
	struct model_store *servers;
	struct model_wires *wires;
	struct model_store *pdus;
	struct model_store *texts; /* struct model_fault_found */
	struct model_memo *client_memo;
	struct model_memo *server_memo;
	struct model_state first;
};

struct model_worker {
	struct model *model;
	uint8_t *client; /* unpacked */
	uint8_t *server;
	uint8_t *encoded;
	uint8_t *packed;
	uint8_t *pdu;
	struct model_effect *effect; /* being made */
	struct model_effect *passing[2]; /* client's, server's: see model_worker_forget */
	bool is_starved; /* the client has too few credits for a chain, and nothing is under way */
	bool is_unsent; /* the next PDU of the client is not sent */
	struct model_fault_found found;
	struct model_done done;
};

/** SMB1 has 16 bits of MessageIds that come round again: there states differ with where they stand. */
static inline bool model_has_relative_ids(const struct model_config *config)
{
	return config->client.mount.vers != SMB_VERS_1 && !config->has_absolute_ids;
}

/* client_side.c */
void model_client_init(struct model *model, uint8_t *block);
const struct model_effect *model_client_do(struct model_worker *worker, uint32_t client, struct model_event event);
uint32_t model_client_put(struct model_worker *worker);
static inline const struct model_client_ports *model_client_ports(const struct model *model, uint32_t client)
{
	return model_store_get(model->clients, client, NULL);
}
void model_client_unpack(struct model_worker *worker, uint32_t client);
struct smb_client *model_client_core(const struct model *model, uint8_t *block);
struct smb_monitor *model_client_monitor(const struct model *model, uint8_t *block);

/* symmetry.c: threads that do the same */
/** Put the states of such threads in order. */
void model_symmetry_sort(const struct model_config *config, struct model_client_head *head);
/** How many client sides differ from this one only in that. */
uint32_t model_symmetry_orbit(const struct model_config *config, const struct model_client_head *head);

/* threads.c: what the application threads do next */
/** Does any of them open a file with O_DIRECT? */
bool model_threads_go_direct(const struct model_config *config);
uint8_t model_threads_startable(const struct model_config *config, const struct model_client_head *head);
/** Submit the thread's next step; false: the client does not take it. */
bool model_thread_start(const struct model_config *config, struct model_client_head *head, struct smb_client *client,
			uint32_t thread);
/** An operation ended; returns the thread it belonged to. */
uint32_t model_thread_done(const struct model_config *config, struct model_client_head *head,
			   const struct smb_client_output *done);
/** "thread 1: read f 0+65536" */
void model_step_tell(const struct model_config *config, const struct model_client_head *head, uint32_t thread,
		     GString *text);

/* server_side.c */
void model_server_init(struct model *model, uint8_t *block);
const struct model_effect *model_server_do(struct model_worker *worker, uint32_t server, struct model_event event);
uint32_t model_server_put(struct model_worker *worker);
static inline const struct model_server_ports *model_server_ports(const struct model *model, uint32_t server)
{
	return model_store_get(model->servers, server, NULL);
}
void model_server_unpack(struct model_worker *worker, uint32_t server);
struct smb_server *model_server_core(uint8_t *block);

/* guard.c */
/** Let `run` compute the effect of an event on a side, and which it is then; when the core stops itself, the side is
 *  `before`. */
void model_guarded(struct model_worker *worker, struct model_event event,
		   uint32_t (*run)(struct model_worker *worker, struct model_event event), uint32_t before);

/* pdu.c */
uint32_t model_pdu_put(struct model *model, const struct smb_pdu *pdu, bool is_request);
static inline const struct model_pdu *model_pdu_get(const struct model *model, uint32_t number)
{
	return model_store_get(model->pdus, number, NULL);
}
struct smb_pdu model_pdu_as_smb(const struct model_pdu *pdu);
/* judge.c: what the monitor cannot see from PDUs alone */
void model_judge_sent(struct model_worker *worker, const struct smb_pdu *pdu);
void model_judge_received(struct model_worker *worker, const struct smb_pdu *pdu);
/** What must hold of the client's side at any time; `ports` are filled. */
void model_judge_client(struct model_worker *worker, const struct model_client_ports *ports);
/** Does the server wait for the client to acknowledge the break of this open? An open that the client does not have, since
 *  its CLOSE was refused or not sent, or the answer to its CREATE lost, is the server's alone: MS-SMB2 3.2.5.19.1 and
 *  3.2.5.19.2 have the client ignore the break. */
bool model_owes_acknowledgement(struct model_worker *worker, const struct model_state *state, uint32_t open);
/** The end of a run at which nothing is left to happen: false, and what was found. */
bool model_judge_end(struct model_worker *worker, const struct model_state *state, struct model_fault_found *found);
bool model_runs_commands(const struct model_config *config);

/* judge_data.c: what was written is at the server (C28) */
/** At the end of a run: all that was written to the file. False, and what was found. */
bool model_judge_data(const struct model_config *config, const struct smb_server *server, uint32_t file,
		      struct model_fault_found *found);
/** Step `end` of the thread, an FSYNC, has returned: what the thread wrote to its file before, unless others wrote over
 *  it. */
bool model_judge_synced(const struct model_config *config, const struct smb_server *server, uint32_t thread,
			uint32_t end, struct model_fault_found *found);
/** The stream that a WRITE step writes from: the thread's, or one of its own when the thread writes there again. */
uint64_t model_source_of_step(const struct model_config *config, uint32_t thread, uint32_t step);
#define MODEL_SOURCE_FIRST UINT64_C(1000) /* below: of files as they were */

/** From now on every event runs the core, as if it had never been seen before: what remembering saves. */
void model_worker_forget(struct model_worker *worker);
enum model_side { MODEL_SIDE_CLIENT, MODEL_SIDE_SERVER };
/** Remember the effect that was made, or let it pass; returns it. */
const struct model_effect *model_effect_keep(struct model_worker *worker, enum model_side side, uint32_t part,
					     struct model_event event);

/** The server may leave the client without credits. */
bool model_may_starve(const struct model_config *config);

/** Add an output to the effect being made. */
void model_effect_add(struct model_worker *worker, enum model_output_kind kind, uint32_t channel, uint32_t argument);
/** What is wrong with the part that the effect leads to, behind what the event itself broke. */
static inline void model_effect_part_broken(struct model_worker *worker, uint32_t broken)
{
	if (!worker->effect->broken)
		worker->effect->broken = broken;
}
/** Note what was broken in the effect being made; the first one stays. */
void model_effect_broken(struct model_worker *worker, const char *rule, const char *format, ...) G_GNUC_PRINTF(3, 4);

#endif
