/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

/**
 * The system that is explored: the client core and the server core as they are, the rule monitor between them, and the
 * PDUs on their way.
 *
 * A state is a small tuple of numbers. Its parts (the client's side, the server's side, the queue of PDUs of each
 * connection and direction) are kept once in the model and shared by all states they occur in; what an event does to a
 * part is computed by the core once and remembered. So a state takes 64 bytes whatever the size of the cores' blocks,
 * and most steps run no core at all.
 *
 * A move is one thing that can happen. `model_moves` lists what can happen in a state, `model_do` does it. Nothing else
 * is needed to follow a run; the explorer (explore.h), replays and tests all use these two.
 *
 * A model may be used by several threads, each with its own worker.
 */

#include "model/config.h"
#include "model/memo.h"

#include <glib.h>

enum model_direction { MODEL_TO_SERVER, MODEL_TO_CLIENT };

struct model_state {
	uint32_t client;
	uint32_t server;
	uint32_t wire[MODEL_CHANNELS_MAX][2]; /* by enum model_direction; 0 = nothing under way */
	uint8_t left[MODEL_FAULTS]; /* faults that may still happen */
	uint8_t spare[24 - MODEL_FAULTS];
};

enum model_move_kind {
	MODEL_MOVE_START, /* thread `argument` starts its next step; MODEL_SYSTEM: mount, unmount */
	MODEL_MOVE_TO_SERVER, /* the server receives the first PDU on `channel` */
	MODEL_MOVE_TO_CLIENT,
	MODEL_MOVE_WORK, /* the server's storage work `argument` is done */
	MODEL_MOVE_CONNECT, /* `channel` is connected */
	MODEL_MOVE_REFUSE, /* it cannot be */
	MODEL_MOVE_CUT, /* the connection of `channel` ends */
	MODEL_MOVE_CANCEL, /* a signal ends the wait of thread `argument` */
	MODEL_MOVE_BREAK, /* the server breaks an open, told on `channel`; see MODEL_BREAK */
	MODEL_MOVE_STRANGER, /* another client breaks the rule `argument` and goes */
	MODEL_MOVE_INTERFACE, /* interface `argument` of the server goes, or comes back */
	MODEL_MOVE_LIMITS, /* the server's limits change, for connections to come */
	MODEL_MOVE_WAKE, /* the client's next timer comes */
	MODEL_MOVES,
};

#define MODEL_SYSTEM MODEL_THREADS_MAX

/** BREAK: the open's number and what is left of its caching (SMB2_LEASE_*, or the oplock level). */
#define MODEL_BREAK(open, to) ((uint32_t)(open) << 8 | (to))

/** What is chosen, and the number of the grant or status among those of the config. */
enum model_choice_kind {
	MODEL_CHOICE_NONE, /* the server does as its profile does, the client sends */
	MODEL_CHOICE_GRANT,
	MODEL_CHOICE_INTERIM,
	MODEL_CHOICE_SPLIT,
	MODEL_CHOICE_SPREAD,
	MODEL_CHOICE_PUSHBACK,
	MODEL_CHOICE_EXPIRE,
	MODEL_CHOICE_UNSENT, /* client: the first PDU that it sends now is not sent */
	MODEL_CHOICES,
};
#define MODEL_CHOICE(kind, number) ((uint16_t)((kind) << 8 | (number)))

/** One thing that can happen. `choice` is what the server chooses for its answer; 0 = as its profile does. */
struct model_move {
	uint8_t kind; /* enum model_move_kind */
	uint8_t channel;
	uint16_t choice;
	uint32_t argument;
};

#define MODEL_MOVES_MAX 256

struct model;
struct model_worker;

/** NULL: the config cannot be built (the message says why), or `starts_mounted` and the mount does not work. */
struct model *model_new(const struct model_config *config, GError **error);
void model_free(struct model *model);
const struct model_config *model_config_of(const struct model *model);
/** The same model with each thread for itself (config.symmetry off): the one that traces are of. */
struct model *model_without_symmetry(const struct model *model);
/** What a thread needs to work on the model. */
struct model_worker *model_worker_new(struct model *model);
void model_worker_free(struct model_worker *worker);

void model_first_state(struct model *model, struct model_state *state);
/** The next move of the mount that comes before the first state when a model starts mounted: never a choice or a fault.
 *  False: the mount is done and nothing is under way. */
