/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Real kernels against a real Samba: no rule may find fault, and each change that breaks a rule must be found. */
#include "protocol/monitor/tests/capture.h"

#include "protocol/monitor/monitor.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER SMB_SOURCE_DIR "/experiments/measured/captures/ops-"

static const char *const captures[] = {
	"6.1-v210",
	"6.1-v300",
	"6.1-v311",
	"6.1-v311-mfsymlinks",
	"6.1-v311-noserverino",
	"6.12-v311",
	"6.12-v311-mfsymlinks",
};
#define CAPTURES (sizeof(captures) / sizeof(captures[0]))

/* Offsets in the header (MS-SMB2 2.2.1) and in bodies. */
enum {
	CHARGE = 6,
	STATUS = 8,
	COMMAND = 12,
	CREDITS = 14,
	FLAGS = 16,
	NEXT = 20,
	ID = 24,
	ASYNC_ID = 32,
	BODY = 64,
	READ_LENGTH = BODY + 4,
	READ_FID = BODY + 16,
	CLOSE_FID = BODY + 8,
	MAX_READ = BODY + 32, /* of the NEGOTIATE response */
	MAX_WRITE = BODY + 36,
};

struct verdicts {
	uint32_t count;
	enum smb_rule first;
	uint32_t of_rule[SMB_RULE_MAX];
	char text[200];
};

static void write_down(void *context, const struct smb_violation *violation)
{
	struct verdicts *verdicts = context;
	if (!verdicts->count++) {
		verdicts->first = violation->rule;
		snprintf(verdicts->text, sizeof(verdicts->text), "event %lu %s id %lu: %s",
			 (unsigned long)violation->event, smb2_command_name(violation->command),
			 (unsigned long)violation->message_id, violation->text);
	}
	verdicts->of_rule[violation->rule]++;
}

static struct verdicts judge(const struct capture *capture, const struct smb_monitor_expect *expect)
{
	struct smb_monitor_limits limits = { .channels = 4, .requests = 256, .files = 32, .window = 8192 };
	static void *block;
	struct verdicts verdicts = { 0 };

	if (!block)
		block = malloc(smb_monitor_size(&limits));
	struct smb_monitor *monitor = smb_monitor_init(block, &limits, expect);
	smb_monitor_report_to(monitor, write_down, &verdicts);
	for (uint32_t i = 0; i < capture->channels; i++)
		smb_monitor_connected(monitor, i, 0);
	for (uint32_t i = 0; i < capture->count; i++) {
		const struct captured_pdu *captured = &capture->pdus[i];
		struct smb_pdu pdu = { .bytes = captured->bytes, .length = captured->length };
		if (captured->sent)
			smb_monitor_sent(monitor, captured->channel, &pdu, captured->when_ns);
		else
			smb_monitor_received(monitor, captured->channel, &pdu, captured->when_ns);
	}
	smb_monitor_idle(monitor, 0);
	cr_assert(smb_monitor_is_valid(monitor));
	return verdicts;
}

static struct capture *load(size_t i)
{
	char path[256];
	snprintf(path, sizeof(path), FOLDER "%s.pcap.gz", captures[i]);
	return capture_load(path);
}

Test(monitor_capture, real_traffic_breaks_no_rule)
{
	/* The mounts asked for no rsize; 4 MiB is what 3.x and Samba settle on, readahead is one or two of it. */
	const struct smb_monitor_expect expect = {
		.max_credits = 32000, .rsize = 4 << 20, .readahead_bytes = 8 << 20, .page_bytes = 4096
	};
	for (size_t i = 0; i < CAPTURES; i++) {
		struct capture *capture = load(i);
		struct verdicts verdicts = judge(capture, &expect);
		cr_expect_eq(verdicts.count, 0, "%s: C%d %s", captures[i], verdicts.first, verdicts.text);
		cr_expect_gt(capture->count, 200, "%s: only %u PDUs", captures[i], capture->count);
		capture_free(capture);
	}
}

