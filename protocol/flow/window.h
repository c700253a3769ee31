/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_FLOW_WINDOW_H
#define SMB_FLOW_WINDOW_H

/**
 * The MessageIds of one connection (MS-SMB2 3.2.4.1.3, 3.2.4.1.6). Ids are used in order without holes, so the window
 * is one number (cifs 6.1, CurrentMid): the credits decide how far it may go.
 */

#include <stdbool.h>
#include <stdint.h>

struct smb_window {
	uint64_t next; /* the lowest id not used yet; 0 before NEGOTIATE */
};

/** A request that pays `charge` credits takes that many consecutive ids; the answer is the first, its MessageId.
 *  A CreditCharge of 0 uses one id all the same (C5). */
static inline uint64_t smb_window_take(struct smb_window *window, uint16_t charge)
{
	uint64_t first = window->next;

	window->next += charge ? charge : 1;
	return first;
}

/** The request taken last was not sent: its ids are free again, a hole would stop the server's grants
 *  (cifs 6.1, revert_current_mid). False, and nothing done, when a later one has been taken. */
bool smb_window_give_back(struct smb_window *window, uint64_t first, uint16_t charge);

#endif
