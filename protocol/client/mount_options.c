/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/client/mount_item.h"
#include "protocol/wire/smb2.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_IOSIZE UINT32_C(1048576) /* CIFS_DEFAULT_IOSIZE, and the default of bsize */
#define SMB3_DEFAULT_IOSIZE UINT32_C(4194304)
#define MAX_CHANNELS 16 /* CIFS_MAX_CHANNELS */
#define DEFAULT_ACTIMEO_S 1 /* CIFS_DEF_ACTIMEO */
#define MAX_ACTIMEO_S UINT32_C(4294967) /* CIFS_MAX_ACTIMEO, 2^30 ticks of HZ 250 */
#define MAX_HANDLE_TIMEOUT_MS UINT32_C(960000) /* SMB3_MAX_HANDLE_TIMEOUT */
#define PARSER "smb3_fs_context_parse_param" /* what the kernel puts before its reasons */

struct parser {
	const struct smb_policy *policy;
	struct smb_mount_options *options;
	struct smb_mount_report *report;
	uint32_t acregmax_s;
	uint32_t acdirmax_s;
	bool sloppy;
	bool persistent;
	bool nopersistent;
	bool resilient;
	bool rdma;
};

static void note_ignored(struct smb_mount_report *report, const char *name, int length)
{
	char text[sizeof(report->ignored[0])];

	snprintf(text, sizeof(text), "%.*s", length, name);
	for (uint32_t i = 0; i < report->ignored_count; i++) {
		if (!strcmp(report->ignored[i], text))
			return;
	}
	if (report->ignored_count < SMB_MOUNT_IGNORED_MAX)
		memcpy(report->ignored[report->ignored_count++], text, sizeof(text));
}

static bool kernel_knows(const struct parser *parser, enum smb_mount_option_id id)
{
	if (id == SMB_MOUNT_OPT_RASIZE)
		return parser->policy->rasize_known;
	if (id == SMB_MOUNT_OPT_MULTICHANNEL || id == SMB_MOUNT_OPT_MAX_CHANNELS)
		return parser->policy->multichannel_known;
	return true;
}

/** The VFS parses options from 5.11 on; before, cifs_parse_mount_options prints the whole item. */
static enum smb_mount_verdict refuse_unknown(const struct parser *parser, const struct smb_mount_item *item,
					     enum smb_mount_verdict verdict)
{
	int length = item->name_length + (item->value ? 1 + item->value_length : 0);

	if (parser->policy->rasize_known)
		return smb_mount_refuse(parser->report, verdict, "cifs: Unknown parameter '%.*s'", item->name_length,
					item->name);
	return smb_mount_refuse(parser->report, verdict, "CIFS: Unknown mount option \"%.*s\"", length, item->name);
}

static enum smb_mount_verdict set_size(struct parser *parser, enum smb_mount_option_id id, uint32_t value)
{
	struct smb_mount_options *options = parser->options;

	switch (id) {
	case SMB_MOUNT_OPT_BSIZE:
		if (value < 1024 || value > 4 * SMB3_DEFAULT_IOSIZE)
			return smb_mount_refuse(parser->report, SMB_MOUNT_OUT_OF_RANGE, PARSER ": Invalid blocksize");
		options->bsize = value;
		break;
	case SMB_MOUNT_OPT_RASIZE:
		/* The kernel prints signed numbers, and not the limit that was missed. */
		if (value < DEFAULT_IOSIZE || value > 8 * SMB3_DEFAULT_IOSIZE)
			return smb_mount_refuse(parser->report, SMB_MOUNT_OUT_OF_RANGE,
						PARSER ": Invalid rasize %d vs. %d", (int32_t)value,
						(int32_t)SMB3_DEFAULT_IOSIZE);
		options->rasize = value;
		break;
	case SMB_MOUNT_OPT_RSIZE:
		options->rsize = value;
		break;
	default:
		options->wsize = value;
		break;
	}
	return SMB_MOUNT_OK;
}

