/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Time and instructions per PDU for the traffic of a sequential reader: READs in flight on two channels, interim
 * responses, chains now and then. Beside it, in the same run, what decoding the headers alone costs. */
#include "protocol/monitor/monitor.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 64u
#define ROUNDS 20000u
#define CHANNELS 2u
#define READ_BYTES (1u << 20)
#define CHARGE 16u
#define FID ((struct smb2_file_id){ 3, 4 })

struct bench {
	struct smb_monitor *monitor;
	uint64_t ids[CHANNELS];
	uint64_t offset;
	uint64_t pdus;
	uint64_t headers; /* decoded by the bare loop */
	uint64_t violations;
};

static void complain(void *context, const struct smb_violation *violation)
{
	struct bench *bench = context;
	if (!bench->violations++)
		fprintf(stderr, "C%d: %s\n", violation->rule, violation->text);
}

/* Messages are built once; only ids and offsets change from PDU to PDU, so that encoding costs nothing here. */
struct built {
	uint8_t bytes[512];
	struct smb_pdu pdu;
};
static struct built read_request, read_interim, read_response;
static struct built create_request, create_response, negotiate_request, negotiate_response;

static void build(struct built *built, struct smb2_header header, struct smb2_message *message)
{
	message->header = header;
	if (smb2_message_encode(message, built->bytes, sizeof(built->bytes), &built->pdu) != SMB_WIRE_OK)
		abort();
}

static void build_all(void)
{
	static struct smb2_message m;
	const uint32_t reply = SMB2_FLAGS_SERVER_TO_REDIR;
	m = (struct smb2_message){ .kind = SMB2_BODY_NEGOTIATE_REQ };
	m.body.negotiate_req = (struct smb2_negotiate_req){ .dialect_count = 1, .dialects = { SMB2_DIALECT_302 } };
	build(&negotiate_request, (struct smb2_header){ .command = SMB2_NEGOTIATE, .credits = 1 }, &m);
	m = (struct smb2_message){ .kind = SMB2_BODY_NEGOTIATE_RSP };
	m.body.negotiate_rsp = (struct smb2_negotiate_rsp){ .dialect = SMB2_DIALECT_302,
							    .capabilities = SMB2_GLOBAL_CAP_LARGE_MTU,
							    .max_read_size = READ_BYTES };
	build(&negotiate_response, (struct smb2_header){ .command = SMB2_NEGOTIATE, .credits = 8000, .flags = reply },
	      &m);
	m = (struct smb2_message){ .kind = SMB2_BODY_CREATE_REQ };
	m.body.create_req.name = (struct smb_blob){ (const uint8_t *)"f\0i\0l\0e\0", 8 };
	build(&create_request,
	      (struct smb2_header){ .command = SMB2_CREATE, .credits = 1, .credit_charge = 1, .message_id = 1 }, &m);
	m = (struct smb2_message){ .kind = SMB2_BODY_CREATE_RSP };
	m.body.create_rsp = (struct smb2_create_rsp){ .create_action = 1, .file_id = FID };
	build(&create_response,
	      (struct smb2_header){ .command = SMB2_CREATE, .credits = 1, .flags = reply, .message_id = 1 }, &m);
	m = (struct smb2_message){ .kind = SMB2_BODY_READ_REQ };
	m.body.read_req = (struct smb2_read_req){ .length = READ_BYTES, .file_id = FID };
	build(&read_request, (struct smb2_header){ .command = SMB2_READ, .credits = CHARGE, .credit_charge = CHARGE },
	      &m);
	m = (struct smb2_message){ .kind = SMB2_BODY_ERROR_RSP };
	build(&read_interim,
	      (struct smb2_header){ .command = SMB2_READ,
				    .credits = CHARGE,
				    .status = STATUS_PENDING,
				    .flags = reply | SMB2_FLAGS_ASYNC_COMMAND },
	      &m);
	m = (struct smb2_message){ .kind = SMB2_BODY_READ_RSP };
	m.body.read_rsp = (struct smb2_read_rsp){ .data_length = READ_BYTES,
						  .payload = { .source = 7, .length = READ_BYTES } };
	build(&read_response, (struct smb2_header){ .command = SMB2_READ, .flags = reply | SMB2_FLAGS_ASYNC_COMMAND },
	      &m);
}

static void set64(uint8_t *bytes, uint64_t value)
{
	memcpy(bytes, &value, sizeof(value));
}

