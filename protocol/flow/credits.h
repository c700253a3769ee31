/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_FLOW_CREDITS_H
#define SMB_FLOW_CREDITS_H

/**
 * The credits of one channel (MS-SMB2 3.2.4.1.2, 3.2.5.1.4), kept as the kernel keeps them: three counters and the
 * number of requests in flight (cifs 6.1, TCP_Server_Info: credits, echo_credits, oplock_credits, in_flight).
 *
 * A request first takes credits, is then sent, and gives back what its answer grants. Whoever is told to wait asks
 * again after the next grant; nothing is queued here.
 */

#include "protocol/eras/policy.h"

#include <stdbool.h>
#include <stdint.h>

/** Which counter a request uses and which rules hold for it (cifs 6.1, smb2_get_credits_field). */
enum smb_credit_class {
	SMB_CREDIT_ORDINARY,
	SMB_CREDIT_ECHO, /* own counter; at most one ECHO under way */
	SMB_CREDIT_BREAK, /* oplock and lease break acknowledgements: own counter, never wait, may overdraw it */
	SMB_CREDIT_NEGOTIATE, /* ordinary counter; its answer does not redistribute (change_conf) */
	SMB_CREDIT_SESSION_SETUP, /* as NEGOTIATE */
};

#define SMB_CREDITS_CLIP 65000 /* no counter goes above this (cifs 6.1, smb2_add_credits) */

struct smb_credits {
	int32_t ordinary; /* available for ordinary requests */
	int32_t echo;
	int32_t oplock; /* negative after an overdraft by a break acknowledgement */
	uint32_t in_flight; /* headers sent, or credits taken for a READ to come, without a final answer */
	uint32_t in_flight_max;
	uint32_t max_credits; /* never asked beyond; 0 = none are asked for (bug D-49) */
	uint32_t instance; /* counts reconnects, from 1; credits of an older connection are dropped (C8) */
	bool echoes; /* an ECHO may be sent: a credit is set aside for it */
	bool oplocks; /* a credit is set aside for break acknowledgements */
};

enum smb_credit_verdict {
	SMB_CREDIT_TAKEN,
	SMB_CREDIT_WAIT, /* ask again after the next grant */
	SMB_CREDIT_STALLED, /* not enough, and nothing in flight that could bring more (the kernel: EDEADLK) */
	SMB_CREDIT_BUSY, /* ECHO: one is under way (the kernel: EAGAIN) */
};

/** What a READ or WRITE got. */
struct smb_credit_take {
	uint32_t bytes; /* it may transfer this many */
	uint16_t credits; /* taken for it; 0 = it goes the ordinary way, one credit, when it is sent */
	uint32_t instance;
};

/** A new connection: one credit, nothing set aside. */
void smb_credits_start(struct smb_credits *credits, uint32_t max_credits);
/** The connection was made anew: one credit, nothing in flight, a new instance (cifs 6.1, smb2_set_credits). */
void smb_credits_restart(struct smb_credits *credits);

/**
 * Take credits for `count` headers that are sent together.
 *
 * ORDINARY with count 1 leaves the last MAX_COMPOUND credits to chains while more than twice as many requests are in
 * flight (wait_for_free_credits). A chain needs all its credits at once and is STALLED when nothing is in flight
 * (wait_for_compound_request). BREAK never waits, unless policy break_ack_waits says so.
 */
enum smb_credit_verdict smb_credits_take(struct smb_credits *credits, const struct smb_policy *policy,
					 enum smb_credit_class class, uint32_t count);
/**
 * Take credits for a transfer of up to `bytes` on a connection with multi-credit requests (cifs 6.1,
 * smb2_wait_mtu_credits). With no more than the reserve left the answer is 64 KiB and no credit: the request then
 * takes one the ordinary way. Else whatever is above the reserve pays for as much of `bytes` as it can.
 */
enum smb_credit_verdict smb_credits_take_io(struct smb_credits *credits, const struct smb_policy *policy,
					    uint32_t bytes, struct smb_credit_take *take);

enum smb_credit_adjust {
	SMB_CREDIT_ADJUSTED,
	SMB_CREDIT_TOO_LARGE, /* the transfer grew; nothing changed (the kernel: EOPNOTSUPP) */
	SMB_CREDIT_STALE, /* taken before a reconnect: the credits are gone (the kernel: EAGAIN) */
};

/** The transfer turned out to be `bytes` long: return what it does not need (cifs 6.1, smb2_adjust_credits). */
enum smb_credit_adjust smb_credits_adjust(struct smb_credits *credits, struct smb_credit_take *take, uint32_t bytes);
/** The transfer is not sent after all: return its credits (add_credits_and_wake_if). */
void smb_credits_untake(struct smb_credits *credits, const struct smb_credit_take *take);

/** A final answer granted `granted`, which may be 0: one less is in flight. Of another instance: dropped (C8). */
void smb_credits_answered(struct smb_credits *credits, enum smb_credit_class class, uint32_t granted,
			  uint32_t instance);
/** An interim or unmatched answer granted `granted`: it counts at once, nothing ends (C9). */
void smb_credits_granted(struct smb_credits *credits, uint32_t granted);

/** CreditRequest of an ordinary PDU: the era's amount, never beyond max_credits (smb2_hdr_assemble). */
uint16_t smb_credits_ask(const struct smb_credits *credits, const struct smb_policy *policy);
uint16_t smb_credits_ask_session_setup(const struct smb_credits *credits, const struct smb_policy *policy);
uint16_t smb_credits_ask_tree_connect(const struct smb_credits *credits, const struct smb_policy *policy);
/** CreditRequest of a READ or WRITE that took `charge` credits (smb2_async_readv). */
uint16_t smb_credits_ask_io(const struct smb_credits *credits, const struct smb_policy *policy, uint16_t charge);

/** Credits set aside for echoes and break acknowledgements included. */
static inline int32_t smb_credits_total(const struct smb_credits *credits)
{
	return credits->ordinary + credits->echo + credits->oplock;
}

bool smb_credits_is_valid(const struct smb_credits *credits);

#endif
