/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_WORLD_TESTS_CORES_H
#define SIM_WORLD_TESTS_CORES_H

/**
 * The client's core and the server's, face to face, with the monitor between them and no network: PDUs wait in queues
 * until the test delivers them, and everything that is left to chance is drawn from one generator.
 */

#include "protocol/client/client.h"
#include "protocol/monitor/monitor.h"
#include "sim/server/server.h"

#define CORES_CHANNELS 3
#define CORES_QUEUE 512
#define CORES_OPS 6
#define CORES_FILE_BYTES 300000u

struct cores_pdu {
	struct smb_pdu pdu; /* bytes are allocated */
	bool is_broken; /* the client may not understand it */
};

struct cores_queue {
	struct cores_pdu pdus[CORES_QUEUE];
	uint32_t head;
	uint32_t count;
};

/** What may happen by chance, each in so many of 1000 steps. */
struct cores_chances {
	uint32_t cut;
	uint32_t cancel;
	uint32_t unsent;
	uint32_t brk;
	uint32_t time;
	uint32_t refuse; /* pushback, per request */
	uint32_t expire;
	bool choose; /* grants, interim, split and spread as they fall; else the profile decides */
};

struct cores_config {
	const char *era;
	const char *mount;
	struct smb_server_misbehaviour misbehaviour;
	struct cores_chances chances;
	uint32_t credits_max; /* of the server */
	bool overdraw; /* break acknowledgements as the era has them; else policy break_ack_waits is on */
	uint64_t seed;
};

struct cores {
	struct cores_config config;
	uint64_t random;
	uint64_t now_ns;
	struct smb_client *client;
	struct smb_server *server;
	struct smb_monitor *monitor;
	struct cores_queue to_server[CORES_CHANNELS];
	struct cores_queue to_client[CORES_CHANNELS];
	bool up[CORES_CHANNELS]; /* as both ends see it */
	bool wants_open[CORES_CHANNELS]; /* the client waits for it */
	uint32_t works[CORES_QUEUE];
	uint32_t work_count;
	bool busy[CORES_OPS]; /* an operation of that number is under way */
	bool copying[CORES_OPS];
	enum smb_op_kind kind[CORES_OPS];
	uint32_t op_file[CORES_OPS];
	bool open[4]; /* files of the client, by number */
	bool mounted;
	uint64_t wake_ns;
	bool calm; /* no more chances */
	bool unsent_next; /* the next PDU cannot be sent */
	/* what happened */
	uint64_t steps;
	uint32_t done[8]; /* operations by verdict */
	uint32_t cuts_by_server;
	uint32_t violations;
	struct smb_violation violation; /* the first */
	uint32_t counts[8]; /* of each chance that came true */
};

struct cores *cores_new(const struct cores_config *config);
void cores_free(struct cores *cores);
/** Mount and be ready; false: it failed. */
bool cores_mount(struct cores *cores);
/** One thing that can happen now happens. False: nothing can. */
bool cores_step(struct cores *cores);
/** From now on nothing goes wrong: until all operations are over, or `steps` are spent. True: they are over. */
bool cores_calm_down(struct cores *cores, uint32_t steps);
/** Submit and run to the end, calmly; the verdict. */
enum smb_op_verdict cores_do(struct cores *cores, const struct smb_op *op);
/** Opens that the server knows. */
uint32_t cores_server_opens(const struct cores *cores);

#endif