static void sent(struct bench *bench, uint32_t channel, const struct built *built)
{
	bench->pdus++;
	if (bench->monitor)
		smb_monitor_sent(bench->monitor, channel, &built->pdu, 0);
	else {
		struct smb2_header header;
		uint32_t next;
		bench->headers += smb2_header_decode(built->bytes, built->pdu.length, &header, &next) == SMB_WIRE_OK;
	}
}

static void received(struct bench *bench, uint32_t channel, const struct built *built)
{
	bench->pdus++;
	if (bench->monitor)
		smb_monitor_received(bench->monitor, channel, &built->pdu, 0);
	else {
		struct smb2_header header;
		uint32_t next;
		bench->headers += smb2_header_decode(built->bytes, built->pdu.length, &header, &next) == SMB_WIRE_OK;
	}
}

static void open_file(struct bench *bench)
{
	for (uint32_t i = 0; i < CHANNELS; i++) {
		if (bench->monitor)
			smb_monitor_connected(bench->monitor, i, 0);
		sent(bench, i, &negotiate_request);
		received(bench, i, &negotiate_response);
		bench->ids[i] = 1;
	}
	sent(bench, 0, &create_request);
	received(bench, 0, &create_response);
	bench->ids[0]++;
}

/* DEPTH READs in turn on the channels, then their answers: interim and final. */
static void round_of_reads(struct bench *bench)
{
	uint64_t id[DEPTH];
	for (uint32_t i = 0; i < DEPTH; i++) {
		uint32_t channel = i % CHANNELS;
		id[i] = bench->ids[channel];
		bench->ids[channel] += CHARGE;
		set64(read_request.bytes + 24, id[i]);
		set64(read_request.bytes + 64 + 8, bench->offset + (uint64_t)i * READ_BYTES);
		sent(bench, channel, &read_request);
		set64(read_interim.bytes + 24, id[i]);
		set64(read_interim.bytes + 32, id[i]);
		received(bench, channel, &read_interim);
	}
	for (uint32_t i = 0; i < DEPTH; i++) {
		set64(read_response.bytes + 24, id[i]);
		set64(read_response.bytes + 32, id[i]);
		read_response.pdu.payload.offset = bench->offset + (uint64_t)i * READ_BYTES;
		received(bench, i % CHANNELS, &read_response);
		if (bench->monitor)
			smb_monitor_application_read(bench->monitor, "file", read_response.pdu.payload.offset,
						     read_response.pdu.payload, false, 0);
	}
	bench->offset += (uint64_t)DEPTH * READ_BYTES;
}

static int instructions_open(void)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
}

static uint64_t instructions_read(int counter)
{
	uint64_t count = 0;
	if (counter < 0 || read(counter, &count, sizeof(count)) != sizeof(count))
		return 0;
	return count;
}

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double run(const char *name, struct bench *bench, int counter)
{
	open_file(bench);
	uint64_t instructions = instructions_read(counter);
	double start = seconds();
	uint64_t pdus = bench->pdus;
	for (uint32_t i = 0; i < ROUNDS; i++)
		round_of_reads(bench);
	double ns = (seconds() - start) * 1e9;
	pdus = bench->pdus - pdus;
	instructions = instructions_read(counter) - instructions;
	printf("%-24s %8.1f ns per PDU", name, ns / (double)pdus);
	if (instructions)
		printf(", %6.0f instructions", (double)instructions / (double)pdus);
	printf(" (%llu PDUs)\n", (unsigned long long)pdus);
	return ns;
}

int main(void)
{
	const struct smb_monitor_limits limits = {
		.channels = CHANNELS, .requests = 1024, .files = 16, .window = 65536
	};
	const struct smb_monitor_expect expect = {
		.max_credits = 32000, .rsize = READ_BYTES, .readahead_bytes = 32u << 20, .page_bytes = 4096
	};
	struct bench bare = { 0 }, judged = { 0 };
	int counter = instructions_open();

	build_all();
	double bare_ns = run("headers decoded", &bare, counter);
	judged.monitor = smb_monitor_init(malloc(smb_monitor_size(&limits)), &limits, &expect);
	smb_monitor_report_to(judged.monitor, complain, &judged);
	smb_monitor_file(judged.monitor, "file", 7, UINT64_MAX / 2);
	double judged_ns = run("judged by the monitor", &judged, counter);
	printf("ratio %.1f, block %zu bytes, %llu violations\n", judged_ns / bare_ns, smb_monitor_size(&limits),
	       (unsigned long long)judged.violations);
	free(judged.monitor);
	return bare.headers != bare.pdus || judged.violations;
}