static enum smb_mount_verdict set_cache_time(struct parser *parser, enum smb_mount_option_id id, uint32_t seconds)
{
	if (id == SMB_MOUNT_OPT_CLOSETIMEO) {
		if (seconds > MAX_ACTIMEO_S)
			return smb_mount_refuse(parser->report, SMB_MOUNT_OUT_OF_RANGE, "closetimeo too large");
		note_ignored(parser->report, "closetimeo", 10);
		return SMB_MOUNT_OK;
	}
	if (seconds > MAX_ACTIMEO_S)
		return smb_mount_refuse(parser->report, SMB_MOUNT_OUT_OF_RANGE, "%s too large",
					id == SMB_MOUNT_OPT_ACTIMEO    ? "timeout"
					: id == SMB_MOUNT_OPT_ACREGMAX ? "acregmax"
								       : "acdirmax");
	if (id == SMB_MOUNT_OPT_ACTIMEO &&
	    (parser->acregmax_s != DEFAULT_ACTIMEO_S || parser->acdirmax_s != DEFAULT_ACTIMEO_S)) {
		/* So says the kernel, of a second actimeo too: "actimeo ignored since acregmax or acdirmax specified" */
		note_ignored(parser->report, "actimeo", 7);
		return SMB_MOUNT_OK;
	}
	if (id != SMB_MOUNT_OPT_ACREGMAX)
		parser->acdirmax_s = seconds;
	if (id != SMB_MOUNT_OPT_ACDIRMAX)
		parser->acregmax_s = seconds;
	return SMB_MOUNT_OK;
}

static enum smb_mount_verdict set_limit(struct parser *parser, enum smb_mount_option_id id, uint32_t value)
{
	struct smb_mount_options *options = parser->options;

	switch (id) {
	case SMB_MOUNT_OPT_ECHO_INTERVAL:
		/* Not refused: cifs_get_tcp_session takes its default instead. */
		options->echo_interval_s = value >= 1 && value <= 600 ? value : 60;
		if (options->echo_interval_s != value)
			note_ignored(parser->report, "echo_interval", 13);
		break;
	case SMB_MOUNT_OPT_MAX_CREDITS:
		if (value < 20 || value > 60000)
			return smb_mount_refuse(parser->report, SMB_MOUNT_OUT_OF_RANGE,
						PARSER ": Invalid max_credits value");
		options->max_credits = value;
		break;
	case SMB_MOUNT_OPT_MAX_CHANNELS:
		if (value < 1 || value > MAX_CHANNELS)
			return smb_mount_refuse(parser->report, SMB_MOUNT_OUT_OF_RANGE,
						PARSER ": Invalid max_channels value, needs to be 1-%d", MAX_CHANNELS);
		options->max_channels = value; /* above 1 it means multichannel, see finish() */
		break;
	case SMB_MOUNT_OPT_MAX_CACHED_DIRS:
		if (value < 1)
			return smb_mount_refuse(parser->report, SMB_MOUNT_OUT_OF_RANGE,
						PARSER ": Invalid max_cached_dirs, needs to be 1 or more");
		note_ignored(parser->report, "max_cached_dirs", 15);
		break;
	default:
		if (value > MAX_HANDLE_TIMEOUT_MS)
			return smb_mount_refuse(parser->report, SMB_MOUNT_OUT_OF_RANGE,
						"Invalid handle cache timeout, longer than 16 minutes");
		note_ignored(parser->report, "handletimeout", 13);
		break;
	}
	return SMB_MOUNT_OK;
}

static enum smb_mount_verdict set_vers(struct parser *parser, const struct smb_mount_item *item)
{
	static const struct {
		const char *text;
		uint16_t vers;
	} versions[] = {
		{ "1.0", SMB_VERS_1 },		 { "2.0", SMB2_DIALECT_202 },	{ "2.1", SMB2_DIALECT_210 },
		{ "3", SMB_VERS_3_ANY },	 { "3.0", SMB2_DIALECT_300 },	{ "3.0.2", SMB2_DIALECT_302 },
		{ "3.02", SMB2_DIALECT_302 },	 { "3.1.1", SMB2_DIALECT_311 }, { "3.11", SMB2_DIALECT_311 },
		{ "default", SMB_VERS_DEFAULT },
	};

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		if (smb_mount_value_is(item, versions[i].text)) {
			parser->options->vers = versions[i].vers;
			return SMB_MOUNT_OK;
		}
	}
	return smb_mount_refuse(parser->report, SMB_MOUNT_BAD_VALUE, "Unknown vers= option specified: %.*s",
				item->value_length, item->value);
}