static uint16_t get16(const uint8_t *bytes, uint32_t at)
{
	return (uint16_t)(bytes[at] | bytes[at + 1] << 8);
}

static uint32_t get32(const uint8_t *bytes, uint32_t at)
{
	return get16(bytes, at) | (uint32_t)get16(bytes, at + 2) << 16;
}

static void put16(uint8_t *bytes, uint32_t at, uint32_t value)
{
	bytes[at] = (uint8_t)value;
	bytes[at + 1] = (uint8_t)(value >> 8);
}

static void put32(uint8_t *bytes, uint32_t at, uint32_t value)
{
	put16(bytes, at, value);
	put16(bytes, at + 2, value >> 16);
}

static bool is_final_async(const struct captured_pdu *pdu)
{
	return !pdu->sent && get32(pdu->bytes, FLAGS) & SMB2_FLAGS_ASYNC_COMMAND &&
	       get32(pdu->bytes, STATUS) != STATUS_PENDING;
}

static bool is_interim(const struct captured_pdu *pdu)
{
	return !pdu->sent && get32(pdu->bytes, STATUS) == STATUS_PENDING;
}

static bool is_single(const struct captured_pdu *pdu)
{
	return !get32(pdu->bytes, NEXT);
}

/* Where the second member of a chain starts, 0 for single messages. */
static uint32_t second(const struct captured_pdu *pdu)
{
	return get32(pdu->bytes, NEXT);
}

static uint32_t last_member(const struct captured_pdu *pdu)
{
	uint32_t at = 0;
	while (get32(pdu->bytes, at + NEXT))
		at += get32(pdu->bytes, at + NEXT);
	return at;
}

/* The changes. Each answers whether PDU `i` is a place for it, and leaves the capture alone if it is not. */

static bool grant_credits_twice(struct capture *capture, uint32_t i)
{
	if (!is_final_async(&capture->pdus[i]))
		return false;
	put16(capture->pdus[i].bytes, CREDITS, 10);
	return true;
}

static bool change_async_id(struct capture *capture, uint32_t i)
{
	if (!is_final_async(&capture->pdus[i]))
		return false;
	capture->pdus[i].bytes[ASYNC_ID] ^= 1;
	return true;
}

static bool drop_async_flag(struct capture *capture, uint32_t i)
{
	if (!is_interim(&capture->pdus[i]))
		return false;
	put32(capture->pdus[i].bytes, FLAGS, SMB2_FLAGS_SERVER_TO_REDIR);
	return true;
}

static bool drop_interim(struct capture *capture, uint32_t i)
{
	if (!is_interim(&capture->pdus[i]))
		return false;
	capture_remove(capture, i);
	return true;
}

static bool repeat_interim(struct capture *capture, uint32_t i)
{
	if (!is_interim(&capture->pdus[i]))
		return false;
	capture_insert(capture, i, &capture->pdus[i]);
	return true;
}

static bool use_id_again(struct capture *capture, uint32_t i)
{
	uint8_t *bytes = capture->pdus[i].bytes;
	if (!capture->pdus[i].sent || !is_single(&capture->pdus[i]) || !get32(bytes, ID))
		return false;
	put32(bytes, ID, get32(bytes, ID) - 1);
	return true;
}

static bool use_id_beyond_window(struct capture *capture, uint32_t i)
{
	if (!capture->pdus[i].sent || !is_single(&capture->pdus[i]))
		return false;
	put32(capture->pdus[i].bytes, ID, 10000);
	return true;
}

