/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

/** What is modelled: one client, one server, a few application threads, and what may go wrong how often. */

#include "protocol/client/client.h"
#include "sim/server/server.h"

#define MODEL_CHANNELS_MAX 4
#define MODEL_THREADS_MAX 4
#define MODEL_STEPS_MAX 12
#define MODEL_FILES_MAX 4
#define MODEL_GRANTS_MAX 8
#define MODEL_STATUSES_MAX 4
#define MODEL_INTERFACES_MAX 4

enum model_step_kind {
	MODEL_STEP_OPEN,
	MODEL_STEP_READ,
	MODEL_STEP_WRITE,
	MODEL_STEP_FSYNC,
	MODEL_STEP_CLOSE, /* waits until no other thread has anything left to do with the file */
	MODEL_STEP_COMMAND,
};

/** One step of an application thread. Steps on a file wait until some thread has opened it. */
struct model_step {
	enum model_step_kind kind;
	uint32_t file; /* of model_config.files; all but COMMAND */
	uint64_t offset; /* READ, WRITE; bytes */
	uint64_t length;
	enum smb_open_access access; /* OPEN */
	bool direct; /* OPEN: O_DIRECT */
	struct smb_ops_command command;
};

struct model_thread {
	uint32_t steps;
	struct model_step step[MODEL_STEPS_MAX];
};

struct model_file {
	char name[SMB_OPS_PATH_MAX]; /* relative to the share, '/' between names */
	uint64_t bytes;
	bool is_directory;
};

/** What may go wrong, and how often in one run. */
enum model_fault {
	MODEL_FAULT_CUT, /* a connection ends */
	MODEL_FAULT_REFUSE, /* a connection cannot be made */
	MODEL_FAULT_CANCEL, /* a signal ends the wait of a thread */
	MODEL_FAULT_SEND, /* a PDU cannot be sent, and the connection stays up */
	MODEL_FAULT_PUSHBACK, /* the server fails a request with one of model_freedom.status instead of executing it */
	MODEL_FAULT_EXPIRE, /* the session expires before a request is executed */
	MODEL_FAULT_BREAK, /* the server breaks a lease or an oplock */
	MODEL_FAULT_STRANGER, /* another client comes and breaks a rule (stranger.c) */
	MODEL_FAULT_TIMER, /* a timer comes before everything else has come to rest; at rest timers are free */
	MODEL_FAULT_INTERFACE, /* an interface of the server goes or comes back; clients learn of it when they ask */
	MODEL_FAULT_LIMITS, /* the server's limits become model_config.later, or again what they were */
	MODEL_FAULTS,
};

/** What MS-SMB2 leaves to the server, beside what its profile does. */
struct model_freedom {
	bool any_order; /* storage answers in any order; else at once */
	uint32_t grants;
	uint16_t grant[MODEL_GRANTS_MAX]; /* what an answer may grant instead of what the profile does */
	bool interim; /* what waits for storage may be answered with STATUS_PENDING first */
	bool split; /* replies of a compound may come in a PDU each */
	bool spread; /* credits of a compound's replies may come one by one */
	uint32_t statuses;
	uint32_t status[MODEL_STATUSES_MAX]; /* NT status of a pushback */
};

struct model_config {
	struct smb_client_config client;
	struct smb_client_limits client_limits;
	struct smb_server_config server;
	struct smb_server_limits server_limits;
	uint32_t files;
	struct model_file file[MODEL_FILES_MAX];
	uint32_t threads;
	struct model_thread thread[MODEL_THREADS_MAX];
	bool unmounts; /* when all threads are done */
	bool starts_mounted; /* the mount happens once, before the first state, without choices and faults */
	bool behaves_in_mount; /* with misbehaviours: not before the mount is over; only with starts_mounted */
	bool is_live; /* the rules of liveness are judged, too */
	bool symmetry; /* threads that do the same are taken for each other (symmetry.c); not with is_live */
	bool partial_order; /* orders that come to the same are left out (ample.c); not with is_live */
	bool has_absolute_ids; /* states that differ in where MessageIds stand alone are several */
	bool is_exact; /* for tests of the canonical form: sides are told apart byte by byte, states as ever by their form */
	struct model_freedom freedom;
	uint8_t faults[MODEL_FAULTS]; /* how often each */
	struct smb_server_sizes later; /* for connections that are made after MODEL_FAULT_LIMITS */
	bool never_back; /* after the first cut no connection can be made any more */
};

/** "cuts", ... as configs and moves name them. */
const char *model_fault_name(enum model_fault fault);

/** The smallest blocks that hold the threads of this model, for `channels` connections. */
void model_config_set_limits(struct model_config *config, uint32_t channels);

#endif