static enum smb_mount_verdict set_sec(struct parser *parser, const struct smb_mount_item *item)
{
	static const char *const flavours[] = { "krb5", "ntlmssp", "ntlmv2", "nontlm", "none" };
	static const char *const signing[] = { "krb5i", "ntlmsspi", "ntlmv2i" };

	/* cifs_parse_security_flavors: the last one wins, a "sign" before it included. */
	parser->options->sign = false;
	note_ignored(parser->report, "sec", 3);
	if (smb_mount_value_is(item, "krb5p"))
		return smb_mount_refuse(parser->report, SMB_MOUNT_BAD_VALUE,
					"sec=krb5p is not supported. Use sec=krb5,seal instead");
	for (size_t i = 0; i < sizeof(flavours) / sizeof(flavours[0]); i++) {
		if (smb_mount_value_is(item, flavours[i]))
			return SMB_MOUNT_OK;
	}
	for (size_t i = 0; i < sizeof(signing) / sizeof(signing[0]); i++) {
		parser->options->sign |= smb_mount_value_is(item, signing[i]);
	}
	if (parser->options->sign)
		return SMB_MOUNT_OK;
	return smb_mount_refuse(parser->report, SMB_MOUNT_BAD_VALUE, "bad security option: %.*s", item->value_length,
				item->value);
}

static enum smb_mount_verdict set_cache(struct parser *parser, const struct smb_mount_item *item)
{
	if (smb_mount_value_is(item, "strict"))
		parser->options->cache = SMB_CACHE_STRICT;
	else if (smb_mount_value_is(item, "none"))
		parser->options->cache = SMB_CACHE_NONE;
	else if (smb_mount_value_is(item, "loose") || smb_mount_value_is(item, "ro") ||
		 smb_mount_value_is(item, "singleclient"))
		parser->options->cache = SMB_CACHE_LOOSE;
	else
		return smb_mount_refuse(parser->report, SMB_MOUNT_BAD_VALUE, "bad cache= option: %.*s",
					item->value_length, item->value);
	return SMB_MOUNT_OK;
}

static enum smb_mount_verdict set_handles(struct parser *parser, enum smb_mount_option_id id, bool negated)
{
	bool fits = true;

	if (id == SMB_MOUNT_OPT_RESILIENT) {
		parser->resilient = !negated;
		fits = negated || !parser->persistent;
	} else if (negated) {
		parser->nopersistent = true;
		fits = !parser->persistent;
	} else {
		parser->persistent = true;
		fits = !parser->nopersistent && !parser->resilient;
	}
	if (!fits)
		return smb_mount_refuse(parser->report, SMB_MOUNT_CONFLICT, "persistenthandles mount options conflict");
	note_ignored(parser->report, id == SMB_MOUNT_OPT_RESILIENT ? "resilienthandles" : "persistenthandles", 17);
	return SMB_MOUNT_OK;
}

static void set_flag(struct parser *parser, enum smb_mount_option_id id, bool on)
{
	struct smb_mount_options *options = parser->options;

	switch (id) {
	case SMB_MOUNT_OPT_READ_ONLY:
	case SMB_MOUNT_OPT_READ_WRITE:
		options->read_only = id == SMB_MOUNT_OPT_READ_ONLY;
		break;
	case SMB_MOUNT_OPT_HARD:
	case SMB_MOUNT_OPT_SOFT:
		options->soft = (id == SMB_MOUNT_OPT_SOFT) == on;
		break;
	case SMB_MOUNT_OPT_MULTICHANNEL:
		if (!on)
			options->max_channels = 1;
		else if (options->max_channels < 2)
			options->max_channels = 2;
		break;
	case SMB_MOUNT_OPT_STRICTSYNC:
		options->nostrictsync = !on;
		break;
	case SMB_MOUNT_OPT_UNIX:
		options->nounix = !on;
		break;
	case SMB_MOUNT_OPT_SERVERINO:
		options->serverino = on;
		break;
	case SMB_MOUNT_OPT_SIGN:
		options->sign = true;
		break;
	case SMB_MOUNT_OPT_SEAL:
		options->seal = true;
		break;
	case SMB_MOUNT_OPT_MFSYMLINKS:
		options->mfsymlinks = true;
		break;
	case SMB_MOUNT_OPT_TCP_NODELAY:
		options->tcp_nodelay = on;
		break;
	case SMB_MOUNT_OPT_SLOPPY:
		parser->sloppy = true;
		break;
	default:
		parser->rdma = true;
		note_ignored(parser->report, "rdma", 4);
		break;
	}
}