/* The request is never sent, as if the send had failed without its id being given back. */
static bool leave_id_out(struct capture *capture, uint32_t i)
{
	const uint8_t *bytes = capture->pdus[i].bytes;
	if (!capture->pdus[i].sent || !is_single(&capture->pdus[i]) || get16(bytes, COMMAND) != SMB2_CLOSE)
		return false;
	uint32_t answer = i + 1;
	while (answer < capture->count &&
	       (capture->pdus[answer].sent || get32(capture->pdus[answer].bytes, ID) != get32(bytes, ID)))
		answer++;
	if (answer == capture->count)
		return false;
	capture_remove(capture, answer);
	capture_remove(capture, i);
	return true;
}

static bool charge_nothing(struct capture *capture, uint32_t i)
{
	if (!capture->pdus[i].sent || !get16(capture->pdus[i].bytes, CHARGE))
		return false;
	put16(capture->pdus[i].bytes, CHARGE, 0);
	return true;
}

static bool read_more_than_is_paid(struct capture *capture, uint32_t i)
{
	uint8_t *bytes = capture->pdus[i].bytes;
	if (!capture->pdus[i].sent || !is_single(&capture->pdus[i]) || get16(bytes, COMMAND) != SMB2_READ)
		return false;
	put32(bytes, READ_LENGTH, get16(bytes, CHARGE) * SMB2_CREDIT_UNIT + 1);
	return true;
}

/* The id advances by one although two credits were paid. */
static bool pay_two_take_one(struct capture *capture, uint32_t i)
{
	uint8_t *bytes = capture->pdus[i].bytes;
	uint16_t command = get16(bytes, COMMAND);
	bool more_follow = i + 2 < capture->count && capture->pdus[i + 2].sent;
	if (!capture->pdus[i].sent || !is_single(&capture->pdus[i]) || get16(bytes, CHARGE) != 1 || !more_follow ||
	    (command != SMB2_READ && command != SMB2_WRITE && command != SMB2_QUERY_DIRECTORY &&
	     command != SMB2_QUERY_INFO))
		return false;
	put16(bytes, CHARGE, 2);
	return true;
}

static bool pay_more_than_there_is(struct capture *capture, uint32_t i)
{
	uint8_t *bytes = capture->pdus[i].bytes;
	uint16_t command = get16(bytes, COMMAND);
	if (!capture->pdus[i].sent || (command != SMB2_READ && command != SMB2_WRITE))
		return false;
	put16(bytes, CHARGE, 9000);
	return true;
}

/* From here on the server grants nothing; the client of the capture does not know and sends on. Later than at the
 * second TREE_CONNECT it would have enough for the rest. */
static bool grant_no_more(struct capture *capture, uint32_t i)
{
	uint16_t command = get16(capture->pdus[i].bytes, COMMAND);
	if (capture->pdus[i].sent || (command != SMB2_SESSION_SETUP && command != SMB2_TREE_CONNECT))
		return false;
	for (; i < capture->count; i++) {
		uint32_t at = 0, next;
		if (capture->pdus[i].sent)
			continue;
		do {
			put16(capture->pdus[i].bytes, at + CREDITS, 0);
			next = get32(capture->pdus[i].bytes, at + NEXT);
			at += next;
		} while (next);
	}
	return true;
}

static bool forget_answer(struct capture *capture, uint32_t i)
{
	if (capture->pdus[i].sent || is_interim(&capture->pdus[i]) || i + 20 > capture->count ||
	    get16(capture->pdus[i].bytes, COMMAND) < SMB2_TREE_CONNECT)
		return false;
	capture_remove(capture, i);
	return true;
}

static bool answer_twice(struct capture *capture, uint32_t i)
{
	if (capture->pdus[i].sent || is_interim(&capture->pdus[i]))
		return false;
	capture_insert(capture, i, &capture->pdus[i]);
	return true;
}

static bool misalign_next(struct capture *capture, uint32_t i)
{
	if (!second(&capture->pdus[i]))
		return false;
	put32(capture->pdus[i].bytes, NEXT, second(&capture->pdus[i]) + 4);
	return true;
}

