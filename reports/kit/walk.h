/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef REPORTS_KIT_WALK_H
#define REPORTS_KIT_WALK_H

/**
 * A trace of the model checker followed move by move: what happened, in words, which PDUs were sent and where they got
 * to, and the numbers of both sides after each step. All files of a counterexample kit are written from this.
 *
 * A model that starts mounted is followed from before its mount on, so that a capture of it begins where a capture
 * would begin.
 */

#include "model/model.h"

/** Where a PDU got to, when it is not the index of a step. */
#define KIT_UNDER_WAY (-1)
#define KIT_LOST (-2)

struct kit_pdu {
	uint8_t *bytes; /* as struct smb_pdu has them */
	uint32_t length;
	struct smb_slice payload;
	uint32_t channel;
	enum model_direction direction;
	int sent; /* index of the step */
	int arrived; /* index of the step, KIT_UNDER_WAY or KIT_LOST */
	char *text; /* "[READ(0+65536)<mid7 ch1 req9>]" */
	const void *identity; /* private to walk.c */
};

enum kit_event_kind {
	KIT_CONNECTED,
	KIT_SENT,
	KIT_ARRIVED,
	KIT_CUT,
	KIT_CLOSED, /* by the client */
};

/** What can be seen on a connection, in order. */
struct kit_event {
	enum kit_event_kind kind;
	uint32_t channel;
	int step;
	struct kit_pdu *pdu; /* SENT, ARRIVED */
};

/** The numbers of one connection. */
struct kit_channel {
	bool is_open;
	uint32_t credits, credits_echo, credits_oplock; /* the client's */
	uint32_t in_flight;
	uint64_t next_message_id;
	uint32_t granted; /* by the server's count */
	uint64_t window_low;
	uint32_t window_length;
};

struct kit_step {
	struct model_move move;
	char *name; /* "3"; "m3" in the mount before the trace */
	char *line; /* as model_move_write */
	char *told; /* in words */
	char *numbers; /* of the state afterwards, in words */
	struct kit_channel channel[MODEL_CHANNELS_MAX];
};

struct kit_walk {
	struct model *model; /* not owned */
	GPtrArray *steps; /* struct kit_step *, the mount first */
	guint mounting; /* how many steps the mount has; 0 when it is in the trace itself */
	GArray *states; /* struct model_state: the first one, and that after each step behind the mount */
	GPtrArray *pdus; /* struct kit_pdu *, in order of sending */
	GArray *events;
	bool is_broken; /* by the last step, or in the state where it ends */
	struct model_fault_found found;
	bool goes_round; /* the last step leads to where the step before `repeats_from` led: it could go on so for ever */
	guint repeats_from; /* index of the first step of the circle */
	const struct kit_pdu *offending; /* the PDU that broke the rule, or the last one before; NULL: there is none */
};

/**
 * Follow `moves` (struct model_move) until they end or a rule is broken. NULL: a move cannot happen where it is asked
 * for; *bad is its index then.
 */
struct kit_walk *kit_walk_new(struct model *model, const GArray *moves, guint *bad, GError **error);
void kit_walk_free(struct kit_walk *walk);

/** What would have had to happen instead; one sentence. */
const char *kit_instead(const char *rule);
/** The same of this walk's fault. */
const char *kit_instead_of(const struct kit_walk *walk);

#endif
