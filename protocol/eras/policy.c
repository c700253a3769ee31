/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/eras/policy.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum policy_type { POLICY_CHOICE, POLICY_SWITCH, POLICY_U16, POLICY_U32 };

/** One policy: how it is called, where it sits in struct smb_policy, what it may be. */
struct policy_entry {
	const char *name;
	size_t offset;
	enum policy_type type;
	const char *values; /* CHOICE, SWITCH: in the order of the enum's numbers */
	uint32_t min; /* numbers: the range that makes sense */
	uint32_t max;
};

#define CHOICE(field, list)                                                                                            \
	{                                                                                                              \
#field, offsetof(struct smb_policy, field), POLICY_CHOICE, list, 0, 0                                  \
	}
#define SWITCH(field)                                                                                                  \
	{                                                                                                              \
#field, offsetof(struct smb_policy, field), POLICY_SWITCH, "off|on", 0, 1                              \
	}
#define NUMBER16(field, low, high)                                                                                     \
	{                                                                                                              \
#field, offsetof(struct smb_policy, field), POLICY_U16, "number", low, high                            \
	}
#define NUMBER32(field, low, high)                                                                                     \
	{                                                                                                              \
#field, offsetof(struct smb_policy, field), POLICY_U32, "number", low, high                            \
	}

/* Set, get, listings and validity all walk this table. */
static const struct policy_entry policies[] = {
	CHOICE(readpages_gate, "maxbuf|maxread"),
	CHOICE(readahead_default, "kernel_128k|rounded_128k|rsize|twice_rsize"),
	CHOICE(readahead_shape, "6.1|6.12|demand"),
	CHOICE(readahead_credit_brake, "off|on"),
	CHOICE(readahead_pause, "off|on"),
	CHOICE(read_mode, "sync|async"),
	CHOICE(write_mode, "sync_14_pages|async_50|async_credits"),
	CHOICE(compounding, "none|2018|6.1|6.12|readdir_single"),
	CHOICE(channel_pick, "round_robin|least_in_flight|rotating"),
	CHOICE(channel_pick_scope, "window|request"),
	CHOICE(channel_dynamic, "fixed|requery"),
	NUMBER16(credits_general, 1, 65535),
	NUMBER16(credits_session_setup, 1, 65535),
	SWITCH(credits_session_setup_clipped),
	NUMBER16(credits_tree_connect, 0, 65535),
	NUMBER16(credits_io_extra, 0, 60000),
	SWITCH(credits_io_clipped),
	NUMBER16(credits_io_reserve, 0, 1024),
	NUMBER16(max_compound, 0, 64),
	NUMBER32(max_credits_default, 20, 60000),
	SWITCH(secondary_inherits_max_credits),
	SWITCH(break_ack_waits),
	NUMBER32(rsize_default_2x, 4096, 16777216),
	NUMBER32(rsize_default_3x, 4096, 16777216),
	NUMBER32(single_page_read_bytes, 512, 16777216),
	SWITCH(wsize_rounded_to_page),
	SWITCH(rasize_known),
	SWITCH(multichannel_known),
	NUMBER16(interface_weighting, 0, 1),
	NUMBER32(readahead_oversize_bytes, 0, 33554432),
	SWITCH(read_whole_pages),
	NUMBER16(io_timeouts_max, 0, 1000),
	CHOICE(lost_read, "page|request"),
	SWITCH(channel_sequence),
	SWITCH(sizes_relearned),
	CHOICE(coreutils, "2018|2022"),
	SWITCH(query_dir_first),
	SWITCH(file_number_asked),
	SWITCH(close_attributes),
	SWITCH(flush_before_times),
	SWITCH(set_info_on_handle),
	SWITCH(truncate_expires),
	SWITCH(write_through_partial),
	SWITCH(lease_key_reused),
	SWITCH(symlink_reparse),
	NUMBER16(deferred_close_ms, 0, 60000),
};

#define POLICY_COUNT (sizeof(policies) / sizeof(policies[0]))

static const struct policy_entry *find(const char *name)
{
	for (size_t i = 0; i < POLICY_COUNT; i++) {
		if (!strcmp(policies[i].name, name))
			return &policies[i];
	}
	return NULL;
}

