/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_WORLD_DIRECTOR_H
#define SIM_WORLD_DIRECTOR_H

/**
 * A run whose order is given: what happens next is the next turn of a script, and everything else waits. What runs is
 * what runs in any simulation: the cores, the threads of client, server, storage and application, TCP and the wire.
 *
 * PDUs wait where their receiver has taken them off its socket, works of storage before they are reported, connections
 * after their handshake, the client's timer though it is due, and the threads of the application before each of their
 * operations. All costs and delays are zero, so that time passes by the client's timers alone: it sees the times of
 * the model checker, where the scripts come from.
 *
 * The server's clock stands still and its timers do not come: what they would do, a turn's choice does.
 */

#include "protocol/client/client.h"
#include "protocol/monitor/monitor.h"
#include "sim/server/server.h"

#include <glib.h>

enum sim_turn_kind {
	SIM_TURN_START, /* thread `argument` of the application begins its next operation */
	SIM_TURN_TO_SERVER, /* the server gets the first PDU on `channel` */
	SIM_TURN_TO_CLIENT,
	SIM_TURN_WORK, /* storage has done the work with token `argument` */
	SIM_TURN_CONNECT, /* `channel` is connected */
	SIM_TURN_REFUSE, /* it cannot be */
	SIM_TURN_CUT, /* the connection of `channel` ends */
	SIM_TURN_CANCEL, /* a signal ends the wait of thread `argument` */
	SIM_TURN_BREAK, /* the caching of open `argument` is broken to `to`, told on `channel` (smb_server_break) */
	SIM_TURN_STRANGER, /* another client, number `argument`, comes to the server and goes: `intrude` */
	SIM_TURN_CHANGE, /* `change` does something to the server */
	SIM_TURN_WAKE, /* the client's timer comes, whenever it is due */
};

struct sim_turn {
	enum sim_turn_kind kind;
	uint32_t channel;
	uint32_t argument;
	uint32_t to;
	struct smb_server_choice choice; /* TO_SERVER, WORK: what the server chooses for its answer */
	bool is_unsent; /* the first PDU that the client sends now cannot be sent, and the connection stays up */
};

struct sim_cores {
	struct smb_client *client;
	struct smb_server *server;
	struct smb_monitor *monitor;
};

#define SIM_SCRIPT_THREADS_MAX 8

struct sim_script {
	struct smb_client_config client;
	struct smb_client_limits client_limits;
	struct smb_server_config server;
	struct smb_server_limits server_limits;
	bool holds_work; /* storage waits for SIM_TURN_WORK; else it answers at once */
	uint64_t excused; /* rules, bit per number, that do not count when it is the server that breaks them */
	uint32_t threads; /* of the application, at most SIM_SCRIPT_THREADS_MAX */

	void *context; /* of the functions below; turns are numbered from 0 */
	/** The turn that comes next; false: that was all. */
	bool (*next)(void *context, uint32_t turn, struct sim_turn *what);
	/** Before anything runs: what is on the share, and what the monitor is to know. */
	void (*furnish)(void *context, const struct sim_cores *cores);
	/** What `thread` does at its turn. */
	void (*begin)(void *context, uint32_t turn, uint32_t thread, struct smb_op *op);
	/** It has ended. */
	void (*done)(void *context, uint32_t turn, uint32_t thread, const struct smb_client_output *done,
		     const struct sim_cores *cores);
	/** What STRANGER is, done to the server's core at once. */
	void (*intrude)(void *context, uint32_t turn, uint32_t stranger, const struct sim_cores *cores);
	/** CHANGE: the server is another one from now on. */
	void (*change)(void *context, uint32_t turn, struct smb_server *server);
	/** All that came of a turn has come to rest. False: the run ends here. */
	bool (*rested)(void *context, uint32_t turn, const struct sim_cores *cores);
};

enum sim_script_end {
	SIM_SCRIPT_PLAYED, /* all turns are done */
	SIM_SCRIPT_WAITS, /* what turn `at` is about is not there, and nothing else can happen */
	SIM_SCRIPT_STOPPED, /* by `rested` */
	SIM_SCRIPT_ENDED, /* in turn `at` the world came to an end: `rule` says how */
};

struct sim_script_result {
	enum sim_script_end end;
	uint32_t at; /* index of the last turn that was begun */
	uint32_t waiting; /* works, handshakes, and connections and directions with PDUs, that wait for their turn */
	/* The first that was seen broken: by the monitor; "cut": the server cut a connection; "valid": the client took an
	 * operation not; "C22": it sent where it is not connected; "assertion": a core stopped itself. Empty: none. */
	char rule[12];
	char text[256];
	uint32_t rule_at; /* the turn in which it was */
};

struct sim_trace;
/** False for an environment error only. One run per process, as sim_world_run. */
bool sim_script_run(const struct sim_script *script, const struct sim_trace *trace, struct sim_script_result *result,
		    GError **error);

/** For the handler of failed assertions, as model_core_stops: the run of a script ends here. */
void sim_script_core_stops(const char *text);

#endif
