/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/keys.h"

#include "experiments/keys_faults.h"
#include "experiments/keys_special.h"
#include "protocol/wire/smb2.h"
#include "sim/world/nearest.h"

#include <stddef.h>
#include <string.h>

static const struct lab_choice page_sizes[] = {
	{ "4K", 4096 }, { "8K", 8192 }, { "16K", 16384 }, { "32K", 32768 }, { "64K", 65536 }, { NULL, 0 },
};
static const struct lab_choice interims[] = {
	{ "never", SMB_INTERIM_NEVER },
	{ "always", SMB_INTERIM_ALWAYS },
	{ "after", SMB_INTERIM_AFTER },
	{ NULL, 0 },
};
static const struct lab_choice dialects[] = {
	{ "2.0.2", SMB2_DIALECT_202 }, { "2.1", SMB2_DIALECT_210 },   { "3.0", SMB2_DIALECT_300 },
	{ "3.0.2", SMB2_DIALECT_302 }, { "3.1.1", SMB2_DIALECT_311 }, { NULL, 0 },
};

#define AT(storage_, field) .storage = LAB_STORE_##storage_, .offset = offsetof(struct sim_point, field)
#define MIRROR(field) .mirror = offsetof(struct sim_point, field)
#define SECOND 1e9
#define MIB 1048576.0
#define GIB 1073741824.0
#define COST_MAX (1 * SECOND)

static const struct lab_key keys_before_policies[] = {
	{ "experiment", "title", LAB_TEXT, "heading of the report", .hidden = true, .whole_file = true },
	{ "experiment", "include", LAB_TEXT,
	  "file with values for keys that are not given here (see calibrate --write)", .hidden = true,
	  .whole_file = true },
	{ "experiment", "repeat", LAB_COUNT, "runs per point, with seeds seed, seed+1, ...", .min = 1, .max = 1000,
	  .hidden = true, .whole_file = true },
	{ "experiment", "wall_limit", LAB_TIME, "wall time after which one point is given up", .min = 1e6,
	  .max = 1e6 * SECOND, .hidden = true, .whole_file = true },
	{ "experiment", "seed", LAB_COUNT, "seed of loss, jitter and random offsets", AT(U64, seed) },
	{ "experiment", "time_limit", LAB_TIME, "simulated time after which one point is given up", .zero = "unset",
	  .min = 1e6, .max = 1e6 * SECOND, AT(U64, time_limit_ns) },
	{ "client", "kernel", LAB_TEXT, "the era whose policies the client follows (list eras)", .set = lab_set_kernel,
	  .fallback = LAB_DEFAULT_KERNEL },
};

