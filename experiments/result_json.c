/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "experiments/result_json.h"

#include <json-glib/json-glib.h>
#include <stddef.h>
#include <string.h>

enum kind { U16, U32, U64, I64, DOUBLE };
struct field {
	const char *name;
	enum kind kind;
	size_t offset;
};

#define FIELD(struct_, kind_, field_)                                                                                  \
	{                                                                                                              \
#field_, kind_, offsetof(struct struct_, field_)                                                       \
	}
static const struct field result_fields[] = {
	FIELD(sim_result, U32, outcome),
	FIELD(sim_result, DOUBLE, seconds),
	FIELD(sim_result, DOUBLE, mount_seconds),
	FIELD(sim_result, U64, bytes),
	FIELD(sim_result, DOUBLE, throughput_MBps),
	FIELD(sim_result, U32, clients),
	FIELD(sim_result, DOUBLE, slowest_client),
	FIELD(sim_result, DOUBLE, fastest_client),
	FIELD(sim_result, DOUBLE, fairness),
	FIELD(sim_result, U64, commands),
	FIELD(sim_result, U64, command_failures),
	FIELD(sim_result, U64, pairs),
	FIELD(sim_result, U64, pdus),
	FIELD(sim_result, U64, pdu_events),
	FIELD(sim_result, I64, credits_min),
	FIELD(sim_result, U32, inflight_max),
	FIELD(sim_result, U64, inflight_max_bytes),
	FIELD(sim_result, U64, read_io_bytes),
	FIELD(sim_result, U64, violations),
	FIELD(sim_result, U32, rsize),
	FIELD(sim_result, U32, ra_pages),
	FIELD(sim_result, U32, channels),
	FIELD(sim_result, U32, reconnects),
	FIELD(sim_result, U64, stall_max_ns),
	FIELD(sim_result, U64, reader_time.wire_ns),
	FIELD(sim_result, U64, reader_time.server_ns),
	FIELD(sim_result, U64, reader_time.request_ns),
	FIELD(sim_result, U64, reader_time.credits_ns),
	FIELD(sim_result, U64, reader_time.nothing_ns),
	FIELD(sim_result, U64, reader_time.client_cpu_ns),
};
static const struct field job_fields[] = {
	FIELD(sim_job_result, U64, runs),     FIELD(sim_job_result, U64, failures),
	FIELD(sim_job_result, U64, spent_ns), FIELD(sim_job_result, U64, longest_ns),
	FIELD(sim_job_result, U64, pairs),    FIELD(sim_job_result, U32, error),
	FIELD(sim_job_result, U64, bytes),
};
/* Samples are arrays in this order, since there are many. */
static const struct field sample_fields[] = {
	FIELD(sim_sample, U64, when_ns),	 FIELD(sim_sample, U32, reads_in_flight),
	FIELD(sim_sample, U64, bytes_in_flight), FIELD(sim_sample, I64, credits[0]),
	FIELD(sim_sample, I64, credits[1]),	 FIELD(sim_sample, I64, credits[2]),
	FIELD(sim_sample, I64, credits[3]),	 FIELD(sim_sample, U64, bytes_done),
};
static const struct field violation_fields[] = {
	FIELD(smb_violation, U32, rule),    FIELD(smb_violation, U64, event),	   FIELD(smb_violation, U64, when_ns),
	FIELD(smb_violation, U32, channel), FIELD(smb_violation, U64, message_id), FIELD(smb_violation, U16, command),
};

static void field_write(JsonBuilder *builder, const struct field *field, const void *base)
{
	const void *at = (const char *)base + field->offset;

	switch (field->kind) {
	case U16:
		json_builder_add_int_value(builder, *(const uint16_t *)at);
		break;
	case U32:
		json_builder_add_int_value(builder, *(const uint32_t *)at);
		break;
	case U64:
		json_builder_add_int_value(builder, (gint64) * (const uint64_t *)at);
		break;
	case I64:
		json_builder_add_int_value(builder, *(const int64_t *)at);
		break;
	case DOUBLE:
		json_builder_add_double_value(builder, *(const double *)at);
		break;
	}
}

static void field_read(JsonNode *node, const struct field *field, void *base)
{
	void *at = (char *)base + field->offset;

	switch (field->kind) {
	case U16:
		*(uint16_t *)at = (uint16_t)json_node_get_int(node);
		break;
	case U32:
		*(uint32_t *)at = (uint32_t)json_node_get_int(node);
		break;
	case U64:
		*(uint64_t *)at = (uint64_t)json_node_get_int(node);
		break;
	case I64:
		*(int64_t *)at = json_node_get_int(node);
		break;
	case DOUBLE:
		*(double *)at = json_node_get_double(node);
		break;
	}
}

static void row_write(JsonBuilder *builder, const struct field *fields, guint count, const void *base)
{
	json_builder_begin_array(builder);
	for (guint i = 0; i < count; i++)
		field_write(builder, &fields[i], base);
	json_builder_end_array(builder);
}

static bool row_read(JsonArray *array, const struct field *fields, guint count, void *base)
{
	if (!array || json_array_get_length(array) < count)
		return false;
	for (guint i = 0; i < count; i++)
		field_read(json_array_get_element(array, i), &fields[i], base);
	return true;
}

static void violations_write(JsonBuilder *builder, const struct sim_result *result)
{
	json_builder_set_member_name(builder, "violation");
	json_builder_begin_array(builder);
	for (uint32_t i = 0; i < result->violation_count; i++) {
		row_write(builder, violation_fields, G_N_ELEMENTS(violation_fields), &result->violation[i]);
		json_builder_add_string_value(builder, result->violation[i].text);
	}
	json_builder_end_array(builder);
}