static enum smb_mount_verdict apply(struct parser *parser, const struct smb_mount_option *option,
				    const struct smb_mount_item *item)
{
	switch (option->id) {
	case SMB_MOUNT_OPT_IGNORED:
		note_ignored(parser->report, item->name, item->name_length);
		return SMB_MOUNT_OK;
	case SMB_MOUNT_OPT_BSIZE:
	case SMB_MOUNT_OPT_RASIZE:
	case SMB_MOUNT_OPT_RSIZE:
	case SMB_MOUNT_OPT_WSIZE:
		return set_size(parser, option->id, (uint32_t)item->number);
	case SMB_MOUNT_OPT_ACTIMEO:
	case SMB_MOUNT_OPT_ACDIRMAX:
	case SMB_MOUNT_OPT_ACREGMAX:
	case SMB_MOUNT_OPT_CLOSETIMEO:
		return set_cache_time(parser, option->id, (uint32_t)item->number);
	case SMB_MOUNT_OPT_ECHO_INTERVAL:
	case SMB_MOUNT_OPT_MAX_CREDITS:
	case SMB_MOUNT_OPT_MAX_CACHED_DIRS:
	case SMB_MOUNT_OPT_MAX_CHANNELS:
	case SMB_MOUNT_OPT_HANDLETIMEOUT:
		return set_limit(parser, option->id, (uint32_t)item->number);
	case SMB_MOUNT_OPT_VER:
		if (!smb_mount_value_is(item, "1"))
			return smb_mount_refuse(parser->report, SMB_MOUNT_BAD_VALUE,
						"Invalid mount helper version specified");
		note_ignored(parser->report, "ver", 3);
		return SMB_MOUNT_OK;
	case SMB_MOUNT_OPT_VERS:
		return set_vers(parser, item);
	case SMB_MOUNT_OPT_SEC:
		return set_sec(parser, item);
	case SMB_MOUNT_OPT_CACHE:
		return set_cache(parser, item);
	case SMB_MOUNT_OPT_PERSISTENT:
	case SMB_MOUNT_OPT_RESILIENT:
		return set_handles(parser, option->id, item->negated);
	default:
		set_flag(parser, option->id, !item->negated);
		return SMB_MOUNT_OK;
	}
}

static enum smb_mount_verdict parse_item(struct parser *parser, struct smb_mount_item *item)
{
	const struct smb_mount_option *option;
	enum smb_mount_verdict verdict;

	if (!item->name_length)
		return SMB_MOUNT_OK; /* "=text": the kernel steps over it */
	/* mount(8) keeps these for itself. */
	if (item->name_length > 2 && (!memcmp(item->name, "x-", 2) || !memcmp(item->name, "X-", 2))) {
		note_ignored(parser->report, item->name, item->name_length);
		return SMB_MOUNT_OK;
	}
	option = smb_mount_item_find(item);
	if (option && kernel_knows(parser, option->id)) {
		verdict = smb_mount_item_check(option, item, parser->report);
		if (verdict == SMB_MOUNT_OK)
			return apply(parser, option, item);
	} else {
		verdict = refuse_unknown(parser, item, option ? SMB_MOUNT_CONFLICT : SMB_MOUNT_UNKNOWN_OPTION);
	}
	if (!parser->sloppy)
		return verdict;
	parser->report->message[0] = '\0';
	note_ignored(parser->report, item->name, item->name_length);
	return SMB_MOUNT_OK;
}

