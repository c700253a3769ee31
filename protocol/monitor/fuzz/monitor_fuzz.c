/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any PDUs in any order: the monitor never crashes and stays valid. */
#include "protocol/monitor/monitor.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHANNELS 2

/* The input is a row of events: one byte of kind and channel, one of length, then so many bytes of a PDU. Short PDUs
 * are laid over a template, so that few bytes are enough to make a header that is read on. */
struct input {
	const uint8_t *data;
	size_t left;
};

static uint8_t take(struct input *input)
{
	if (!input->left)
		return 0;
	input->left--;
	return *input->data++;
}

static uint32_t take_bytes(struct input *input, uint8_t *bytes, uint32_t wanted)
{
	uint32_t count = wanted < input->left ? wanted : (uint32_t)input->left;
	memcpy(bytes, input->data, count);
	input->data += count;
	input->left -= count;
	return count;
}

/* A message with command, id, charge, credits, flags and status from the input, body bytes too. */
static uint32_t member(struct input *input, uint8_t *bytes, bool response)
{
	memset(bytes, 0, SMB2_HEADER_SIZE + 112);
	memcpy(bytes, "\xfeSMB\x40", 5);
	bytes[6] = take(input);
	bytes[12] = take(input) % 20;
	bytes[14] = take(input);
	bytes[16] = (uint8_t)((take(input) & 6) | response);
	bytes[24] = take(input);
	bytes[32] = take(input) & 3;
	if (response && bytes[16] & 2 && take(input) & 1)
		memcpy(bytes + 8, "\x03\x01", 2);
	bytes[64] = take(input);
	uint32_t body = 2 + take_bytes(input, bytes + 66, take(input) % 110);
	return (SMB2_HEADER_SIZE + body + 7) & ~7u;
}

static uint32_t pdu_bytes(struct input *input, uint8_t *bytes, bool response)
{
	uint8_t form = take(input);
	if (form < 64)
		return take_bytes(input, bytes, take(input));
	uint32_t length = 0;
	for (uint32_t members = form % 3; members; members--) {
		uint32_t part = member(input, bytes + length, response);
		bytes[length + 20] = (uint8_t)part;
		length += part;
	}
	return length + member(input, bytes + length, response);
}

static void event(struct smb_monitor *monitor, struct input *input, uint64_t now_ns)
{
	static uint8_t bytes[1024];
	uint8_t kind = take(input);
	uint32_t channel = kind >> 7;
	struct smb_pdu pdu = { .bytes = bytes };
	struct smb_slice slice;

	switch (kind & 15) {
	case 0:
		smb_monitor_connected(monitor, channel, now_ns);
		break;
	case 1:
		smb_monitor_closed(monitor, channel, now_ns);
		break;
	case 2:
		smb_monitor_idle(monitor, now_ns);
		break;
	case 3:
		smb_monitor_file(monitor, channel ? "a" : "", take(input), take(input));
		break;
	case 4:
		slice = (struct smb_slice){ .source = take(input), .offset = take(input), .length = take(input) };
		smb_monitor_application_read(monitor, channel ? "a" : "", slice.offset, slice, kind & 64, now_ns);
		break;
	default:
		pdu.length = pdu_bytes(input, bytes, kind & 1);
		pdu.payload.length = kind & 64 ? take(input) : 0;
		if (kind & 1)
			smb_monitor_received(monitor, channel, &pdu, now_ns);
		else
			smb_monitor_sent(monitor, channel, &pdu, now_ns);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct smb_monitor_limits limits = { .channels = CHANNELS, .requests = 8, .files = 2, .window = 64 };
	const struct smb_monitor_expect expect = {
		.max_credits = 100, .rsize = 64, .readahead_bytes = 128, .page_bytes = 16
	};
	struct input input = { data, size };
	struct smb_monitor *monitor = smb_monitor_init(malloc(smb_monitor_size(&limits)), &limits, &expect);

	for (uint64_t now_ns = 0; input.left; now_ns++) {
		event(monitor, &input, now_ns);
		if (!smb_monitor_is_valid(monitor))
			abort();
	}
	free(monitor);
	return 0;
}