char *lab_result_to_json(const struct sim_result *result)
{
	g_autoptr(JsonBuilder) builder = json_builder_new();
	g_autoptr(JsonNode) root = NULL;

	json_builder_begin_object(builder);
	for (guint i = 0; i < G_N_ELEMENTS(result_fields); i++) {
		json_builder_set_member_name(builder, result_fields[i].name);
		field_write(builder, &result_fields[i], result);
	}
	json_builder_set_member_name(builder, "failure");
	json_builder_add_string_value(builder, result->failure);
	json_builder_set_member_name(builder, "reads_per_channel");
	json_builder_begin_array(builder);
	for (guint i = 0; i < SMB_MOUNT_CHANNELS_MAX; i++)
		json_builder_add_int_value(builder, (gint64)result->reads_per_channel[i]);
	json_builder_end_array(builder);
	json_builder_set_member_name(builder, "jobs");
	json_builder_begin_array(builder);
	for (uint32_t i = 0; i < result->job_count; i++) {
		row_write(builder, job_fields, G_N_ELEMENTS(job_fields), &result->jobs[i]);
		json_builder_add_string_value(builder, result->jobs[i].what);
		json_builder_add_string_value(builder, result->jobs[i].sequence);
	}
	json_builder_end_array(builder);
	violations_write(builder, result);
	json_builder_set_member_name(builder, "samples");
	json_builder_begin_array(builder);
	for (uint32_t i = 0; i < result->sample_count; i++)
		row_write(builder, sample_fields, G_N_ELEMENTS(sample_fields), &result->samples[i]);
	json_builder_end_array(builder);
	json_builder_end_object(builder);
	root = json_builder_get_root(builder);
	return json_to_string(root, FALSE);
}

static JsonArray *array_of(JsonObject *object, const char *name)
{
	JsonNode *node = json_object_get_member(object, name);

	return node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

static JsonArray *array_in(JsonArray *array, guint index)
{
	JsonNode *node = json_array_get_element(array, index);

	return JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

static bool text_read(JsonArray *array, guint index, char *text, gsize size)
{
	JsonNode *node = json_array_get_element(array, index);
	const char *read = JSON_NODE_HOLDS_VALUE(node) ? json_node_get_string(node) : NULL;

	g_strlcpy(text, read ? read : "", size);
	return read != NULL;
}

static bool arrays_read(JsonObject *object, struct sim_result *result)
{
	JsonArray *channels = array_of(object, "reads_per_channel");
	JsonArray *violations = array_of(object, "violation");
	JsonArray *samples = array_of(object, "samples");
	JsonArray *jobs = array_of(object, "jobs");

	if (!jobs || json_array_get_length(jobs) / 3 > SIM_JOBS_MAX || !channels ||
	    json_array_get_length(channels) != SMB_MOUNT_CHANNELS_MAX || !violations || !samples ||
	    json_array_get_length(violations) / 2 > SIM_VIOLATIONS_MAX ||
	    json_array_get_length(samples) > SIM_SAMPLES_MAX)
		return false;
	for (guint i = 0; i < SMB_MOUNT_CHANNELS_MAX; i++)
		result->reads_per_channel[i] = (uint64_t)json_array_get_int_element(channels, i);
	for (guint i = 0; i + 1 < json_array_get_length(violations); i += 2) {
		struct smb_violation *violation = &result->violation[result->violation_count++];

		if (!row_read(array_in(violations, i), violation_fields, G_N_ELEMENTS(violation_fields), violation))
			return false;
		g_strlcpy(violation->text, json_array_get_string_element(violations, i + 1), sizeof(violation->text));
	}
	for (guint i = 0; i + 2 < json_array_get_length(jobs); i += 3) {
		struct sim_job_result *job = &result->jobs[result->job_count++];

		if (!row_read(array_in(jobs, i), job_fields, G_N_ELEMENTS(job_fields), job) ||
		    !text_read(jobs, i + 1, job->what, sizeof(job->what)) ||
		    !text_read(jobs, i + 2, job->sequence, sizeof(job->sequence)))
			return false;
	}
	for (guint i = 0; i < json_array_get_length(samples); i++)
		if (!row_read(array_in(samples, i), sample_fields, G_N_ELEMENTS(sample_fields),
			      &result->samples[result->sample_count++]))
			return false;
	return true;
}

static bool object_read(JsonObject *object, struct sim_result *result)
{
	JsonNode *failure = json_object_get_member(object, "failure");

	for (guint i = 0; i < G_N_ELEMENTS(result_fields); i++) {
		JsonNode *node = json_object_get_member(object, result_fields[i].name);

		if (!node || !JSON_NODE_HOLDS_VALUE(node))
			return false;
		field_read(node, &result_fields[i], result);
	}
	if (!failure || !JSON_NODE_HOLDS_VALUE(failure) || !json_node_get_string(failure))
		return false;
	g_strlcpy(result->failure, json_node_get_string(failure), sizeof(result->failure));
	return arrays_read(object, result);
}

bool lab_result_from_json(const char *json, struct sim_result *result, GError **error)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	JsonNode *root;

	memset(result, 0, sizeof(*result));
	if (!json_parser_load_from_data(parser, json, -1, error))
		return false;
	root = json_parser_get_root(parser);
	if (root && JSON_NODE_HOLDS_OBJECT(root) && object_read(json_node_get_object(root), result))
		return true;
	g_set_error(error, LAB_ERROR, LAB_ERROR_ENVIRONMENT, "a kept result is damaged; remove the result store");
	return false;
}
