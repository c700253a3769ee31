/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_WORLD_TESTS_OPS_PEER_H
#define SIM_WORLD_TESTS_OPS_PEER_H

/**
 * Shell commands of the real client core against the simulated server, one call after the other, in no time. What was
 * said is kept as pairs.
 */

#include "protocol/client/client.h"
#include "protocol/ops/notation.h"
#include "sim/server/server.h"

#include <glib.h>

struct peer {
	struct smb_server *server;
	struct smb_client *client;
	uint64_t now_ns;
	uint64_t wake_ns; /* the client's */
	struct smb_client_output done; /* of the last operation */
	GArray *pairs; /* struct smb_notation_pair */
	GPtrArray *sent; /* GBytes: every request PDU */
};

/** Make the server with the names the captures' script found, mount with this kernel and these options. The pairs are
 *  those of the mount. */
struct peer *peer_new(const char *kernel, const char *mount);
struct peer *peer_new_with(const struct smb_policy *policy, const char *mount);
void peer_free(struct peer *peer);

/** Run a command line until it returns. The pairs are those of its requests. */
enum smb_ops_error peer_run(struct peer *peer, const char *line);
/** Let time pass; what was put off goes out and is added to the pairs. */
void peer_wait(struct peer *peer, uint64_t ns);
/** Forget the pairs so far. */
void peer_forget(struct peer *peer);
/** The pairs as text, from index `first` on; free with g_free. */
char *peer_text(const struct peer *peer, guint first, bool detailed);

#endif