static uint32_t load(const struct smb_policy *policy, const struct policy_entry *entry)
{
	const char *at = (const char *)policy + entry->offset;
	unsigned int choice;
	uint16_t half;
	uint32_t word;
	bool on;

	switch (entry->type) {
	case POLICY_CHOICE:
		memcpy(&choice, at, sizeof(choice));
		return choice;
	case POLICY_SWITCH:
		memcpy(&on, at, sizeof(on));
		return on;
	case POLICY_U16:
		memcpy(&half, at, sizeof(half));
		return half;
	case POLICY_U32:
		memcpy(&word, at, sizeof(word));
		return word;
	}
	assert(!"a policy has a type");
	return 0;
}

static void store(struct smb_policy *policy, const struct policy_entry *entry, uint32_t value)
{
	char *at = (char *)policy + entry->offset;
	unsigned int choice = value;
	uint16_t half = (uint16_t)value;
	bool on = value != 0;

	switch (entry->type) {
	case POLICY_CHOICE:
		memcpy(at, &choice, sizeof(choice));
		return;
	case POLICY_SWITCH:
		memcpy(at, &on, sizeof(on));
		return;
	case POLICY_U16:
		memcpy(at, &half, sizeof(half));
		return;
	case POLICY_U32:
		memcpy(at, &value, sizeof(value));
		return;
	}
	assert(!"a policy has a type");
}

/** Length of the item that starts at `item` in a list separated by "|". */
static size_t item_length(const char *item)
{
	return strcspn(item, "|");
}

/** The index-th item of a list, NULL past its end. */
static const char *item_at(const char *list, uint32_t index)
{
	for (; index; index--) {
		list += item_length(list);
		if (!*list)
			return NULL;
		list++;
	}
	return list;
}

static bool parse_item(const char *list, const char *text, uint32_t *value)
{
	const char *item;

	for (uint32_t i = 0; (item = item_at(list, i)); i++) {
		if (strlen(text) == item_length(item) && !strncmp(item, text, item_length(item))) {
			*value = i;
			return true;
		}
	}
	return false;
}

static bool parse_number(const struct policy_entry *entry, const char *text, uint32_t *value)
{
	uint64_t sum = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		sum = sum * 10 + (uint64_t)(*text - '0');
		if (sum > UINT32_MAX)
			return false;
	}
	*value = (uint32_t)sum;
	return sum >= entry->min && sum <= entry->max;
}

static bool is_number(const struct policy_entry *entry)
{
	return entry->type == POLICY_U16 || entry->type == POLICY_U32;
}

enum smb_policy_verdict smb_policy_set(struct smb_policy *policy, const char *name, const char *value)
{
	const struct policy_entry *entry = find(name);
	uint32_t parsed;

	if (!entry)
		return SMB_POLICY_UNKNOWN_NAME;
	if (is_number(entry) ? !parse_number(entry, value, &parsed) : !parse_item(entry->values, value, &parsed))
		return SMB_POLICY_BAD_VALUE;
	store(policy, entry, parsed);
	return SMB_POLICY_OK;
}

enum smb_policy_verdict smb_policy_get(const struct smb_policy *policy, const char *name, char *text, size_t size)
{
	const struct policy_entry *entry = find(name);
	const char *item;

	if (!entry)
		return SMB_POLICY_UNKNOWN_NAME;
	assert(size >= SMB_POLICY_TEXT_MIN);
	if (is_number(entry)) {
		snprintf(text, size, "%u", load(policy, entry));
		return SMB_POLICY_OK;
	}
	item = item_at(entry->values, load(policy, entry));
	if (!item)
		return SMB_POLICY_BAD_VALUE;
	snprintf(text, size, "%.*s", (int)item_length(item), item);
	return SMB_POLICY_OK;
}

const char *smb_policy_name(size_t index)
{
	return index < POLICY_COUNT ? policies[index].name : NULL;
}

const char *smb_policy_values(const char *name)
{
	const struct policy_entry *entry = find(name);

	return entry ? entry->values : NULL;
}

bool smb_policy_is_valid(const struct smb_policy *policy)
{
	for (size_t i = 0; i < POLICY_COUNT; i++) {
		uint32_t value = load(policy, &policies[i]);

		if (is_number(&policies[i]) ? value < policies[i].min || value > policies[i].max
					    : !item_at(policies[i].values, value))
			return false;
	}
	return true;
}
