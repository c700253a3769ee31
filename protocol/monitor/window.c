/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The MessageId window: C1, C2, C3 (MS-SMB2 3.2.4.1.6).
 *
 * A ring of limits.window bits follows the ids between the lowest unused one and the highest used one. In order, as
 * the kernel sends, the two meet and the ring is only written. What C2 asks of a client with several sending threads:
 * their requests may leave in another order than they took their ids, so an id may be late, but it must not stay out
 * while MONITOR_HOLE_REQUESTS later requests leave, nor when nothing follows any more: a server's window cannot move
 * past it and grants run dry. Each hole is reported once. An id further ahead than the ring is wide closes the oldest
 * holes.
 */
#include "protocol/monitor/state.h"

#include <string.h>

/* Bits [id, id + count) of the ring, word by word. count <= window. */
struct ring_walk {
	uint32_t word;
	uint64_t mask;
	uint64_t id;
	uint64_t end;
};

static bool ring_next(struct ring_walk *walk, uint32_t window)
{
	if (walk->id >= walk->end)
		return false;
	uint32_t position = (uint32_t)(walk->id & (window - 1));
	uint32_t bit = position % 64;
	uint64_t count = walk->end - walk->id;
	if (count > 64 - bit)
		count = 64 - bit;
	walk->word = position / 64;
	walk->mask = (count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << bit;
	walk->id += count;
	return true;
}

static void ring_set(uint64_t *bits, uint32_t window, uint64_t id, uint64_t end)
{
	struct ring_walk walk = { .id = id, .end = end };
	while (ring_next(&walk, window))
		bits[walk.word] |= walk.mask;
}

static void ring_clear(uint64_t *bits, uint32_t window, uint64_t id, uint64_t end)
{
	struct ring_walk walk = { .id = id, .end = end };
	while (ring_next(&walk, window))
		bits[walk.word] &= ~walk.mask;
}

static bool ring_has_any(const uint64_t *bits, uint32_t window, uint64_t id, uint64_t end)
{
	struct ring_walk walk = { .id = id, .end = end };
	while (ring_next(&walk, window)) {
		if (bits[walk.word] & walk.mask)
			return true;
	}
	return false;
}

static bool ring_has(const uint64_t *bits, uint32_t window, uint64_t id)
{
	uint32_t position = (uint32_t)(id & (window - 1));
	return bits[position / 64] >> (position % 64) & 1;
}

void monitor_window_reset(struct smb_monitor *monitor, uint32_t channel)
{
	size_t bytes = monitor->limits.window / 8;
	memset(monitor_bits(monitor, monitor->used_bits, channel), 0, bytes);
	memset(monitor_bits(monitor, monitor->first_bits, channel), 0, bytes);
}

/* Move `low` over ids that are used, clearing their bits for the next round of the ring. */
static void window_advance(struct smb_monitor *monitor, uint32_t index)
{
	struct monitor_channel *channel = monitor_channel_at(monitor, index);
	uint64_t *used = monitor_bits(monitor, monitor->used_bits, index);
	uint32_t window = monitor->limits.window;
	uint64_t start = channel->low;
	while (channel->low < channel->next) {
		uint32_t position = (uint32_t)(channel->low & (window - 1));
		uint64_t word = ~used[position / 64] >> (position % 64);
		uint32_t count = word ? (uint32_t)__builtin_ctzll(word) : 64;
		if (count > 64 - position % 64)
			count = 64 - position % 64;
		if (!count)
			break;
		ring_clear(used, window, channel->low, channel->low + count);
		channel->low += count;
	}
	if (channel->low != start) {
		channel->hole_since = channel->requests;
		channel->hole_reported = false;
	}
}

/* Make room in the ring so that ids below `end` fit: whatever is older counts as used from now on. */
static void window_slide(struct smb_monitor *monitor, uint32_t index, uint64_t end)
{
	struct monitor_channel *channel = monitor_channel_at(monitor, index);
	uint32_t window = monitor->limits.window;
	if (end - channel->low <= window)
		return;
	uint64_t low = end - window;
	uint64_t *used = monitor_bits(monitor, monitor->used_bits, index);
	ring_clear(used, window, channel->low, low - channel->low < window ? low : channel->low + window);
	channel->low = low;
	channel->hole_since = channel->requests;
	channel->hole_reported = false;
	if (channel->next < low)
		channel->next = low;
	window_advance(monitor, index);
}

/* Why an id in [id, end) cannot be had: true when reported. */
static bool window_refuses(struct smb_monitor *monitor, uint32_t index, uint64_t id, uint64_t end)
{
	const struct monitor_channel *channel = monitor_channel_at(monitor, index);
	const uint64_t *used = monitor_bits(monitor, monitor->used_bits, index);
	const uint64_t *first = monitor_bits(monitor, monitor->first_bits, index);
	uint32_t window = monitor->limits.window;
	uint64_t overdraft = channel->credits < 0 ? (uint64_t)-channel->credits : 0;
	uint64_t top = channel->top + overdraft;

	if (end > top || end < id) {
		monitor_report(monitor, SMB_RULE_C1,
			       "MessageId %llu with charge %llu is outside the window, granted up to %llu",
			       (unsigned long long)id, (unsigned long long)(end - id), (unsigned long long)top - 1);
		return true;
	}
	if (id < channel->low || (id < channel->next && ring_has(used, window, id))) {
		bool inner = id < channel->next && channel->next - id <= window && !ring_has(first, window, id);
		monitor_report(monitor, inner ? SMB_RULE_C3 : SMB_RULE_C1,
			       inner ? "MessageId %llu belongs to an earlier request of several credits"
				     : "MessageId %llu was used before",
			       (unsigned long long)id);
		return true;
	}
	uint64_t seen_end = end < channel->next ? end : channel->next;
	if (seen_end - id <= window && id < seen_end && ring_has_any(used, window, id, seen_end)) {
		monitor_report(monitor, SMB_RULE_C3, "ids %llu to %llu of one request are partly used already",
			       (unsigned long long)id, (unsigned long long)end - 1);
		return true;
	}
	return false;
}

static void window_mark(struct smb_monitor *monitor, uint32_t index, uint64_t id, uint64_t end)
{
	struct monitor_channel *channel = monitor_channel_at(monitor, index);
	uint32_t window = monitor->limits.window;
	uint64_t *first = monitor_bits(monitor, monitor->first_bits, index);

	ring_clear(first, window, end - id <= window ? id : end - window, end);
	if (end - id <= window)
		ring_set(first, window, id, id + 1);
	if (id == channel->low && id == channel->next) {
		channel->low = channel->next = end;
		return;
	}
	window_slide(monitor, index, end);
	if (id < channel->low)
		id = channel->low;
	if (channel->low == channel->next) {
		channel->hole_since = channel->requests;
		channel->hole_reported = false;
	}
	ring_set(monitor_bits(monitor, monitor->used_bits, index), window, id, end);
	if (channel->next < end)
		channel->next = end;
	if (id == channel->low)
		window_advance(monitor, index);
}

static void window_report_hole(struct smb_monitor *monitor, struct monitor_channel *channel)
{
	monitor_report(monitor, SMB_RULE_C2, "MessageId %llu was left out, %llu later requests went up to %llu",
		       (unsigned long long)channel->low, (unsigned long long)(channel->requests - channel->hole_since),
		       (unsigned long long)channel->next - 1);
	channel->hole_reported = true;
}

void monitor_window_take(struct smb_monitor *monitor, uint32_t channel_index, const struct smb2_header *header)
{
	struct monitor_channel *channel = monitor_channel_at(monitor, channel_index);
	uint64_t id = header->message_id;
	uint64_t end = id + monitor_charge(header);

	channel->requests++;
	if (!window_refuses(monitor, channel_index, id, end))
		window_mark(monitor, channel_index, id, end);
	if (channel->low < channel->next && !channel->hole_reported &&
	    channel->requests - channel->hole_since > MONITOR_HOLE_REQUESTS)
		window_report_hole(monitor, channel);
}

void monitor_window_idle(struct smb_monitor *monitor, uint32_t channel_index)
{
	struct monitor_channel *channel = monitor_channel_at(monitor, channel_index);
	if (channel->low < channel->next && !channel->hole_reported)
		window_report_hole(monitor, channel);
}

bool monitor_window_is_valid(const struct smb_monitor *monitor, uint32_t index)
{
	const struct monitor_channel *channel = monitor_channel_at(monitor, index);
	const uint64_t *used = monitor_bits(monitor, monitor->used_bits, index);
	if (channel->low > channel->next || channel->next - channel->low > monitor->limits.window)
		return false;
	/* `low` is the lowest unused id, the one before `next` is used whenever there is a hole. */
	if (channel->low < channel->next)
		return !ring_has(used, monitor->limits.window, channel->low) &&
		       ring_has(used, monitor->limits.window, channel->next - 1);
	return !ring_has_any(used, monitor->limits.window, 0, monitor->limits.window);
}
