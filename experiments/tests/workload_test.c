/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/tests/program.h"
#include "experiments/workload.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <unistd.h>

TestSuite(workload);

static struct sim_workload parse(const char *text, const struct lab_surroundings *around)
{
	struct sim_workload workload;
	g_autoptr(GError) error = NULL;

	cr_assert(lab_workload_parse(text, around, &workload, &error), "%s: %s", text, error ? error->message : "");
	return workload;
}

/* What a job reads, as dd reports it: whole blocks, the last one as short as the file makes it. */
static uint64_t bytes_read(const struct sim_read_job *job)
{
	uint64_t rest = job->file_bytes - job->skip_bytes;

	return job->count ? MIN(rest, job->count * job->block_bytes) : rest;
}

static uint64_t real_dd(const char *directory, const char *command)
{
	g_autofree char *line = g_strconcat("LC_ALL=C ", command, " of=/dev/null 2>&1", NULL);
	const char *argv[] = { "sh", "-c", line, NULL };
	g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE);
	g_autoptr(GSubprocess) process = NULL;
	g_autofree char *out = NULL;
	const char *bytes;

	g_subprocess_launcher_set_cwd(launcher, directory);
	process = g_subprocess_launcher_spawnv(launcher, argv, NULL);
	cr_assert(process && g_subprocess_communicate_utf8(process, NULL, NULL, &out, NULL, NULL));
	bytes = strstr(out, "records out\n");
	cr_assert(bytes, "%s: %s", command, out);
	return g_ascii_strtoull(bytes + strlen("records out\n"), NULL, 10);
}

Test(workload, dd_reads_as_many_bytes_as_the_real_dd)
{
	static const char *const commands[] = {
		"dd if=f",
		"dd if=f bs=1M",
		"dd if=f bs=1M count=2",
		"dd if=f bs=1M count=99",
		"dd if=f bs=1MB count=2",
		"dd if=f bs=64k count=3 skip=2",
		"dd if=f bs=64K skip=70",
		"dd if=f ibs=4096 count=5",
		"dd if=f bs=2b count=7",
		"dd if=f bs=3x512 count=4",
		"dd if=f bs=1kB count=10",
		"dd if=f bs=4096 skip=8192 count=1 iflag=skip_bytes",
		"dd if=f bs=4096 count=8192 iflag=count_bytes",
		"dd if=f bs=4096 count=8192B",
		"dd if=f bs=4KiB count=3 status=none conv=noerror iflag=fullblock",
		"dd if=f bs=8c count=512",
		"dd if=f bs=16w count=64 iseek=3",
	};
	const struct lab_surroundings around = { .file_bytes = 5 * 1048576 + 777, .block_bytes = 1048576 };
	char *directory = program_directory();
	g_autofree char *path = g_build_filename(directory, "f", NULL);
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	cr_assert(fd >= 0 && ftruncate(fd, (off_t)around.file_bytes) == 0);
	close(fd);
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
		struct sim_workload workload = parse(commands[i], &around);
		g_auto(GStrv) parts = g_strsplit(commands[i], " status=none", -1);
		g_autofree char *loud = g_strjoinv("", parts); /* its report is what is compared */

		cr_assert_eq(workload.job_count, 1);
		cr_assert_eq(bytes_read(&workload.jobs[0].read), real_dd(directory, loud), "%s", commands[i]);
	}
	program_clean(directory);
}