static bool has_smb3(uint16_t vers)
{
	return vers == SMB_VERS_DEFAULT || vers == SMB_VERS_3_ANY || vers >= SMB2_DIALECT_300;
}

/** smb3_fs_context_validate and, for channels, cifs_try_adding_channels. */
static enum smb_mount_verdict finish(struct parser *parser)
{
	struct smb_mount_options *options = parser->options;

	options->actimeo_ms = parser->acregmax_s * 1000;
	if (parser->rdma && !has_smb3(options->vers))
		return smb_mount_refuse(parser->report, SMB_MOUNT_CONFLICT, "SMB Direct requires Version >=3.0");
	if (options->max_channels > 1 && !has_smb3(options->vers)) {
		/* The mount succeeds with one channel. */
		note_ignored(parser->report, "multichannel", 12);
		options->max_channels = 1;
	}
	options->multichannel = options->max_channels > 1;
	return SMB_MOUNT_OK;
}

void smb_mount_options_default(struct smb_mount_options *options)
{
	*options = (struct smb_mount_options){
		.vers = SMB_VERS_DEFAULT,
		.bsize = DEFAULT_IOSIZE,
		.max_channels = 1,
		.actimeo_ms = DEFAULT_ACTIMEO_S * 1000,
		.echo_interval_s = 60,
		.cache = SMB_CACHE_STRICT,
		.soft = true,
		.serverino = true,
	};
}

enum smb_mount_verdict smb_mount_options_parse(const char *text, const struct smb_policy *policy,
					       struct smb_mount_options *options, struct smb_mount_report *report)
{
	struct parser parser = {
		.policy = policy,
		.options = options,
		.report = report,
		.acregmax_s = DEFAULT_ACTIMEO_S,
		.acdirmax_s = DEFAULT_ACTIMEO_S,
	};
	struct smb_mount_item item;

	memset(report, 0, sizeof(*report));
	smb_mount_options_default(options);
	while (smb_mount_item_next(&text, &item)) {
		enum smb_mount_verdict verdict = parse_item(&parser, &item);

		if (verdict != SMB_MOUNT_OK)
			return verdict;
	}
	return finish(&parser);
}

uint32_t smb_mount_dialects(uint16_t vers, uint16_t dialects[8])
{
	static const uint16_t all[] = { SMB2_DIALECT_210, SMB2_DIALECT_300, SMB2_DIALECT_302, SMB2_DIALECT_311 };
	uint32_t first = vers == SMB_VERS_3_ANY ? 1 : 0;

	if (vers != SMB_VERS_DEFAULT && vers != SMB_VERS_3_ANY) {
		dialects[0] = vers;
		return 1;
	}
	memcpy(dialects, all + first, sizeof(all) - first * sizeof(all[0]));
	return 4 - first;
}

static bool vers_is_valid(uint16_t vers)
{
	switch (vers) {
	case SMB_VERS_DEFAULT:
	case SMB_VERS_1:
	case SMB_VERS_3_ANY:
	case SMB2_DIALECT_202:
	case SMB2_DIALECT_210:
	case SMB2_DIALECT_300:
	case SMB2_DIALECT_302:
	case SMB2_DIALECT_311:
		return true;
	default:
		return false;
	}
}

bool smb_mount_options_is_valid(const struct smb_mount_options *options)
{
	if (!vers_is_valid(options->vers) || options->bsize < 1024 || options->bsize > 4 * SMB3_DEFAULT_IOSIZE)
		return false;
	if (options->rasize && (options->rasize < DEFAULT_IOSIZE || options->rasize > 8 * SMB3_DEFAULT_IOSIZE))
		return false;
	if (options->max_channels < 1 || options->max_channels > MAX_CHANNELS)
		return false;
	if (options->multichannel != (options->max_channels > 1))
		return false;
	if (options->max_credits && (options->max_credits < 20 || options->max_credits > 60000))
		return false;
	return options->echo_interval_s >= 1 && options->echo_interval_s <= 600 && options->cache <= SMB_CACHE_LOOSE;
}