static const struct lab_key keys_after_policies[] = {
	{ "client", "page_size", LAB_CHOICE, "memory page of the client", .choices = page_sizes, AT(U32, page_bytes) },
	{ "client", "mount", LAB_TEXT, "mount option string, as typed or as in /proc/mounts", .set = lab_set_mount,
	  .fallback = LAB_DEFAULT_MOUNT },
	{ "client", "vers", LAB_TEXT, "mount option vers=, in place of the string's", .set = lab_set_mount_vers,
	  .fallback = "unset" },
	{ "client", "rsize", LAB_SIZE, "mount option rsize=, in place of the string's", .zero = "unset", .max = GIB,
	  .set = lab_set_mount_size, AT(U32, mount.rsize) },
	{ "client", "wsize", LAB_SIZE, "mount option wsize=, in place of the string's", .zero = "unset", .max = GIB,
	  .set = lab_set_mount_size, AT(U32, mount.wsize) },
	{ "client", "rasize", LAB_SIZE, "mount option rasize=, in place of the string's", .zero = "unset", .max = GIB,
	  .set = lab_set_mount_size, AT(U32, mount.rasize) },
	{ "client", "max_channels", LAB_COUNT, "mount options multichannel,max_channels=, in place of the string's",
	  .min = 1, .max = SMB_MOUNT_CHANNELS_MAX, .set = lab_set_mount_channels, AT(U32, mount.max_channels) },
	{ "client", "memory", LAB_SIZE,
	  "memory that may be dirty: writeback starts at 10 % of it, writers wait before 20 %", .min = MIB,
	  .max = 1024 * GIB, AT(U64, client_memory_bytes) },
	{ "client", "clients", LAB_COUNT, "client hosts, each with NICs and links of its own; all run the workload",
	  .min = 1, .max = SIM_CLIENTS_MAX, AT(U32, clients) },
	{ "client", "cores", LAB_COUNT, "processor cores of the client host", .min = 1, .max = 1024,
	  AT(U32, client_cores) },
	{ "client", "costs", LAB_TEXT, "file whose [client] section has cost.* values (see calibrate --write)",
	  .set = lab_set_costs, .hidden = true },
	{ "client", "cost.request_cpu", LAB_TIME, "client CPU per request: build, send, finish the answer",
	  .max = COST_MAX, AT(DOUBLE, client_costs.request_cpu_ns) },
	{ "client", "cost.receive_cpu", LAB_NUMBER, "client CPU, ns per byte from socket to page cache", .max = 1e6,
	  AT(DOUBLE, client_costs.receive_cpu_ns_per_byte) },
	{ "client", "cost.send_cpu", LAB_NUMBER, "client CPU, ns per byte from page cache to socket", .max = 1e6,
	  AT(DOUBLE, client_costs.send_cpu_ns_per_byte) },
	{ "client", "cost.copy_cpu", LAB_NUMBER, "client CPU, ns per byte from page cache to application", .max = 1e6,
	  AT(DOUBLE, client_costs.copy_cpu_ns_per_byte) },
	{ "client", "cost.page_cpu", LAB_TIME, "client CPU per page brought into the page cache", .max = COST_MAX,
	  AT(DOUBLE, client_costs.page_cpu_ns) },
	{ "client", "cost.syscall_cpu", LAB_TIME, "client CPU per read or write call", .max = COST_MAX,
	  AT(DOUBLE, client_costs.syscall_cpu_ns) },
	{ "client", "cost.command_cpu", LAB_TIME, "client CPU per shell command: fork, exec, exit", .max = COST_MAX,
	  AT(DOUBLE, client_costs.command_cpu_ns) },

	{ "server", "profile", LAB_TEXT, "what kind of server (list profiles), or a profile file",
	  .set = lab_set_profile, .fallback = LAB_DEFAULT_PROFILE },
	{ "server", "cores", LAB_COUNT, "processor cores of the server host", .min = 1, .max = 1024,
	  AT(U32, server_cores) },
	{ "server", "dialect_min", LAB_CHOICE, "lowest dialect the server speaks", .choices = dialects,
	  AT(U16, server.dialect_min) },
	{ "server", "dialect_max", LAB_CHOICE, "highest dialect the server speaks", .choices = dialects,
	  AT(U16, server.dialect_max) },
	{ "server", "max_transact", LAB_SIZE, "largest transaction", .min = 65536, .max = GIB,
	  AT(U32, server.max_transact) },
	{ "server", "max_read", LAB_SIZE, "largest READ", .min = 65536, .max = GIB, AT(U32, server.max_read) },
	{ "server", "max_write", LAB_SIZE, "largest WRITE", .min = 65536, .max = GIB, AT(U32, server.max_write) },
	{ "server", "capabilities", LAB_COUNT, "SMB2_GLOBAL_CAP_* bits offered, as a decimal number", .max = 127,
	  AT(U32, server.capabilities) },
	{ "server", "channels_max", LAB_COUNT, "connections per session", .min = 1, .max = 64,
	  AT(U32, server.channels_max) },
	{ "server", "async_credits", LAB_COUNT, "async requests per connection before it refuses more",
	  .zero = "unlimited", .max = 65535, AT(U32, server.async_credits) },
	{ "server", "credits_max", LAB_COUNT, "widest credit window", .min = 1, .max = 65535,
	  AT(U32, server.credits_max) },
	{ "server", "credits_initial_extra", LAB_COUNT, "NEGOTIATE grants 1 + this", .max = 65534,
	  AT(U32, server.credits_initial_extra) },
	{ "server", "credits_per_reply_max", LAB_COUNT, "most that one reply grants beyond its charge",
	  .zero = "unlimited", .max = 65535, AT(U32, server.credits_per_reply_max) },
	{ "server", "interim", LAB_CHOICE, "when READ and WRITE get STATUS_PENDING first", .choices = interims,
	  AT(U32, server.interim) },
	{ "server", "interim_after", LAB_TIME, "with interim=after: work longer than this", .max = 60 * SECOND,
	  AT(U64, server.interim_after_ns) },
	{ "server", "threads", LAB_COUNT, "pool of threads, or one process for all channels of a client",
	  .zero = "process", .max = 4096, AT(U32, server.threads) },
	{ "server", "aio", LAB_COUNT, "1: storage threads read and write; 0: the thread that serves the request",
	  .max = 1, AT(U32, server.aio) },
	{ "server", "storage_parallel", LAB_COUNT, "requests the storage serves at once", .zero = "unlimited",
	  .max = 65535, AT(U32, server.storage_parallel) },
	{ "server", "request_cpu", LAB_TIME, "server CPU per request", .max = COST_MAX,
	  AT(DOUBLE, server.request_cpu_ns) },
	{ "server", "receive_cpu", LAB_NUMBER, "server CPU, ns per byte received", .max = 1e6,
	  AT(DOUBLE, server.receive_cpu_ns_per_byte) },
	{ "server", "send_cpu", LAB_NUMBER, "server CPU, ns per byte sent", .max = 1e6,
	  AT(DOUBLE, server.send_cpu_ns_per_byte) },
	{ "server", "read_cpu", LAB_NUMBER, "server CPU, ns per byte from its page cache to a buffer", .max = 1e6,
	  AT(DOUBLE, server.read_cpu_ns_per_byte) },
	{ "server", "write_cpu", LAB_NUMBER, "server CPU, ns per byte from a buffer to its page cache", .max = 1e6,
	  AT(DOUBLE, server.write_cpu_ns_per_byte) },
	{ "server", "storage_latency", LAB_TIME, "storage: per READ or WRITE before its first byte", .max = 60 * SECOND,
	  AT(U64, server.storage_latency_ns) },
	{ "server", "storage_rate", LAB_SIZE, "storage: bytes per second, shared by all requests", .zero = "unlimited",
	  .min = 1024, AT(DOUBLE, server.storage_bytes_per_s) },

	{ "network", "preset", LAB_TEXT, "RTT and rate by name (list presets)", .set = lab_set_preset,
	  .fallback = "unset" },
	{ "network", "rtt", LAB_TIME, "round trip, both directions together; or the name of a preset, for its RTT",
	  .max = 10 * SECOND, .set = lab_set_rtt, AT(U64, network.rtt_ns) },
	{ "network", "rate", LAB_RATE, "rate of one NIC and of the wire behind it, headers included",
	  .zero = "unlimited", .min = 1e4, .max = 1e13, AT(U64, network.rate_bps) },
	{ "network", "loss", LAB_NUMBER, "probability that a segment is lost", .max = 0.5, AT(DOUBLE, network.loss) },
	{ "network", "jitter", LAB_TIME, "each segment is late by up to this, order kept", .max = 10 * SECOND,
	  AT(U64, network.jitter_ns) },
	{ "network", "nics", LAB_COUNT, "NICs on each side; the kernel spreads its channels over them", .min = 1,
	  .max = SIM_NICS_MAX, AT(U32, network.nics) },
	{ "network", "nic_rates", LAB_TEXT, "in place of nics and rate: one rate per NIC, as in 10Gbit;1Gbit",
	  .set = lab_set_nic_rates, .fallback = "unset" },
	{ "network", "nic_rss", LAB_TEXT, "one switch per NIC: without RSS it takes a single channel",
	  .set = lab_set_nic_rss, .fallback = "unset" },
	{ "network", "shared_host", LAB_BOOL, "client and server share one host with client.cores cores",
	  AT(BOOL, shared_host) },
	{ "network", "tcp.mss", LAB_SIZE, "payload per TCP segment", .min = 88, .max = 65495,
	  AT(U32, network.tcp[0].mss_bytes), MIRROR(network.tcp[1].mss_bytes) },
	{ "network", "tcp.header_bytes", LAB_SIZE, "charged on the wire per segment (netem 66, Ethernet 90)",
	  .max = 1000, AT(U32, network.tcp[0].header_bytes), MIRROR(network.tcp[1].header_bytes) },
	{ "network", "tcp.initial_window", LAB_COUNT, "segments before the first acknowledgement", .min = 1,
	  .max = 1000, AT(U32, network.tcp[0].initial_window), MIRROR(network.tcp[1].initial_window) },
	{ "network", "tcp.send_buffer", LAB_SIZE, "maximum of tcp_wmem, both sides", .min = 4096, .max = 4 * GIB,
	  AT(U64, network.tcp[0].send_buffer_bytes), MIRROR(network.tcp[1].send_buffer_bytes) },
	{ "network", "tcp.receive_buffer", LAB_SIZE, "maximum of tcp_rmem, both sides", .min = 4096, .max = 4 * GIB,
	  AT(U64, network.tcp[0].receive_buffer_bytes), MIRROR(network.tcp[1].receive_buffer_bytes) },
	{ "network", "tcp.server_nagle", LAB_BOOL, "Nagle on the server's side (the client's follows the mount)",
	  AT(BOOL, network.tcp[1].nagle) },
	{ "network", "tcp.slow_start_after_idle", LAB_BOOL, "sysctl tcp_slow_start_after_idle, both sides",
	  AT(BOOL, network.tcp[0].slow_start_after_idle), MIRROR(network.tcp[1].slow_start_after_idle) },
	{ "network", "tcp.cubic", LAB_BOOL, "CUBIC; false = Reno", AT(BOOL, network.tcp[0].cubic),
	  MIRROR(network.tcp[1].cubic) },

	{ "faults", "cut", LAB_TEXT, "CHANNEL@TIME;...: its connection ends, so long after the workload began",
	  .set = lab_set_faults, .fallback = "none" },
	{ "faults", "nic_down", LAB_TEXT, "NIC@TIME;...: no connection over it from then on", .set = lab_set_faults,
	  .fallback = "none" },
	{ "faults", "nic_up", LAB_TEXT, "NIC@TIME;...: it is back", .set = lab_set_faults, .fallback = "none" },

	{ "workload", "mountpoint", LAB_TEXT, "where the share is mounted; unset: a command's file is in its root",
	  .set = lab_set_mountpoint, .fallback = "unset", .hidden = true },
	{ "workload", "file_size", LAB_SIZE, "size of each file; needed = as large as its command reads", .max = 1e15,
	  .set = lab_set_file_size, .fallback = "needed" },
	{ "workload", "files", LAB_TEXT, "PATH[=SIZE];...: files that are on the share, for shell commands",
	  .set = lab_set_share, .fallback = "none" },
	{ "workload", "directories", LAB_TEXT, "PATH[=ENTRIES];...: directories that are there, with files file0, ...",
	  .set = lab_set_share, .fallback = "none" },
	{ "workload", "missing", LAB_TEXT, "PATH;...: what shell commands must not assume to be there",
	  .set = lab_set_share, .fallback = "none" },
	{ "workload", "prepare", LAB_TEXT, "commands on the same mount before anything is measured",
	  .set = lab_set_share, .fallback = "none" },
	{ "workload", "command", LAB_TEXT, "commands as typed, separated by ';' (list workloads)",
	  .set = lab_set_command, .fallback = "unset" },
};