Test(workload, a_command_becomes_jobs_call_by_call)
{
	const struct lab_surroundings around = { .block_bytes = 1048576, .seed = 7 };
	const struct lab_surroundings sized = { .file_bytes = 10 << 20, .block_bytes = 65536 };
	struct sim_workload workload;

	workload = parse("dd if=/mnt/test/1GBfile of=/dev/null bs=1M count=1024 iflag=direct", &around);
	cr_assert_str_eq(workload.jobs[0].read.file, "1GBfile");
	cr_assert_eq(workload.jobs[0].read.file_bytes, 1 << 30);
	cr_assert_eq(workload.jobs[0].read.count, 1024);
	cr_assert(workload.jobs[0].read.direct);

	workload = parse("cat '/mnt/a b' c > /dev/null; dd if=c bs=4k count=1", &sized);
	cr_assert_eq(workload.job_count, 3);
	cr_assert_str_eq(workload.jobs[0].read.file, "a b");
	cr_assert_eq(workload.jobs[1].read.block_bytes, 131072);
	cr_assert_eq(workload.jobs[1].read.count, 0);

	workload = parse("dd if=f bs=1M count=1; dd if=f bs=1M count=3", &around);
	cr_assert_eq(workload.jobs[0].read.file_bytes, 3 << 20, "one file has one size");
}

Test(workload, fio_options_become_a_job)
{
	const struct lab_surroundings around = { .block_bytes = 1048576, .seed = 7 };
	struct sim_workload workload;
	const struct sim_fio_job *job = &workload.jobs[0].fio;

	workload = parse("fio --name=x --filename=/mnt/f --rw=read:960k --bs=64k --size=16m --direct=1", &around);
	cr_assert_eq(workload.jobs[0].kind, SIM_JOB_FIO);
	cr_expect_str_eq(job->file, "f");
	cr_expect_eq(job->pattern, SIM_STRIDED);
	cr_expect_eq(job->stride_bytes, 1048576);
	cr_expect_eq(job->calls, 16);
	cr_expect(job->direct);

	workload = parse("fio filename=f rw=randread bs=4k size=1m", &around);
	cr_expect_eq(job->pattern, SIM_RANDOM);
	cr_expect_eq(job->calls, 256);
	cr_expect_eq(job->random_seed, 7);
	cr_expect_eq(job->depth, 1);
	cr_expect_not(job->may_repeat);

	workload = parse(
		"fio filename=f rw=randrw rwmixwrite=30 bs=8k size=1m offset=64k offset_increment=2m numjobs=3 "
		"iodepth=32 ioengine=libaio direct=1 fsync=10 end_fsync=1 rate=1m,2m thinktime=50 "
		"thinktime_blocks=4 runtime=3 time_based norandommap group_reporting",
		&around);
	cr_expect_eq(job->direction, SIM_MIXED);
	cr_expect_eq(job->read_percent, 70);
	cr_expect_eq(job->offset_bytes, 65536);
	cr_expect_eq(job->file_bytes, 65536 + 2 * 2097152 + 1048576);
	cr_expect_eq(job->region_bytes, 1048576);
	cr_expect_eq(job->copies, 3);
	cr_expect_eq(job->depth, 32);
	cr_expect_eq(job->fsync_every, 10);
	cr_expect(job->fsync_end && job->is_endless && job->may_repeat);
	cr_expect_eq(job->rate_bytes_per_s[0], 1048576);
	cr_expect_eq(job->rate_bytes_per_s[1], 2097152);
	cr_expect_eq(job->think_ns, 50000);
	cr_expect_eq(job->think_blocks, 4);
	cr_expect_eq(job->runtime_ns, 3000000000);
}

/* io_submit(2) of buffered calls blocks; io_uring hands them to other threads. */
Test(workload, iodepth_is_what_the_engine_makes_of_it)
{
	static const struct {
		const char *options;
		guint depth;
	} cases[] = {
		{ "iodepth=8", 1 },
		{ "iodepth=8 ioengine=sync direct=1", 1 },
		{ "iodepth=8 ioengine=libaio", 1 },
		{ "iodepth=8 ioengine=libaio direct=1", 8 },
		{ "iodepth=8 ioengine=libaio direct=1 buffered=1", 1 },
		{ "iodepth=8 ioengine=io_uring", 8 },
	};
	const struct lab_surroundings around = { .block_bytes = 1048576 };

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = g_strconcat("fio filename=f size=1m ", cases[i].options, NULL);
		struct sim_workload workload = parse(text, &around);

		cr_expect_eq(workload.jobs[0].fio.depth, cases[i].depth, "%s", text);
	}
}

