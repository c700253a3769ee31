/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_WORLD_WORLD_H
#define SIM_WORLD_WORLD_H

/**
 * One simulated run: the real client core, the simulated server and the engine, put together and measured.
 *
 * A run is a function of its `struct sim_point`: same point, same result, byte for byte. One run per process
 * (the engine's rule); a sweep forks. Time is simulated nanoseconds; MB is 10^6 bytes.
 */

#include "protocol/client/mount_options.h"
#include "protocol/eras/policy.h"
#include "protocol/monitor/monitor.h"
#include "protocol/ops/ops.h"
#include "sim/engine/engine.h"
#include "sim/server/profile.h"

#include <glib.h>

/** What the client host's processors spend, fitted by `smblab calibrate` or taken from a profile. */
struct sim_client_costs {
	double request_cpu_ns; /* build and send one request, and finish its answer */
	double receive_cpu_ns_per_byte; /* socket to page cache */
	double send_cpu_ns_per_byte; /* page cache to socket */
	double copy_cpu_ns_per_byte; /* page cache to application, and back */
	double page_cpu_ns; /* per page brought into the page cache: allocation, lookup, unlock */
	double syscall_cpu_ns; /* per read(2) or write(2) */
	double command_cpu_ns; /* per shell command: fork, exec, exit */
};

#define SIM_NICS_MAX 16
struct sim_network {
	uint64_t rtt_ns;
	uint64_t rate_bps; /* of one NIC, headers included; 0 = no limit */
	uint64_t jitter_ns;
	double loss; /* per segment, [0, 1) */
	/* At most SIM_NICS_MAX; the server's interfaces, NIC i is the one with IfIndex i + 1. The first channel uses NIC 0,
	 * the client's era decides where the others go. */
	uint32_t nics;
	uint64_t nic_rate_bps[SIM_NICS_MAX]; /* 0 = rate_bps */
	bool nic_without_rss[SIM_NICS_MAX]; /* takes one channel only */
	struct sim_tcp_options tcp[2]; /* client's, server's; Nagle of the client follows the mount's tcpnodelay */
};

/** One application: open the file, read it call by call, close it. */
struct sim_read_job {
	char file[SMB_MOUNT_TEXT_MAX]; /* relative to the share */
	uint64_t file_bytes; /* size the file is made with */
	uint64_t block_bytes; /* per read(2) */
	uint64_t count; /* calls; 0 = until end of file */
	uint64_t skip_bytes; /* first offset */
	bool direct; /* iflag=direct: past the page cache */
};

/** One application: open a file for writing, write it call by call, close it. */
struct sim_write_job {
	char file[SMB_MOUNT_TEXT_MAX]; /* relative to the share; made if it is not there */
	uint64_t block_bytes; /* per write(2) */
	uint64_t count; /* calls */
	uint64_t seek_bytes; /* first offset */
	bool truncate; /* O_TRUNC */
	bool direct; /* O_DIRECT */
	bool sync_each; /* fsync(2) after each call */
	bool sync_end; /* and after the last one */
};

enum sim_pattern { SIM_SEQUENTIAL, SIM_STRIDED, SIM_RANDOM };
enum sim_direction { SIM_READING, SIM_WRITING, SIM_MIXED };

#define SIM_FIO_DEPTH_MAX 256
#define SIM_FIO_COPIES_MAX 16

/** A job of fio: threads that keep several calls under way on a file that is there. */
struct sim_fio_job {
	char file[SMB_MOUNT_TEXT_MAX]; /* relative to the share */
	uint64_t file_bytes;
	enum sim_direction direction;
	uint32_t read_percent; /* SIM_MIXED */
	enum sim_pattern pattern;
	uint64_t stride_bytes; /* SIM_STRIDED: distance between the starts of two calls */
	uint64_t block_bytes;
	uint64_t offset_bytes; /* where the first copy's region begins */
	uint64_t offset_increment_bytes; /* and how much later each further copy's */
	uint64_t region_bytes;
	uint64_t calls; /* of each copy */
	uint64_t random_seed;
	bool may_repeat; /* SIM_RANDOM: blocks are drawn; else each comes once before any comes again */
	uint32_t copies; /* threads, 1 to SIM_FIO_COPIES_MAX */
	uint32_t depth; /* calls under way per copy, 1 to SIM_FIO_DEPTH_MAX */
	bool direct;
	uint64_t fsync_every; /* so many writes; 0 = never */
	bool fsync_end;
	uint64_t rate_bytes_per_s[2]; /* of each copy, reading and writing; 0 = no limit */
	uint64_t think_ns; /* pause after each think_blocks calls */
	uint64_t think_blocks; /* >= 1 */
	uint64_t runtime_ns; /* no call begins later; 0 = no limit */
	bool is_endless; /* from the start again until runtime_ns is over */
	bool is_beside; /* begins together with the job before it, which is one of fio too */
};