static struct lab_key table[LAB_KEYS_MAX];
static const char *dotted_names[LAB_KEYS_MAX];
static guint table_count;

static void table_append(const struct lab_key *rows, guint count)
{
	g_assert(table_count + count <= LAB_KEYS_MAX);
	for (guint i = 0; i < count; i++) {
		g_autofree char *dotted = g_strconcat(rows[i].section, ".", rows[i].name, NULL);

		table[table_count] = rows[i];
		dotted_names[table_count++] = g_intern_string(dotted);
	}
}

static void table_append_policy(const char *policy)
{
	g_autofree char *name = g_strconcat("policy.", policy, NULL);
	struct lab_key key = { "client", NULL, LAB_TEXT, "policy in place of the kernel's (list policies)",
			       .set = lab_set_policy };

	key.name = g_intern_string(name);
	table_append(&key, 1);
}

const struct lab_key *lab_keys(guint *count)
{
	if (table_count == 0) {
		const char *policy;

		table_append(keys_before_policies, G_N_ELEMENTS(keys_before_policies));
		for (size_t i = 0; (policy = smb_policy_name(i)); i++)
			table_append_policy(policy);
		table_append(keys_after_policies, G_N_ELEMENTS(keys_after_policies));
	}
	if (count)
		*count = table_count;
	return table;
}