Test(workload, dd_with_its_output_on_the_share_writes)
{
	const struct lab_surroundings around = { .mountpoint = "/mnt/test", .file_bytes = 64 << 20 };
	static const struct {
		const char *command;
		struct sim_write_job job;
	} table[] = {
		{ "dd if=/dev/zero of=/mnt/test/f bs=1M count=700",
		  { .block_bytes = 1 << 20, .count = 700, .truncate = true } },
		{ "dd if=/root/f of=/mnt/test/d/f bs=1M conv=fsync",
		  { .block_bytes = 1 << 20, .count = 64, .truncate = true, .sync_end = true } },
		{ "dd of=/mnt/test/f bs=64k count=2 seek=3 oflag=direct",
		  { .block_bytes = 65536, .count = 2, .seek_bytes = 196608, .direct = true } },
		{ "dd of=/mnt/test/f obs=4k count=8192B conv=notrunc,fdatasync oflag=dsync",
		  { .block_bytes = 4096, .count = 2, .sync_each = true, .sync_end = true } },
		{ "dd of=/mnt/test/f bs=4k count=1 seek=10B oflag=seek_bytes status=none",
		  { .block_bytes = 4096, .count = 1, .seek_bytes = 10 } },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		struct sim_workload workload = parse(table[i].command, &around);
		const struct sim_write_job *job = &workload.jobs[0].write;

		cr_assert_eq(workload.jobs[0].kind, SIM_JOB_WRITE, "%s", table[i].command);
		cr_expect_eq(job->block_bytes, table[i].job.block_bytes, "%s", table[i].command);
		cr_expect_eq(job->count, table[i].job.count, "%s", table[i].command);
		cr_expect_eq(job->seek_bytes, table[i].job.seek_bytes, "%s", table[i].command);
		cr_expect_eq(job->truncate, table[i].job.truncate, "%s", table[i].command);
		cr_expect_eq(job->direct, table[i].job.direct, "%s", table[i].command);
		cr_expect_eq(job->sync_each, table[i].job.sync_each, "%s", table[i].command);
		cr_expect_eq(job->sync_end, table[i].job.sync_end, "%s", table[i].command);
		cr_expect_str_eq(job->file, strstr(table[i].command, "d/f") ? "d/f" : "f");
	}
}

Test(workload, a_dd_that_writes_is_refused_when_it_makes_no_sense)
{
	static const char *const refused[] = {
		"dd if=/dev/zero of=/mnt/test/f bs=1M", /* how much? */
		"dd if=/mnt/test/a of=/mnt/test/b bs=1M count=1",
		"dd if=/dev/zero of=/mnt/test/f bs=0 count=1",
		"dd if=/dev/zero of=/mnt/test/f bs=1M count=0",
		"dd if=/dev/zero of=/mnt/test/f bs=1M count=1 conv=swab",
		"dd if=/dev/zero of=/mnt/test/f bs=1M count=1 oflag=append",
		"dd if=/dev/zero of=/mnt/test/f bs=3 count=4B",
		"dd if=/dev/zero of=/mnt/test/ bs=1 count=1",
		"dd if=/dev/zero of=/mnt/test/f bs=1M count=1 size=3",
	};
	const struct lab_surroundings around = { .mountpoint = "/mnt/test" };
	struct sim_workload workload;

	for (size_t i = 0; i < G_N_ELEMENTS(refused); i++)
		cr_assert_not(lab_workload_parse(refused[i], &around, &workload, NULL), "%s", refused[i]);
}

