/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_WORLD_TESTS_BILL_H
#define SIM_WORLD_TESTS_BILL_H

/**
 * The round-trip bill of shell commands without a network: the real client core and the simulated server, one call
 * after the other, in no time but what sim_bill_wait() lets pass. Every PDU is encoded, sent, executed on a real namespace
 * and answered; what was said is kept as pairs. `smblab bill` does the same in the simulation.
 */

#include "protocol/client/client.h"
#include "sim/server/server.h"
#include "sim/world/pairs.h"

#include <glib.h>

#define SIM_BILL_ERROR (g_quark_from_static_string("sim-bill-error"))
enum sim_bill_error {
	SIM_BILL_ERROR_IMPOSSIBLE, /* client or server take no such configuration, or the mount is refused */
	SIM_BILL_ERROR_ORDER, /* not mounted, or mounted already */
	SIM_BILL_ERROR_BROKEN, /* the server cut the connection, or a command does not come to an end */
};

struct sim_bill_config {
	struct smb_policy policy;
	struct smb_mount_options mount;
	struct smb_server_profile server;
	uint32_t page_bytes; /* 0 = 4096 */
};

struct sim_bill {
	struct smb_server *server; /* an empty share; smb_server_make_file() fills it before or between commands */
	struct smb_client *client;
	uint64_t now_ns;
	GArray *pairs; /* struct sim_pair, in the order sent */
	GPtrArray *sent; /* GBytes: the request PDUs of `pairs` */
	/* private */
	uint64_t wake_ns;
	struct smb_client_output done;
	uint8_t *buffer;
	const char *broken;
};

struct sim_bill *sim_bill_new(const struct sim_bill_config *config, GError **error);
void sim_bill_free(struct sim_bill *bill);

bool sim_bill_mount(struct sim_bill *bill, GError **error);
/** Run a command until it returns; `ended` is how (a refusal by the server is no error of this function). */
bool sim_bill_run(struct sim_bill *bill, const struct smb_ops_command *command, enum smb_ops_error *ended,
		  GError **error);
/** Let time pass; what was put off (a deferred CLOSE) goes out and joins the pairs. */
bool sim_bill_wait(struct sim_bill *bill, uint64_t ns, GError **error);
/** Forget the pairs so far. */
void sim_bill_forget(struct sim_bill *bill);
/** The pairs from `first` up to but not including `end`, as text; free with g_free. */
char *sim_bill_text(const struct sim_bill *bill, guint first, guint end, bool detailed);

#endif
