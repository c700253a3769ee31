/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "protocol/client/mount_options.h"

#include "protocol/wire/smb2.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct smb_mount_options options;
static struct smb_mount_report report;

static enum smb_mount_verdict parse(const char *kernel, const char *text)
{
	enum smb_mount_verdict verdict = smb_mount_options_parse(text, &smb_era_find(kernel)->policy, &options,
								 &report);

	cr_assert_eq(verdict == SMB_MOUNT_OK, report.message[0] == '\0', "%s: %s", text, report.message);
	cr_assert(verdict != SMB_MOUNT_OK || smb_mount_options_is_valid(&options), "%s", text);
	return verdict;
}

static bool is_ignored(const char *name)
{
	for (uint32_t i = 0; i < report.ignored_count; i++) {
		if (!strcmp(report.ignored[i], name))
			return true;
	}
	return false;
}

Test(mount_options, azure_string_of_the_2021_experiment_is_understood)
{
	cr_assert_eq(parse("5.13", "rw,relatime,vers=3.1.1,cache=strict,soft,rsize=1048576,wsize=1048576,actimeo=1,"
				   "multichannel,max_channels=2"),
		     SMB_MOUNT_OK);
	cr_expect_eq(options.vers, SMB2_DIALECT_311);
	cr_expect_eq(options.cache, SMB_CACHE_STRICT);
	cr_expect(options.soft);
	cr_expect_eq(options.rsize, 1048576);
	cr_expect_eq(options.wsize, 1048576);
	cr_expect_eq(options.actimeo_ms, 1000);
	cr_expect(options.multichannel);
	cr_expect_eq(options.max_channels, 2);
	cr_expect_eq(options.rasize, 0);
	cr_expect_not(options.tcp_nodelay);
	cr_expect_not(options.read_only);
	cr_expect_eq(report.ignored_count, 1);
	cr_expect(is_ignored("relatime"));
}

Test(mount_options, a_line_of_proc_mounts_is_understood)
{
	cr_assert_eq(parse("6.1", "rw,relatime,vers=3.1.1,cache=strict,username=x,uid=0,noforceuid,gid=0,noforcegid,"
				  "addr=1.2.3.4,file_mode=0777,dir_mode=0777,soft,persistenthandles,nounix,serverino,"
				  "mapposix,rsize=1048576,wsize=1048576,bsize=1048576,echo_interval=60,actimeo=1,"
				  "multichannel,max_channels=2"),
		     SMB_MOUNT_OK);
	cr_expect_eq(options.bsize, 1048576);
	cr_expect_eq(options.echo_interval_s, 60);
	cr_expect_eq(options.max_channels, 2);
	cr_expect(options.serverino);
	cr_expect(is_ignored("persistenthandles"));
	cr_expect(is_ignored("noforceuid"));
	cr_expect(is_ignored("file_mode"));
	cr_expect_not(is_ignored("rsize"));
}

Test(mount_options, empty_string_is_the_default)
{
	struct smb_mount_options expected;

	smb_mount_options_default(&expected);
	cr_assert_eq(parse("6.1", ""), SMB_MOUNT_OK);
	cr_expect_eq(options.vers, SMB_VERS_DEFAULT);
	cr_expect_eq(options.vers, expected.vers);
	cr_expect_eq(options.max_channels, 1);
	cr_expect_eq(options.bsize, expected.bsize);
	cr_expect_eq(options.echo_interval_s, 60);
	cr_expect_eq(options.actimeo_ms, 1000);
	cr_expect(options.soft);
	cr_expect(options.serverino);
	cr_expect_eq(report.ignored_count, 0);
	cr_expect(smb_mount_options_is_valid(&expected));
}