Test(workload, a_fio_job_file_is_read_group_by_group)
{
	char *directory = program_directory();
	const struct lab_surroundings around = { .directory = directory, .block_bytes = 1048576 };
	struct sim_workload workload;
	g_autoptr(GError) error = NULL;

	program_write(directory, "three.fio",
		      "; three jobs\n[global]\nbs=64k\nsize=1m\nfilename=f\n[seq]\nrw=read\n[rand]\nstonewall\n"
		      "rw=randread\nbs = 4k\n[beside]\nrw=write\n",
		      -1);
	program_write(directory, "bad.fio", "[global]\nfilename=f\nsize=1m\n\n[a]\nrw=read\nio_dept=4\n", -1);
	program_write(directory, "worse.fio", "[a]\nfilename=f\nsize=1q\n", -1);
	program_write(directory, "none.fio", "filename=f\n", -1);
	workload = parse("fio three.fio", &around);
	cr_assert_eq(workload.job_count, 3);
	cr_expect_eq(workload.jobs[0].fio.block_bytes, 65536);
	cr_expect_eq(workload.jobs[1].fio.pattern, SIM_RANDOM);
	cr_expect_eq(workload.jobs[1].fio.block_bytes, 4096);
	cr_expect_not(workload.jobs[1].fio.is_beside);
	cr_expect(workload.jobs[2].fio.is_beside);
	cr_expect_eq(workload.jobs[2].fio.direction, SIM_WRITING);
	cr_assert_not(lab_workload_parse("fio bad.fio", &around, &workload, &error));
	cr_expect(strstr(error->message, "bad.fio:7: [a] option 'io_dept' is not understood; nearest: iodepth"), "%s",
		  error->message);
	g_clear_error(&error);
	cr_assert_not(lab_workload_parse("fio worse.fio", &around, &workload, &error));
	cr_expect(strstr(error->message, "worse.fio:3: [a] size=1q: "), "%s", error->message);
	g_clear_error(&error);
	cr_assert_not(lab_workload_parse("fio none.fio", &around, &workload, &error));
	cr_expect(strstr(error->message, "none.fio:1: "), "%s", error->message);
	program_clean(directory);
}

Test(workload, what_cannot_be_simulated_is_refused_by_name)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{ "", "no command" },
		{ " ; ; ", "no command" },
		{ "ddd if=f", "ddd is not known" },
		{ "rm /etc/f", "not below the mount point /mnt" },
		{ "rm -r /mnt/f", "option -r" },
		{ "rm /mnt/f*", "* and ?" },
		{ "rm /mnt/$f", "no such variable" },
		{ "rm /mnt/f | cat", "'|' is not understood" },
		{ "sleep", "number of seconds" },
		{ "sleep -1", "number of seconds" },
		{ "for i in a b; do rm /mnt/$i; done", "only for NAME in" },
		{ "for i in $(seq 0); do rm /mnt/$i; done", "counts to nothing" },
		{ "for i in $(seq 3); do rm /mnt/$i", "'for' without 'done'" },
		{ "for i in $(seq 3); done", "nothing between" },
		{ "rm /mnt/a; done", "'done' without 'for'" },
		{ "for i in $(seq 3); do for j in $(seq 3); do rm /mnt/$i$j; done; done", "loop inside a loop" },
		{ "dd of=/mnt/f", "if= is missing" },
		{ "dd if=f bs=1M count=1 frob=3", "unrecognized operand 'frob=3'" },
		{ "dd if=f frob", "unrecognized operand 'frob'" },
		{ "dd if=f bs=1Q count=1", "invalid number: '1Q'" },
		{ "dd if=f bs=-1 count=1", "invalid number" },
		{ "dd if=f bs=0 count=1", "block size" },
		{ "dd if=f bs=1M count=0", "reads nothing" },
		{ "dd if=f bs=1M", "file_size" },
		{ "dd if=f bs=99999999T count=99999999T", "invalid number" },
		{ "dd if=f bs=1G count=9000000000000000", "too large" },
		{ "dd if=f bs=1M count=1 iflag=append", "invalid input flag: 'append'" },
		{ "dd if=f bs=1M count=100 iflag=count_bytes", "multiple" },
		{ "dd if=/ bs=1M count=1", "names no file" },
		{ "dd if='f bs=1M", "matching quote" },
		{ "cat", "no file" },
		{ "cat -n f", "'-n'" },
		{ "fio", "neither" },
		{ "fio nothing.fio", "No such file" },
		{ "fio rw=trim filename=f size=1m", "rw=trim" },
		{ "fio rw=randread:8k filename=f size=1m", "only sequential patterns" },
		{ "fio filename=f size=1m ioengine=windowsaio", "ioengine=windowsaio" },
		{ "fio filename=f size=1m numjobs=17", "numjobs must be 1 to 16" },
		{ "fio filename=f size=1m direct=2", "direct=2: must be 0 or 1" },
		{ "fio filename=f size=1m loops=3", "loops=3: only 1" },
		{ "fio filename=f size=1m time_based", "time_based needs runtime" },
		{ "fio filename=f size=1m rwmixread=101", "percentages" },
		{ "fio filename=f size=1m bsrange=4k-8k", "'bsrange'" },
		{ "fio rw=read size=1m", "filename is missing" },
		{ "fio rw=read filename=f size=1m iodepth=0", "iodepth must be 1 to 256" },
		{ "fio rw=read filename=f size=1m frob=1", "'frob'" },
		{ "fio rw=read filename=f size=1k bs=4k", "below one block" },
		{ "fio rw=read filename=f bs=4k", "file_size" },
	};
	const struct lab_surroundings around = { .directory = "/nonexistent", .block_bytes = 1048576 };

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct sim_workload workload;
		g_autoptr(GError) error = NULL;

		cr_assert_not(lab_workload_parse(cases[i].text, &around, &workload, &error), "%s", cases[i].text);
		cr_assert(strstr(error->message, cases[i].reason), "%s: %s", cases[i].text, error->message);
	}
}

