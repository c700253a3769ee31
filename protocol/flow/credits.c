/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/flow/credits.h"

#include "protocol/wire/message.h"

#include <assert.h>

#define CREDIT_BYTES ((int64_t)SMB2_CREDIT_UNIT)

void smb_credits_start(struct smb_credits *credits, uint32_t max_credits)
{
	*credits = (struct smb_credits){ .ordinary = 1, .max_credits = max_credits, .instance = 1 };
}

void smb_credits_restart(struct smb_credits *credits)
{
	uint32_t instance = credits->instance + 1;

	smb_credits_start(credits, credits->max_credits);
	credits->instance = instance;
}

static int32_t *counter(struct smb_credits *credits, enum smb_credit_class class)
{
	switch (class) {
	case SMB_CREDIT_ECHO:
		return &credits->echo;
	case SMB_CREDIT_BREAK:
		return &credits->oplock;
	case SMB_CREDIT_ORDINARY:
	case SMB_CREDIT_NEGOTIATE:
	case SMB_CREDIT_SESSION_SETUP:
		break;
	}
	return &credits->ordinary;
}

static void fly(struct smb_credits *credits, uint32_t count)
{
	credits->in_flight += count;
	if (credits->in_flight > credits->in_flight_max)
		credits->in_flight_max = credits->in_flight;
}

static enum smb_credit_verdict wait_or_stall(const struct smb_credits *credits)
{
	return credits->in_flight ? SMB_CREDIT_WAIT : SMB_CREDIT_STALLED;
}

enum smb_credit_verdict smb_credits_take(struct smb_credits *credits, const struct smb_policy *policy,
					 enum smb_credit_class class, uint32_t count)
{
	int32_t *available = counter(credits, class);

	assert(count);
	assert(smb_credits_is_valid(credits));
	if (class == SMB_CREDIT_ECHO && (!credits->echoes || *available < 1))
		return SMB_CREDIT_BUSY;
	if (class == SMB_CREDIT_BREAK && policy->break_ack_waits && *available < (int32_t)count) {
		if (credits->ordinary < (int32_t)count)
			return wait_or_stall(credits);
		credits->ordinary -= (int32_t)count;
		*available += (int32_t)count;
	}
	if (class != SMB_CREDIT_BREAK && *available < (int32_t)count)
		return wait_or_stall(credits);
	/* Chains would starve if single requests took every credit that comes (C35). Servers that are slow to hand out
	 * credits to a new session are told apart by the number in flight. */
	if (class == SMB_CREDIT_ORDINARY && count == 1 && credits->in_flight > 2u * policy->max_compound &&
	    *available <= policy->max_compound)
		return SMB_CREDIT_WAIT;
	*available -= (int32_t)count;
	fly(credits, count);
	return SMB_CREDIT_TAKEN;
}

enum smb_credit_verdict smb_credits_take_io(struct smb_credits *credits, const struct smb_policy *policy,
					    uint32_t bytes, struct smb_credit_take *take)
{
	int64_t usable = (int64_t)credits->ordinary - policy->credits_io_reserve;
	uint16_t needed;

	assert(bytes);
	assert(smb_credits_is_valid(credits));
	if (credits->ordinary <= 0)
		return wait_or_stall(credits);
	*take = (struct smb_credit_take){ .bytes = bytes, .instance = credits->instance };
	if (usable <= 0) {
		/* The reserve lets a READ that has to reopen its handle get through: see wait_mtu_credits' comment. */
		take->bytes = bytes < SMB2_CREDIT_UNIT ? bytes : SMB2_CREDIT_UNIT;
		return SMB_CREDIT_TAKEN;
	}
	if (take->bytes > usable * CREDIT_BYTES)
		take->bytes = (uint32_t)(usable * CREDIT_BYTES);
	needed = smb2_credit_charge(0, take->bytes);
	take->credits = needed;
	credits->ordinary -= needed;
	fly(credits, 1);
	return SMB_CREDIT_TAKEN;
}

enum smb_credit_adjust smb_credits_adjust(struct smb_credits *credits, struct smb_credit_take *take, uint32_t bytes)
{
	uint16_t needed = smb2_credit_charge(0, bytes);

	if (!take->credits) {
		take->bytes = bytes;
		return SMB_CREDIT_ADJUSTED;
	}
	if (needed > take->credits)
		return SMB_CREDIT_TOO_LARGE;
	if (take->instance != credits->instance)
		return SMB_CREDIT_STALE;
	credits->ordinary += take->credits - needed;
	take->credits = needed;
	take->bytes = bytes;
	return SMB_CREDIT_ADJUSTED;
}