static bool next_past_end(struct capture *capture, uint32_t i)
{
	uint32_t last = last_member(&capture->pdus[i]);
	if (!last)
		return false;
	put32(capture->pdus[i].bytes, last + NEXT, (capture->pdus[i].length - last + 7) & ~7u);
	return true;
}

static bool cut_short(struct capture *capture, uint32_t i)
{
	uint32_t last = last_member(&capture->pdus[i]);
	if (!last)
		return false;
	capture->pdus[i].length = last + SMB2_HEADER_SIZE - 1;
	return true;
}

static bool close_file_id_zero(struct capture *capture, uint32_t i)
{
	uint8_t *bytes = capture->pdus[i].bytes;
	uint32_t last = last_member(&capture->pdus[i]);
	if (!capture->pdus[i].sent || !last || get16(bytes, last + COMMAND) != SMB2_CLOSE)
		return false;
	memset(bytes + last + CLOSE_FID, 0, 16);
	return true;
}

static bool last_is_unrelated(struct capture *capture, uint32_t i)
{
	uint8_t *bytes = capture->pdus[i].bytes;
	uint32_t last = last_member(&capture->pdus[i]);
	if (!capture->pdus[i].sent || last == second(&capture->pdus[i]))
		return false;
	put32(bytes, last + FLAGS, get32(bytes, last + FLAGS) & ~SMB2_FLAGS_RELATED_OPERATIONS);
	return true;
}

static bool first_is_related(struct capture *capture, uint32_t i)
{
	uint8_t *bytes = capture->pdus[i].bytes;
	if (!capture->pdus[i].sent)
		return false;
	put32(bytes, FLAGS, get32(bytes, FLAGS) | SMB2_FLAGS_RELATED_OPERATIONS);
	return true;
}

static bool fail_differently(struct capture *capture, uint32_t i)
{
	uint8_t *bytes = capture->pdus[i].bytes;
	uint32_t last = last_member(&capture->pdus[i]);
	if (capture->pdus[i].sent || !last || get16(bytes, COMMAND) != SMB2_CREATE || !get32(bytes, STATUS))
		return false;
	put32(bytes, last + STATUS, STATUS_FILE_CLOSED);
	return true;
}

/* Each member of a chain's response in a PDU of its own; servers may do that. */
static bool split_response(struct capture *capture, uint32_t i)
{
	struct captured_pdu whole = capture->pdus[i];
	if (whole.sent || !second(&whole))
		return false;
	capture->pdus[i].bytes = malloc(1);
	capture_remove(capture, i);
	uint32_t at = 0, next;
	do {
		struct captured_pdu part = whole;
		next = get32(whole.bytes, at + NEXT);
		part.bytes = whole.bytes + at;
		part.length = next ? next : whole.length - at;
		put32(part.bytes, NEXT, 0);
		capture_insert(capture, i++, &part);
		at += next;
	} while (next);
	free(whole.bytes);
	return true;
}

static bool split_in_wrong_order(struct capture *capture, uint32_t i)
{
	if (!split_response(capture, i))
		return false;
	struct captured_pdu first = capture->pdus[i];
	capture->pdus[i] = capture->pdus[i + 1];
	capture->pdus[i + 1] = first;
	return true;
}

static bool negotiate_small_sizes(struct capture *capture, uint32_t i)
{
	if (capture->pdus[i].sent || get16(capture->pdus[i].bytes, COMMAND) != SMB2_NEGOTIATE)
		return false;
	put32(capture->pdus[i].bytes, MAX_READ, 2);
	put32(capture->pdus[i].bytes, MAX_WRITE, 2);
	return true;
}