enum sim_job_kind {
	SIM_JOB_READ,
	SIM_JOB_WRITE,
	SIM_JOB_FIO,
	SIM_JOB_COMMAND, /* a shell command that is more than reading: touch, rm, ls, mount, ... */
	SIM_JOB_SLEEP, /* takes no part in the workload's time */
};

struct sim_job {
	enum sim_job_kind kind;
	union {
		struct sim_read_job read;
		struct sim_write_job write;
		struct sim_fio_job fio;
		struct smb_ops_command command;
		uint64_t sleep_ns;
	};
};

/** The shell's `for`: jobs `first` to `end` - 1 run one after another for each number from `from` to `to`. */
struct sim_loop {
	uint32_t first;
	uint32_t end;
	uint64_t from;
	uint64_t to;
};
/** In the names of a loop's jobs: the number. No name of SMB has such a character. */
#define SIM_LOOP_MARK '*'
/** In names of any job: the number of the client, from 0. */
#define SIM_CLIENT_MARK '?'

/** What is on the share before anybody mounts it, beside the files of read jobs. */
struct sim_name {
	char path[SMB_OPS_PATH_MAX]; /* relative to the share; parents come with it */
	bool is_directory;
	uint64_t bytes; /* of a file */
	uint64_t entries; /* of a directory: empty files file0, file1, ... */
	uint64_t from; /* where the path has SIM_LOOP_MARK: one for each number */
	uint64_t to;
};

#define SIM_JOBS_MAX 24
#define SIM_LOOPS_MAX 8
#define SIM_NAMES_MAX 40
struct sim_workload {
	uint32_t job_count; /* run one after another, as commands separated by ';' */
	uint32_t prepared; /* so many of them before anything is measured */
	struct sim_job jobs[SIM_JOBS_MAX];
	uint32_t loop_count;
	struct sim_loop loops[SIM_LOOPS_MAX]; /* in order, none inside another */
	uint32_t name_count;
	struct sim_name names[SIM_NAMES_MAX];
};

/** What goes wrong, and when, to the first client: nanoseconds after the workload began. Both sides notice a cut at once. */
enum sim_fault_kind {
	SIM_FAULT_CUT, /* the connection of channel `index` ends, if there is one */
	SIM_FAULT_NIC_DOWN, /* NIC `index`: its connections end, new ones time out, the server tells of it no more */
	SIM_FAULT_NIC_UP,
};
struct sim_fault {
	enum sim_fault_kind kind;
	uint32_t index;
	uint64_t when_ns;
};
#define SIM_FAULTS_MAX 32
#define SIM_CLIENTS_MAX 32
#define SIM_CONNECTIONS_MAX 64 /* of all clients together */

struct sim_point {
	struct smb_policy policy;
	struct smb_mount_options mount;
	uint32_t page_bytes;
	uint64_t client_memory_bytes; /* dirtyable: vm.dirty_ratio and vm.dirty_background_ratio are of this */
	uint32_t clients; /* 0 as 1; at most SIM_CLIENTS_MAX. Hosts like the first, each with NICs and links of its own;
			   * all run the workload, and what is measured begins at the same time */
	uint32_t client_cores;
	uint32_t server_cores;
	bool shared_host; /* client and server on one host with client_cores cores */
	struct sim_client_costs client_costs;
	struct smb_server_profile server;
	struct sim_network network;
	struct sim_workload workload;
	uint32_t fault_count;
	struct sim_fault faults[SIM_FAULTS_MAX]; /* in any order */
	uint64_t seed;
	bool monitor; /* on in every experiment; benchmarks compare */
	uint64_t time_limit_ns; /* simulated; a run that needs more has failed; 0 = a day */
};

enum sim_outcome {
	SIM_OUTCOME_FINISHED,
	SIM_OUTCOME_STUCK, /* nothing can proceed and the workload is not done */
	SIM_OUTCOME_TIME_LIMIT,
	SIM_OUTCOME_FAILED, /* an operation ended with an error; `failure` says which */
	SIM_OUTCOME_IMPOSSIBLE, /* the point makes no sense: the mount is refused, no channel can be opened, ... */
};

/** Where the reader's or writer's time went, in nanoseconds; the parts add up to the measured time of the workload. */
struct sim_reader_time {
	uint64_t wire_ns; /* blocked, and data for it was on the wire */
	uint64_t server_ns; /* blocked, and its request was at the server */
	uint64_t request_ns; /* blocked, and its request was on the way or held back (Nagle) */
	uint64_t credits_ns; /* blocked, waiting for credits */
	uint64_t nothing_ns; /* blocked, and nothing was in flight */
	uint64_t client_cpu_ns; /* running or waiting for the client's processor */
};

