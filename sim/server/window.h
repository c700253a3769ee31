/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_SERVER_WINDOW_H
#define SIM_SERVER_WINDOW_H

/**
 * The sequence window of one connection and the credits granted on it (MS-SMB2 3.3.1.1, 3.3.1.2, 3.3.5.2.3).
 *
 * The ids a client may use are [low, low + range) without those it has used already. `low` is always the lowest id
 * not yet used, so an id left out holds `low` back and with it every further grant: the window never reaches past
 * low + max (Samba smb2_validate_message_id, smb2_set_operation_credit).
 */

#include <stdbool.h>
#include <stdint.h>

struct smb_server_window {
	uint64_t low; /* lowest id not yet used */
	uint32_t range; /* ids from low on that were granted, those used out of order included */
	uint32_t used; /* of these, used out of order */
	uint32_t granted; /* credits the client holds: range - used */
	uint32_t max; /* widest range, ids */
	bool multi_credit; /* CreditCharge counts; otherwise every request costs one */
};

/** Words of the bitmap for a window of `max` ids: one bit each, rounded up to a power of two. */
uint32_t smb_server_window_words(uint32_t max);

/** A new connection: the client may use id 0 and holds one credit. */
void smb_server_window_init(struct smb_server_window *window, uint64_t *seen, uint32_t max);
bool smb_server_window_is_valid(const struct smb_server_window *window, const uint64_t *seen);

enum smb_server_window_verdict {
	SMB_SERVER_WINDOW_OK,
	SMB_SERVER_WINDOW_NO_CREDIT, /* the charge is more than the client holds */
	SMB_SERVER_WINDOW_OUTSIDE, /* an id below or above the window */
	SMB_SERVER_WINDOW_REPEATED, /* an id used before */
};
/** Credits a request of this CreditCharge costs. */
uint32_t smb_server_window_charge(const struct smb_server_window *window, uint16_t credit_charge);
/** Take the ids of one request. Anything but OK changes nothing and ends the connection (MS-SMB2 3.3.5.2.3). */
enum smb_server_window_verdict smb_server_window_use(struct smb_server_window *window, uint64_t *seen,
						     uint64_t message_id, uint32_t charge);

/**
 * Grant for one reply, Samba's rule: the charge comes back, plus what was asked beyond one credit, at most
 * `extra_max`; then whatever the window still has room for. Asking for 0 counts as asking for 1, so the reply never
 * takes credits away. The window grows by the answer.
 */
uint32_t smb_server_window_grant(struct smb_server_window *window, uint32_t charge, uint32_t asked, uint32_t extra_max);
/** Grant `amount`, or what there is room for. */
uint32_t smb_server_window_grow(struct smb_server_window *window, uint32_t amount);

#endif