/** Spread all credits over the three counters; done when nothing is in flight (cifs 6.1, change_conf). */
static void redistribute(struct smb_credits *credits)
{
	int32_t total = smb_credits_total(credits);

	if (credits->max_credits && total > (int32_t)credits->max_credits)
		total = (int32_t)credits->max_credits;
	credits->echo = 0;
	credits->oplock = total < 0 ? total : 0; /* an overdraft stays where it was made */
	credits->ordinary = total > 0 ? total : 0;
	if (total < 1)
		return; /* nothing left and nothing to come: the kernel reports it and changes no switch */
	credits->echoes = total > 1;
	credits->oplocks = total > 2;
	credits->echo = credits->echoes;
	credits->oplock = credits->oplocks;
	credits->ordinary -= credits->echo + credits->oplock;
}

static void clip(int32_t *value)
{
	if (*value > SMB_CREDITS_CLIP)
		*value = SMB_CREDITS_CLIP;
}

void smb_credits_answered(struct smb_credits *credits, enum smb_credit_class class, uint32_t granted, uint32_t instance)
{
	int32_t *available = counter(credits, class);

	if (instance != credits->instance)
		return;
	assert(credits->in_flight);
	*available += (int32_t)granted;
	clip(available);
	credits->in_flight--;
	if (!credits->in_flight) {
		if (class != SMB_CREDIT_NEGOTIATE && class != SMB_CREDIT_SESSION_SETUP)
			redistribute(credits);
	} else if (credits->oplock == 0 && credits->oplocks) {
		/* A break acknowledgement used the credit and its answer granted none. */
		if (credits->ordinary > 1) {
			credits->ordinary--;
			credits->oplock++;
		}
	} else if (credits->oplock > 3 && class == SMB_CREDIT_BREAK) {
		redistribute(credits); /* too many there would starve the others (C35) */
	}
	assert(smb_credits_is_valid(credits));
}

void smb_credits_untake(struct smb_credits *credits, const struct smb_credit_take *take)
{
	if (take->credits)
		smb_credits_answered(credits, SMB_CREDIT_ORDINARY, take->credits, take->instance);
}

void smb_credits_granted(struct smb_credits *credits, uint32_t granted)
{
	credits->ordinary += (int32_t)granted;
	clip(&credits->ordinary);
}

/** `amount`, cut to what max_credits leaves room for. */
static uint16_t ask_clipped(const struct smb_credits *credits, uint32_t amount)
{
	int64_t room = (int64_t)credits->max_credits - credits->ordinary;

	if (room <= 0)
		return 0;
	return (uint16_t)(amount < room ? amount : room);
}

uint16_t smb_credits_ask(const struct smb_credits *credits, const struct smb_policy *policy)
{
	return ask_clipped(credits, policy->credits_general);
}

uint16_t smb_credits_ask_session_setup(const struct smb_credits *credits, const struct smb_policy *policy)
{
	uint16_t amount = policy->credits_session_setup;

	return policy->credits_session_setup_clipped ? ask_clipped(credits, amount) : amount;
}

uint16_t smb_credits_ask_tree_connect(const struct smb_credits *credits, const struct smb_policy *policy)
{
	if (!policy->credits_tree_connect)
		return smb_credits_ask(credits, policy);
	/* 6.12 clips both SESSION_SETUP and TREE_CONNECT, 5.10 neither. */
	return policy->credits_session_setup_clipped ? ask_clipped(credits, policy->credits_tree_connect)
						     : policy->credits_tree_connect;
}

uint16_t smb_credits_ask_io(const struct smb_credits *credits, const struct smb_policy *policy, uint16_t charge)
{
	uint32_t amount = (uint32_t)charge + policy->credits_io_extra;

	return policy->credits_io_clipped ? ask_clipped(credits, amount) : (uint16_t)amount;
}

bool smb_credits_is_valid(const struct smb_credits *credits)
{
	if (credits->ordinary < 0 || credits->ordinary > SMB_CREDITS_CLIP)
		return false;
	if (credits->echo < 0 || credits->echo > SMB_CREDITS_CLIP || credits->oplock > SMB_CREDITS_CLIP)
		return false;
	return credits->instance && credits->in_flight <= credits->in_flight_max;
}