const char *lab_key_dotted(guint index)
{
	guint count;

	lab_keys(&count);
	g_assert(index < count);
	return dotted_names[index];
}

int lab_key_find_dotted(const char *dotted)
{
	guint count;

	lab_keys(&count);
	for (guint i = 0; i < count; i++)
		if (!strcmp(dotted_names[i], dotted))
			return (int)i;
	return -1;
}

int lab_key_find(const char *section, const char *name)
{
	g_autofree char *dotted = g_strconcat(section, ".", name, NULL);

	return lab_key_find_dotted(dotted);
}

const char *lab_key_nearest(const char *dotted)
{
	guint count;

	lab_keys(&count);
	return sim_nearest(dotted, dotted_names, count);
}

char *lab_key_words(guint index)
{
	const struct lab_key *key = &lab_keys(NULL)[index];
	const char *words;
	GString *text;

	if (key->set == lab_set_policy) {
		words = smb_policy_values(key->name + strlen("policy."));
		return words ? g_strdup(words) : NULL;
	}
	if (!key->choices)
		return NULL;
	text = g_string_new(NULL);
	for (const struct lab_choice *choice = key->choices; choice->word; choice++)
		g_string_append_printf(text, "%s%s", text->len ? "|" : "", choice->word);
	return g_string_free(text, FALSE);
}