/** One sample of the run over time; kept evenly spaced, at most SIM_SAMPLES_MAX. */
struct sim_sample {
	uint64_t when_ns; /* since the workload began */
	uint32_t reads_in_flight;
	uint64_t bytes_in_flight;
	int64_t credits[4]; /* of channels 0 to 3, as the monitor counts them */
	uint64_t bytes_done; /* handed to the application */
};
#define SIM_SAMPLES_MAX 2048

/** One job of the workload, all its runs together. */
struct sim_job_result {
	char what[64]; /* "touch f*" */
	char sequence[320]; /* of a command's first run: "[CREATE+GETINFO+CLOSE] [CREATE+CLOSE]" */
	uint64_t runs;
	uint64_t failures; /* commands that ended with an error; the shell goes on */
	uint64_t spent_ns; /* first operation submitted to last one complete */
	uint64_t longest_ns; /* of one run */
	uint64_t pairs; /* answered while it ran */
	uint64_t bytes; /* of jobs of fio: read and written */
	enum smb_ops_error error; /* of the last failure */
};

#define SIM_VIOLATIONS_MAX 16
/** Of several clients: sums, the longest time, and the most and least of any one; channels and samples are the first's. */
struct sim_result {
	enum sim_outcome outcome;
	char failure[256];
	double seconds; /* of the workload: first operation submitted to last one complete; the mount that comes before
			 * it and sleeps are not included */
	double mount_seconds;
	uint64_t bytes; /* handed to the application */
	double throughput_MBps;
	uint64_t pairs; /* transport sends finally answered during the workload; a compound is one */
	uint64_t pdus; /* PDUs on the wire during the workload, both directions */
	uint64_t pdu_events; /* PDUs put on and taken off the wire, whole run */
	int64_t credits_min; /* lowest over channels and the workload's time, by the monitor's count */
	uint32_t inflight_max; /* READs and WRITEs */
	uint64_t inflight_max_bytes; /* of READs and WRITEs in flight */
	uint64_t read_io_bytes; /* length of most READs and WRITEs of the workload; 0 = none was sent */
	uint64_t violations;
	uint32_t violation_count; /* kept below */
	struct smb_violation violation[SIM_VIOLATIONS_MAX];
	uint32_t rsize; /* negotiated */
	uint32_t ra_pages;
	uint32_t channels; /* opened; one that comes back counts once */
	uint32_t reconnects; /* channels that came back after they had been lost */
	uint64_t stall_max_ns; /* the longest time the reader waited in one piece */
	struct sim_reader_time reader_time;
	uint32_t clients;
	double slowest_client; /* MB/s; of a workload that moves no bytes, commands per second */
	double fastest_client;
	double fairness; /* Jain's index of the clients' rates: 1 = all alike, 1/clients = one has everything */
	uint64_t commands; /* runs of jobs that were measured, sleeps aside */
	uint64_t command_failures;
	uint32_t job_count; /* as the workload's */
	struct sim_job_result jobs[SIM_JOBS_MAX];
	uint64_t reads_per_channel[SMB_MOUNT_CHANNELS_MAX]; /* READs and WRITEs */
	uint8_t nic_of_channel[SMB_MOUNT_CHANNELS_MAX]; /* of its last connection */
	uint32_t sample_count;
	struct sim_sample samples[SIM_SAMPLES_MAX];
	double wall_seconds; /* not part of the deterministic result */
};

/** Called for each PDU as it is put on the wire at its sender; for capture files and tests. */
typedef void (*sim_pdu_fn)(void *context, uint64_t when_ns, uint32_t channel, enum sim_side from,
			   const struct smb_pdu *pdu);
/** A job of the workload begins or has ended. */
struct sim_step {
	uint32_t job;
	uint64_t number; /* the loop's, 0 outside of loops */
	bool has_ended;
	enum smb_ops_error error; /* ended: how */
};
typedef void (*sim_step_fn)(void *context, uint64_t when_ns, const struct sim_step *step);
/** Each function may be NULL. */
struct sim_trace {
	sim_pdu_fn pdu;
	void *context;
	sim_pdu_fn received; /* as `pdu`, when the client has it: answers only */
	sim_step_fn step;
};

/** Sensible values for everything: kernel 6.1, samba-4.17 values left to the caller's profile, lan-10g network. */
void sim_point_init(struct sim_point *point);
/** Run it. False only for an environment error (no memory, SimGrid cannot start); whatever the simulated world does
 *  is told in result->outcome. `trace` may be NULL. */
bool sim_world_run(const struct sim_point *point, const struct sim_trace *trace, struct sim_result *result,
		   GError **error);
const char *sim_outcome_name(enum sim_outcome outcome);

/** Named networks: localhost, lan-1g, lan-10g, metro, transatlantic, transpacific. */
struct sim_network_preset {
	const char *name;
	const char *tells;
	uint64_t rtt_ns;
	uint64_t rate_bps;
};
const struct sim_network_preset *sim_network_presets(size_t *count);

#endif