bool model_mount_next(struct model_worker *worker, const struct model_state *state, struct model_move *move);

/** The mount is over: from here on a server that `behaves_in_mount` misbehaves. */
void model_mount_over(struct model_worker *worker, struct model_state *state);

/** What can happen in `state`, in an order that depends on the state alone; returns how many. 0: the end, or stuck. */
uint32_t model_moves(struct model_worker *worker, const struct model_state *state,
		     struct model_move moves[MODEL_MOVES_MAX]);

/** A rule that was broken, or how else a run is wrong. */
struct model_fault_found {
	char rule[12]; /* "C6"; "stuck", "valid", "fails", "cut", "assertion" when it is none of the numbered ones */
	char text[240];
	bool has_message; /* a message of `channel` was seen to break it */
	uint32_t channel;
	uint64_t message_id;
};

/** Do one of model_moves. False: a rule was broken, see model_broken; `next` is what came of it all the same. */
bool model_do(struct model_worker *worker, const struct model_state *state, struct model_move move,
	      struct model_state *next);
/** What the last model_do, or model_check_end, found. */
const struct model_fault_found *model_broken(const struct model_worker *worker);
/** In a state without moves: false when it is not the end of a run, or something is left that should not be. */
bool model_check_end(struct model_worker *worker, const struct model_state *state);

/* ---------------------------------------------------------------------------------------------------------- in words */

/** One line of text, for files: "receive server 0", "work 3". */
void model_move_write(const struct model *model, struct model_move move, GString *text);
/** Read it back. */
bool model_move_read(const struct model *model, const char *text, struct model_move *move, GError **error);
/** A PDU: "[READ(0+65536)<mid7 ch1 req9>]". */
void model_pdu_tell(const struct smb_pdu *pdu, GString *text);
/** What happens, for people: "the server receives [READ(0+65536)<mid7 ch1 req9>] on channel 0". */
void model_move_tell(struct model_worker *worker, const struct model_state *state, struct model_move move,
		     GString *text);
/** The credits of both sides and the window of each open channel. */
void model_state_tell(struct model_worker *worker, const struct model_state *state, GString *text);

/** One PDU that is under way. `index` from 0, the next to arrive; false: there are not so many. */
bool model_state_pdu(const struct model *model, const struct model_state *state, uint32_t channel,
		     enum model_direction direction, uint32_t index, struct smb_pdu *pdu);

/** The cores in a state, for those who look into them; valid until the worker is used again. */
const struct smb_client *model_state_client(struct model_worker *worker, const struct model_state *state);
const struct smb_server *model_state_server(struct model_worker *worker, const struct model_state *state);

/* ----------------------------------------------------------------------------------------------------------- numbers */

/** Rules that the server has broken so far because it is told to (misbehaviour.h); bit per number. */
uint64_t model_server_broke(const struct model *model);

struct model_numbers {
	uint64_t clients; /* different client sides so far */
	uint64_t servers;
	uint64_t wires;
	uint64_t pdus;
	uint64_t effects; /* remembered */
	uint64_t bytes; /* memory of all that */
};
void model_look(const struct model *model, struct model_numbers *numbers);

/** What model_do did. */
struct model_done {
	uint64_t moves[MODEL_MOVES][MODEL_CHOICES];
	uint64_t faults[MODEL_FAULTS];
};
const struct model_done *model_worker_done(const struct model_worker *worker);
void model_done_add(struct model_done *to, const struct model_done *more);

/** What may go wrong, and what MS-SMB2 leaves to the server, by the name of its key in configs; and "steps", what the
 *  application does: none happen when a mount that comes first fails. */
struct model_kind {
	const char *name;
	bool is_allowed; /* by the config */
	uint64_t happened;
};
#define MODEL_KINDS_MAX (MODEL_FAULTS + 8)
/** Returns how many there are. A rule is proved for those alone that happened. */
uint32_t model_kinds(const struct model_config *config, const struct model_done *done,
		     struct model_kind kinds[MODEL_KINDS_MAX]);

#define MODEL_ERROR (model_error_quark())
GQuark model_error_quark(void);
enum model_error {
	MODEL_ERROR_CONFIG,
	MODEL_ERROR_FILE, /* a file that was given is to blame */
	MODEL_ERROR_WRITE, /* the disc is */
};

#endif