Test(workload, a_mount_point_tells_share_and_other_files_apart)
{
	const struct lab_surroundings around = { .mountpoint = "/mnt/share", .block_bytes = 1048576 };
	struct sim_workload workload = parse("dd if=/mnt/share/dir/f of=/tmp/x bs=1M count=1", &around);
	static const char *const refused[] = { "dd if=/etc/passwd bs=1M count=1", "dd if=/mnt/shared/f bs=1M count=1",
					       "dd if=/mnt/share/f of=/mnt/share/g bs=1M count=1" };

	cr_assert_str_eq(workload.jobs[0].read.file, "dir/f");
	for (size_t i = 0; i < G_N_ELEMENTS(refused); i++)
		cr_assert_not(lab_workload_parse(refused[i], &around, &workload, NULL), "%s", refused[i]);
}

static char *cat_of(guint files)
{
	GString *text = g_string_new("cat");

	for (guint i = 0; i < files; i++)
		g_string_append_printf(text, " %u", i);
	return g_string_free(text, FALSE);
}

Test(workload, more_files_than_jobs_are_refused)
{
	const struct lab_surroundings around = { .file_bytes = 4096, .block_bytes = 1048576 };
	g_autofree char *most = cat_of(SIM_JOBS_MAX);
	g_autofree char *more = cat_of(SIM_JOBS_MAX + 1);
	struct sim_workload workload = parse(most, &around);

	cr_assert_eq(workload.job_count, SIM_JOBS_MAX);
	cr_assert_not(lab_workload_parse(more, &around, &workload, NULL));
}