static const struct change {
	const char *name;
	bool (*apply)(struct capture *capture, uint32_t i);
	enum smb_rule found[3]; /* one of these comes first; {} = nothing is broken */
} changes[] = {
	{ "the response of a chain is split", split_response, { 0 } },
	{ "the final async response grants again", grant_credits_twice, { SMB_RULE_C9 } },
	{ "the final response has another AsyncId", change_async_id, { SMB_RULE_C18 } },
	{ "the interim response has no async flag", drop_async_flag, { SMB_RULE_C18 } },
	{ "the interim response is missing", drop_interim, { SMB_RULE_C18 } },
	{ "the interim response comes twice", repeat_interim, { SMB_RULE_C18 } },
	{ "a MessageId is used again", use_id_again, { SMB_RULE_C1 } },
	{ "a MessageId beyond the window", use_id_beyond_window, { SMB_RULE_C1 } },
	{ "a MessageId is left out", leave_id_out, { SMB_RULE_C2, SMB_RULE_C29 } },
	{ "a request costs nothing", charge_nothing, { SMB_RULE_C4 } },
	{ "a READ is longer than it pays for", read_more_than_is_paid, { SMB_RULE_C4 } },
	{ "two credits are paid and one id is taken", pay_two_take_one, { SMB_RULE_C3 } },
	{ "9000 credits are paid", pay_more_than_there_is, { SMB_RULE_C6 } },
	{ "no more grants", grant_no_more, { SMB_RULE_C11, SMB_RULE_C10, SMB_RULE_C6 } },
	{ "an answer is missing", forget_answer, { SMB_RULE_C7 } },
	{ "an answer comes twice", answer_twice, { SMB_RULE_C7 } },
	{ "NextCommand is not aligned", misalign_next, { SMB_RULE_C12 } },
	{ "NextCommand leads past the end", next_past_end, { SMB_RULE_C12 } },
	{ "the last member is cut", cut_short, { SMB_RULE_C12 } },
	{ "CLOSE of a chain has FileId 0", close_file_id_zero, { SMB_RULE_C13 } },
	{ "the last member is not related", last_is_unrelated, { SMB_RULE_C13 } },
	{ "the first member is related", first_is_related, { SMB_RULE_C13 } },
	{ "the last member fails differently", fail_differently, { SMB_RULE_C14 } },
	{ "members are answered in the wrong order", split_in_wrong_order, { SMB_RULE_C15 } },
	{ "READ and WRITE are longer than negotiated", negotiate_small_sizes, { SMB_RULE_C31 } },
};
#define CHANGES (sizeof(changes) / sizeof(changes[0]))

static bool is_expected(const struct change *change, const struct verdicts *verdicts)
{
	if (!change->found[0])
		return !verdicts->count;
	for (int i = 0; i < 3; i++) {
		if (verdicts->count && verdicts->first == change->found[i])
			return true;
	}
	return false;
}

/* Make the change in every place of the capture, one at a time; returns how many there are. */
static uint32_t try_change(const struct capture *capture, const char *name, const struct change *change)
{
	uint32_t places = 0;
	struct capture *changed = capture_copy(capture);
	for (uint32_t i = 0; i < capture->count; i++) {
		if (!change->apply(changed, i))
			continue;
		places++;
		struct verdicts verdicts = judge(changed, NULL);
		cr_expect(is_expected(change, &verdicts), "%s, PDU %u, %s: C%d %s", name, i, change->name,
			  verdicts.first, verdicts.count ? verdicts.text : "not found");
		capture_free(changed);
		changed = capture_copy(capture);
	}
	capture_free(changed);
	return places;
}

Test(monitor_capture, every_fault_put_into_real_traffic_is_found, .timeout = 120)
{
	uint32_t places[CHANGES] = { 0 };
	for (size_t i = 0; i < CAPTURES; i++) {
		struct capture *capture = load(i);
		for (size_t k = 0; k < CHANGES; k++)
			places[k] += try_change(capture, captures[i], &changes[k]);
		capture_free(capture);
	}
	for (size_t k = 0; k < CHANGES; k++) {
		cr_expect_gt(places[k], 0, "no place for: %s", changes[k].name);
		cr_log_info("%5u places: %s\n", places[k], changes[k].name);
	}
}