/* Strings as captures/ uses them, with the result in rsize, rasize and channels. */
Test(mount_options, strings_of_the_captures_are_understood)
{
	static const struct {
		const char *text;
		uint16_t vers;
		uint32_t rsize;
		uint32_t rasize;
		uint32_t max_channels;
	} cases[] = {
		{ "vers=3.1.1", SMB2_DIALECT_311, 0, 0, 1 },
		{ "vers=3.1.1,rasize=33554432", SMB2_DIALECT_311, 0, 33554432, 1 },
		{ "vers=3.1.1,rasize=1048576", SMB2_DIALECT_311, 0, 1048576, 1 },
		{ "vers=3.1.1,rsize=65536", SMB2_DIALECT_311, 65536, 0, 1 },
		{ "vers=3.1.1,multichannel,max_channels=4,rasize=16777216", SMB2_DIALECT_311, 0, 16777216, 4 },
		{ "vers=2.0", SMB2_DIALECT_202, 0, 0, 1 },
		{ "vers=2.1", SMB2_DIALECT_210, 0, 0, 1 },
		{ "vers=3.0", SMB2_DIALECT_300, 0, 0, 1 },
		{ "vers=1.0", SMB_VERS_1, 0, 0, 1 },
		{ "vers=1.0,nounix", SMB_VERS_1, 0, 0, 1 },
		{ "vers=3", SMB_VERS_3_ANY, 0, 0, 1 },
		{ "vers=default", SMB_VERS_DEFAULT, 0, 0, 1 },
		{ "rsize=4194304,wsize=4194304,max_channels=2", SMB_VERS_DEFAULT, 4194304, 0, 2 },
		{ "vers=3.1.1,cache=none", SMB2_DIALECT_311, 0, 0, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert_eq(parse("6.1", cases[i].text), SMB_MOUNT_OK, "%s: %s", cases[i].text, report.message);
		cr_expect_eq(options.vers, cases[i].vers, "%s", cases[i].text);
		cr_expect_eq(options.rsize, cases[i].rsize, "%s", cases[i].text);
		cr_expect_eq(options.rasize, cases[i].rasize, "%s", cases[i].text);
		cr_expect_eq(options.max_channels, cases[i].max_channels, "%s", cases[i].text);
		cr_expect_eq(options.multichannel, cases[i].max_channels > 1, "%s", cases[i].text);
	}
}

#define FUNCTION "smb3_fs_context_parse_param: "

Test(mount_options, values_are_refused_with_the_kernels_reason)
{
	static const struct {
		const char *text;
		enum smb_mount_verdict verdict;
		const char *message;
	} cases[] = {
		{ "rasize=1048576", SMB_MOUNT_OK, "" },
		{ "rasize=1048575", SMB_MOUNT_OUT_OF_RANGE, FUNCTION "Invalid rasize 1048575 vs. 4194304" },
		{ "rasize=33554432", SMB_MOUNT_OK, "" },
		{ "rasize=33554433", SMB_MOUNT_OUT_OF_RANGE, FUNCTION "Invalid rasize 33554433 vs. 4194304" },
		{ "rasize=0", SMB_MOUNT_OUT_OF_RANGE, FUNCTION "Invalid rasize 0 vs. 4194304" },
		{ "rasize=4294967295", SMB_MOUNT_OUT_OF_RANGE, FUNCTION "Invalid rasize -1 vs. 4194304" },
		{ "rasize=4294967296", SMB_MOUNT_BAD_VALUE, "cifs: Bad value for 'rasize'" },
		{ "rasize=99999999999999999999999", SMB_MOUNT_BAD_VALUE, "cifs: Bad value for 'rasize'" },
		{ "rasize=4M", SMB_MOUNT_BAD_VALUE, "cifs: Bad value for 'rasize'" },
		{ "rasize= 4194304", SMB_MOUNT_BAD_VALUE, "cifs: Bad value for 'rasize'" },
		{ "rasize=4194304 ", SMB_MOUNT_BAD_VALUE, "cifs: Bad value for 'rasize'" },
		{ "rasize=-4194304", SMB_MOUNT_BAD_VALUE, "cifs: Bad value for 'rasize'" },
		{ "rasize=", SMB_MOUNT_BAD_VALUE, "cifs: Bad value for 'rasize'" },
		{ "rasize", SMB_MOUNT_BAD_VALUE, "cifs: Bad value for 'rasize'" },
		{ "rasize=0x400000", SMB_MOUNT_OK, "" },
		{ "rasize=0x", SMB_MOUNT_BAD_VALUE, "cifs: Bad value for 'rasize'" },
		{ "file_mode=0789", SMB_MOUNT_BAD_VALUE, "cifs: Bad value for 'file_mode'" },
		{ "rsize=1k", SMB_MOUNT_BAD_VALUE, "cifs: Bad value for 'rsize'" },
		{ "rsize=0", SMB_MOUNT_OK, "" },
		{ "max_channels=0", SMB_MOUNT_OUT_OF_RANGE, FUNCTION "Invalid max_channels value, needs to be 1-16" },
		{ "max_channels=1", SMB_MOUNT_OK, "" },
		{ "max_channels=16", SMB_MOUNT_OK, "" },
		{ "max_channels=17", SMB_MOUNT_OUT_OF_RANGE, FUNCTION "Invalid max_channels value, needs to be 1-16" },
		{ "max_credits=19", SMB_MOUNT_OUT_OF_RANGE, FUNCTION "Invalid max_credits value" },
		{ "max_credits=20", SMB_MOUNT_OK, "" },
		{ "max_credits=60000", SMB_MOUNT_OK, "" },
		{ "max_credits=60001", SMB_MOUNT_OUT_OF_RANGE, FUNCTION "Invalid max_credits value" },
		{ "bsize=1023", SMB_MOUNT_OUT_OF_RANGE, FUNCTION "Invalid blocksize" },
		{ "bsize=1024", SMB_MOUNT_OK, "" },
		{ "bsize=16777216", SMB_MOUNT_OK, "" },
		{ "bsize=16777217", SMB_MOUNT_OUT_OF_RANGE, FUNCTION "Invalid blocksize" },
		{ "actimeo=4294967", SMB_MOUNT_OK, "" },
		{ "actimeo=4294968", SMB_MOUNT_OUT_OF_RANGE, "timeout too large" },
		{ "acregmax=4294968", SMB_MOUNT_OUT_OF_RANGE, "acregmax too large" },
		{ "acdirmax=4294968", SMB_MOUNT_OUT_OF_RANGE, "acdirmax too large" },
		{ "vers=3.1", SMB_MOUNT_BAD_VALUE, "Unknown vers= option specified: 3.1" },
		{ "vers=4", SMB_MOUNT_BAD_VALUE, "Unknown vers= option specified: 4" },
		{ "vers=", SMB_MOUNT_BAD_VALUE, "cifs: Bad value for 'vers'" },
		{ "vers", SMB_MOUNT_BAD_VALUE, "cifs: Bad value for 'vers'" },
		{ "ver=1", SMB_MOUNT_OK, "" },
		{ "ver=2", SMB_MOUNT_BAD_VALUE, "Invalid mount helper version specified" },
		{ "cache=off", SMB_MOUNT_BAD_VALUE, "bad cache= option: off" },
		{ "sec=ntlmsspi", SMB_MOUNT_OK, "" },
		{ "sec=krb5p", SMB_MOUNT_BAD_VALUE, "sec=krb5p is not supported. Use sec=krb5,seal instead" },
		{ "sec=plain", SMB_MOUNT_BAD_VALUE, "bad security option: plain" },
		{ "soft=1", SMB_MOUNT_BAD_VALUE, "cifs: Unexpected value for 'soft'" },
		{ "rasise=4194304", SMB_MOUNT_UNKNOWN_OPTION, "cifs: Unknown parameter 'rasise'" },
		{ "RSIZE=65536", SMB_MOUNT_UNKNOWN_OPTION, "cifs: Unknown parameter 'RSIZE'" },
		{ "rw, relatime", SMB_MOUNT_UNKNOWN_OPTION, "cifs: Unknown parameter ' relatime'" },
		{ "norsize", SMB_MOUNT_UNKNOWN_OPTION, "cifs: Unknown parameter 'norsize'" },
		{ "username=", SMB_MOUNT_OK, "" },
		{ "domain=", SMB_MOUNT_BAD_VALUE, "cifs: Bad value for 'domain'" },
		{ "=x,soft", SMB_MOUNT_OK, "" },
		{ "persistenthandles,nopersistenthandles", SMB_MOUNT_CONFLICT,
		  "persistenthandles mount options conflict" },
		{ "persistenthandles,resilienthandles", SMB_MOUNT_CONFLICT,
		  "persistenthandles mount options conflict" },
		{ "noresilienthandles,persistenthandles", SMB_MOUNT_OK, "" },
		{ "rdma,vers=2.1", SMB_MOUNT_CONFLICT, "SMB Direct requires Version >=3.0" },
		{ "rdma,vers=3.0", SMB_MOUNT_OK, "" },
		{ "max_cached_dirs=0", SMB_MOUNT_OUT_OF_RANGE,
		  FUNCTION "Invalid max_cached_dirs, needs to be 1 or more" },
		{ "handletimeout=960001", SMB_MOUNT_OUT_OF_RANGE,
		  "Invalid handle cache timeout, longer than 16 minutes" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(parse("6.1", cases[i].text), cases[i].verdict, "%s", cases[i].text);
		cr_expect_str_eq(report.message, cases[i].message, "%s", cases[i].text);
	}
}

Test(mount_options, kernels_refuse_what_came_after_them)
{
	cr_expect_eq(parse("5.10", "rasize=4194304"), SMB_MOUNT_CONFLICT);
	cr_expect_str_eq(report.message, "CIFS: Unknown mount option \"rasize=4194304\"");
	cr_expect_eq(parse("5.10", "multichannel"), SMB_MOUNT_OK);
	cr_expect_eq(parse("4.20", "multichannel"), SMB_MOUNT_CONFLICT);
	cr_expect_eq(parse("4.20", "max_channels=4"), SMB_MOUNT_CONFLICT);
	cr_expect_eq(parse("5.13", "rasize=4194304"), SMB_MOUNT_OK);
	cr_expect_eq(parse("5.10", "rasise=4194304"), SMB_MOUNT_UNKNOWN_OPTION);
	cr_expect_eq(parse("6.1", "rw,,relatime"), SMB_MOUNT_UNKNOWN_OPTION); /* one item, with a comma in it */
	cr_expect_eq(parse("6.1", "rw,,"), SMB_MOUNT_UNKNOWN_OPTION);
	cr_expect_eq(parse("6.1", "rw,"), SMB_MOUNT_OK);
	cr_expect_eq(parse("6.1", ",nonsense"), SMB_MOUNT_OK); /* an empty item ends the string */
}

Test(mount_options, channels_follow_the_order_of_options)
{
	static const struct {
		const char *text;
		uint32_t max_channels;
	} cases[] = {
		{ "multichannel", 2 },
		{ "multichannel,max_channels=4", 4 },
		{ "max_channels=4,multichannel", 4 },
		{ "max_channels=4", 4 },
		{ "multichannel,max_channels=1", 1 },
		{ "max_channels=1,multichannel", 2 },
		{ "max_channels=8,nomultichannel", 1 },
		{ "nomultichannel,max_channels=3", 3 },
		{ "vers=2.1,multichannel,max_channels=4", 1 },
		{ "vers=2.1,max_channels=2", 1 },
		{ "max_channels=4,vers=2.0", 1 },
		{ "vers=3,multichannel", 2 },
		{ "vers=3.0,multichannel", 2 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert_eq(parse("6.1", cases[i].text), SMB_MOUNT_OK);
		cr_expect_eq(options.max_channels, cases[i].max_channels, "%s", cases[i].text);
		cr_expect_eq(options.multichannel, cases[i].max_channels > 1, "%s", cases[i].text);
	}
	parse("6.1", "vers=2.1,multichannel");
	cr_expect(is_ignored("multichannel"));
}

Test(mount_options, the_last_of_several_wins)
{
	cr_assert_eq(parse("6.1", "rsize=65536,rsize=131072,vers=2.1,vers=3.0,cache=none,cache=loose,ro,rw,ro,hard"),
		     SMB_MOUNT_OK);
	cr_expect_eq(options.rsize, 131072);
	cr_expect_eq(options.vers, SMB2_DIALECT_300);
	cr_expect_eq(options.cache, SMB_CACHE_LOOSE);
	cr_expect(options.read_only);
	cr_expect_not(options.soft);
	cr_assert_eq(parse("6.1", "hard,soft,tcpnodelay,notcpnodelay,nostrictsync,noserverino,mfsymlinks,seal,sign"),
		     SMB_MOUNT_OK);
	cr_expect(options.soft);
	cr_expect_not(options.tcp_nodelay);
	cr_expect(options.nostrictsync);
	cr_expect_not(options.serverino);
	cr_expect(options.mfsymlinks && options.seal && options.sign);
	cr_assert_eq(parse("6.1", "sign,sec=ntlmssp,tcpnodelay"), SMB_MOUNT_OK);
	cr_expect_not(options.sign);
	cr_expect(options.tcp_nodelay);
}

Test(mount_options, attribute_cache_times_are_the_exception)
{
	cr_assert_eq(parse("6.1", "actimeo=30"), SMB_MOUNT_OK);
	cr_expect_eq(options.actimeo_ms, 30000);
	cr_assert_eq(parse("6.1", "actimeo=0"), SMB_MOUNT_OK);
	cr_expect_eq(options.actimeo_ms, 0);
	cr_assert_eq(parse("6.1", "acregmax=5,actimeo=30"), SMB_MOUNT_OK);
	cr_expect_eq(options.actimeo_ms, 5000);
	cr_expect(is_ignored("actimeo"));
	cr_assert_eq(parse("6.1", "actimeo=5,actimeo=7"), SMB_MOUNT_OK);
	cr_expect_eq(options.actimeo_ms, 5000);
	cr_assert_eq(parse("6.1", "actimeo=5,acregmax=7"), SMB_MOUNT_OK);
	cr_expect_eq(options.actimeo_ms, 7000);
}

Test(mount_options, echo_intervals_out_of_range_become_the_default)
{
	static const struct {
		const char *text;
		uint32_t seconds;
	} cases[] = { { "echo_interval=1", 1 },
		      { "echo_interval=600", 600 },
		      { "echo_interval=0", 60 },
		      { "echo_interval=601", 60 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert_eq(parse("6.1", cases[i].text), SMB_MOUNT_OK);
		cr_expect_eq(options.echo_interval_s, cases[i].seconds, "%s", cases[i].text);
		cr_expect_eq(is_ignored("echo_interval"), i >= 2);
	}
}

Test(mount_options, sloppy_steps_over_what_it_does_not_know)
{
	cr_expect_eq(parse("6.1", "sloppy,nonsense=1,rsize=big,wsize=65536"), SMB_MOUNT_OK);
	cr_expect_eq(options.wsize, 65536);
	cr_expect(is_ignored("nonsense"));
	cr_expect_eq(parse("6.1", "nonsense=1,sloppy"), SMB_MOUNT_UNKNOWN_OPTION);
	cr_expect_eq(parse("6.1", "sloppy,rasize=1"), SMB_MOUNT_OUT_OF_RANGE);
}

Test(mount_options, options_of_mount_itself_are_accepted_and_listed)
{
	cr_assert_eq(parse("6.1", "defaults,noauto,_netdev,nofail,x-systemd.automount,user,noatime,nosuid,nodev,noexec,"
				  "credentials=/root/.smb,uid=steve,guest,user=me,password=a,,b,iocharset=utf8"),
		     SMB_MOUNT_OK);
	cr_expect(is_ignored("noauto"));
	cr_expect(is_ignored("x-systemd.automount"));
	cr_expect(is_ignored("password"));
	cr_expect(is_ignored("iocharset"));
	cr_expect_eq(report.ignored_count, 15);
}

Test(mount_options, long_and_many_options_stay_inside_the_report)
{
	static char text[20000];
	size_t length = 0;

	for (int i = 0; i < 100; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%sx-%d-%0100d", i ? "," : "", i, 0);
	cr_assert_eq(parse("6.1", text), SMB_MOUNT_OK);
	cr_expect_eq(report.ignored_count, SMB_MOUNT_IGNORED_MAX);
	cr_expect_eq(strlen(report.ignored[63]), sizeof(report.ignored[0]) - 1);
	memset(text, 'y', 5000);
	text[5000] = '\0';
	cr_expect_eq(parse("6.1", text), SMB_MOUNT_UNKNOWN_OPTION);
	cr_expect_eq(strlen(report.message), SMB_MOUNT_TEXT_MAX - 1);
}

Test(mount_options, dialects_are_offered_lowest_first)
{
	static const struct {
		uint16_t vers;
		uint32_t count;
		uint16_t first;
		uint16_t last;
	} cases[] = {
		{ SMB_VERS_DEFAULT, 4, SMB2_DIALECT_210, SMB2_DIALECT_311 },
		{ SMB_VERS_3_ANY, 3, SMB2_DIALECT_300, SMB2_DIALECT_311 },
		{ SMB2_DIALECT_202, 1, SMB2_DIALECT_202, SMB2_DIALECT_202 },
		{ SMB2_DIALECT_311, 1, SMB2_DIALECT_311, SMB2_DIALECT_311 },
	};
	uint16_t dialects[8];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t count = smb_mount_dialects(cases[i].vers, dialects);

		cr_assert_eq(count, cases[i].count);
		cr_expect_eq(dialects[0], cases[i].first);
		cr_expect_eq(dialects[count - 1], cases[i].last);
		for (uint32_t j = 1; j < count; j++)
			cr_expect_lt(dialects[j - 1], dialects[j]);
	}
	cr_expect_eq(smb_mount_dialects(SMB_VERS_1, dialects), 1);
	cr_expect_eq(dialects[0], SMB_VERS_1);
}

Test(mount_options, impossible_options_are_not_valid)
{
	smb_mount_options_default(&options);
	cr_expect(smb_mount_options_is_valid(&options));
	options.rasize = 1024;
	cr_expect_not(smb_mount_options_is_valid(&options));
	options.rasize = 0;
	options.multichannel = true;
	cr_expect_not(smb_mount_options_is_valid(&options));
	options.multichannel = false;
	options.vers = 0x0312;
	cr_expect_not(smb_mount_options_is_valid(&options));
	options.vers = SMB2_DIALECT_300;
	options.echo_interval_s = 0;
	cr_expect_not(smb_mount_options_is_valid(&options));
}