Test(workload, shell_commands_and_readers_are_one_script)
{
	const struct lab_surroundings around = { .block_bytes = 1048576, .prepare = "mkdir /mnt/d; sleep 1.5" };
	struct sim_workload workload = parse("touch /mnt/d/a; dd if=/mnt/d/big of=/dev/null bs=1M count=2; rm /mnt/d/a",
					     &around);

	cr_assert_eq(workload.job_count, 5);
	cr_assert_eq(workload.prepared, 2);
	cr_assert_eq(workload.jobs[0].command.kind, SMB_OPS_MKDIR);
	cr_assert_eq(workload.jobs[1].kind, SIM_JOB_SLEEP);
	cr_assert_eq(workload.jobs[1].sleep_ns, 1500000000);
	cr_assert_str_eq(workload.jobs[2].command.source, "d/a");
	cr_assert_str_eq(workload.jobs[3].read.file, "d/big", "one mount point for all of them");
	cr_assert_eq(workload.name_count, 0, "each name is made by a command before, or is a reader's");
}

Test(workload, a_loop_counts_in_names)
{
	const struct lab_surroundings around = { .block_bytes = 1048576, .file_bytes = 4096 };
	struct sim_workload workload = parse("for n in $(seq 3 7); do stat /mnt/f$n; cat /mnt/${n}x$n; done; "
					     "for i in {0..2}; do rm /mnt/f; done",
					     &around);

	cr_assert_eq(workload.loop_count, 2);
	cr_assert_eq(workload.loops[0].end, 2);
	cr_assert_eq(workload.loops[0].from, 3);
	cr_assert_eq(workload.loops[0].to, 7);
	cr_assert_eq(workload.loops[1].first, 2);
	cr_assert_eq(workload.loops[1].to, 2);
	cr_assert_str_eq(workload.jobs[0].command.source, "f*");
	cr_assert_str_eq(workload.jobs[1].read.file, "*x*");
	cr_assert_eq(workload.name_count, 2);
	cr_assert_eq(workload.names[0].from, 3);
	cr_assert_eq(workload.names[0].to, 7);
	cr_assert_eq(workload.names[0].bytes, 4096);
}

Test(workload, what_commands_need_is_assumed_unless_it_is_said_to_be_missing)
{
	const struct lab_surroundings around = {
		.block_bytes = 1048576,
		.files = "/mnt/given=1M;/mnt/other",
		.directories = "/mnt/many=1000",
		.missing = "/mnt/nix",
	};
	struct sim_workload workload = parse(
		"rm /mnt/nix; rm /mnt/given; ls /mnt/many; ls /mnt; stat /mnt/a/b; touch /mnt/x/y; touch /mnt/a/z; "
		"mv /mnt/m /mnt/n; rm /mnt/n; ln -s text /mnt/link; rmdir /mnt/e",
		&around);
	static const struct sim_name expected[] = {
		{ .path = "given", .bytes = 1 << 20 },
		{ .path = "other", .bytes = 10 },
		{ .path = "many", .is_directory = true, .entries = 1000 },
		{ .path = "", .is_directory = true, .entries = 10 },
		{ .path = "a/b", .bytes = 10 },
		{ .path = "x", .is_directory = true },
		{ .path = "m", .bytes = 10 },
		{ .path = "e", .is_directory = true },
	};

	cr_assert_eq(workload.name_count, G_N_ELEMENTS(expected));
	for (guint i = 0; i < G_N_ELEMENTS(expected); i++) {
		cr_expect_str_eq(workload.names[i].path, expected[i].path);
		cr_expect_eq(workload.names[i].is_directory, expected[i].is_directory, "%s", expected[i].path);
		cr_expect_eq(workload.names[i].bytes, expected[i].bytes, "%s", expected[i].path);
		cr_expect_eq(workload.names[i].entries, expected[i].entries, "%s", expected[i].path);
	}
}

Test(workload, a_file_that_is_read_is_as_large_as_its_reader_needs)
{
	const struct lab_surroundings around = { .block_bytes = 1048576 };
	struct sim_workload workload = parse("stat /mnt/a; dd if=/mnt/a of=/dev/null bs=1M count=3; stat /mnt/b",
					     &around);

	cr_assert_eq(workload.name_count, 1u);
	cr_expect_str_eq(workload.names[0].path, "b");
	cr_expect_eq(workload.jobs[1].read.file_bytes, 3u << 20);
}
