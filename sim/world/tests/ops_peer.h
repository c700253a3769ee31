/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_WORLD_TESTS_OPS_PEER_H
#define SIM_WORLD_TESTS_OPS_PEER_H

/**
 * Shell commands of protocol/ops against the simulated server, one call after the other, in no time: the real client
 * core mounts, then the requests of each command go out on its session. What was said is kept as pairs.
 */

#include "protocol/ops/notation.h"
#include "protocol/ops/ops.h"
#include "sim/server/server.h"

#include <glib.h>

struct peer {
	struct smb_server *server;
	struct smb_ops *ops;
	struct smb_policy policy;
	uint64_t now_ns;
	uint64_t session_id;
	uint32_t tree_id;
	uint64_t next_id; /* MessageId */
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
