/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * What is read and in which pieces: C27, C30, C31.
 *
 * C27 compares slices: what a READ response carries and what the application was handed must be the registered
 * content. What the application writes, a WRITE or SET_INFO to a file, or a CREATE that makes or empties it, ends that
 * until the host names the content again; data in real bytes is not compared.
 *
 * C30 sees no page cache, only READs and what the application got. Adjoining READs of one file form a run. Within it,
 * "ahead" is the end of the READ minus the highest byte handed out (or the start of the run, whichever is more), and
 * may reach two readahead windows and one request: the largest of rsize, of expect.request_bytes and of what was
 * handed out at once. A READ elsewhere starts a new run, so random and strided readers are never blamed, but a client
 * that leaves holes in its readahead is not either.
 */
#include "protocol/monitor/state.h"

/* A read() larger than ra_pages raises the window to io_pages of the device, 128 KiB by default (mm 6.1,
 * ondemand_readahead). */
#define DEVICE_WINDOW_BYTES (128u * 1024)

#define FILE_OPENED 1u /* CreateAction, MS-SMB2 2.2.14 */
#define FILE_RENAME_INFORMATION 10u /* MS-FSCC 2.4 */
#define FILE_ALLOCATION_INFORMATION 19u
#define FILE_END_OF_FILE_INFORMATION 20u

static void size_check(struct smb_monitor *monitor, const struct monitor_channel *channel, uint32_t bytes,
		       uint32_t limit)
{
	if (!channel->multi_credit && limit > SMB2_CREDIT_UNIT)
		limit = SMB2_CREDIT_UNIT;
	if (bytes > limit)
		monitor_report(monitor, SMB_RULE_C31, "%u bytes where the connection allows %u", bytes, limit);
}

void monitor_sizes_check(struct smb_monitor *monitor, const struct monitor_channel *channel,
			 const struct smb2_message *message)
{
	if (!channel->negotiated)
		return;
	if (message->kind == SMB2_BODY_READ_REQ)
		size_check(monitor, channel, message->body.read_req.length, channel->max_read);
	else if (message->kind == SMB2_BODY_WRITE_REQ)
		size_check(monitor, channel, message->body.write_req.data_length, channel->max_write);
}

static uint64_t ahead_limit(const struct smb_monitor *monitor)
{
	uint64_t request = monitor->expect.rsize;
	if (request < monitor->expect.request_bytes)
		request = monitor->expect.request_bytes;
	if (request < monitor->largest_application_read)
		request = monitor->largest_application_read;
	uint64_t window = monitor->expect.readahead_bytes;
	bool may_exceed = !monitor->expect.request_bytes || monitor->expect.request_bytes > window;
	if (may_exceed && window < DEVICE_WINDOW_BYTES)
		window = DEVICE_WINDOW_BYTES;
	return 2 * window + request;
}

static void ahead_check(struct smb_monitor *monitor, struct monitor_file *file, uint64_t offset, uint64_t end)
{
	bool adjoins = offset <= file->requested_end && offset >= file->handed_end;
	if (!adjoins) {
		file->run_start = offset;
		file->handed_end = offset;
		file->requested_end = end;
	}
	if (file->requested_end < end)
		file->requested_end = end;
	if (monitor->expect.readahead_bytes && end - file->handed_end > ahead_limit(monitor))
		monitor_report(monitor, SMB_RULE_C30, "READ up to %llu with the reader at %llu, %llu ahead are allowed",
			       (unsigned long long)end, (unsigned long long)file->handed_end,
			       (unsigned long long)ahead_limit(monitor));
}

void monitor_read_sent(struct smb_monitor *monitor, uint32_t slot, const struct smb2_read_req *read)
{
	struct monitor_request *request = monitor_request_at(monitor, slot);
	uint32_t rsize = monitor->expect.rsize;

	request->offset = read->offset;
	request->length = read->length;
	monitor_channel_at(monitor, request->channel)->read_bytes += read->length;
	if (rsize && read->length > rsize)
		monitor_report(monitor, SMB_RULE_C30, "READ of %u bytes, rsize is %u", read->length, rsize);
	request->handle = monitor_handle_find(monitor, read->file_id);
	if (request->handle == SLOT_NONE || read->offset > INT64_MAX)
		return;
	ahead_check(monitor, monitor_file_at(monitor, monitor_handle_at(monitor, request->handle)->file), read->offset,
		    read->offset + read->length);
	uint32_t other = monitor_read_link(monitor, slot);
	if (other == SLOT_NONE || !monitor->expect.page_bytes)
		return;
	const struct monitor_request *overlapped = monitor_request_at(monitor, other);
	monitor_report(monitor, SMB_RULE_C30, "READ %llu+%u while READ %llu+%u is under way",
		       (unsigned long long)read->offset, read->length, (unsigned long long)overlapped->offset,
		       overlapped->length);
}

/* Compare a slice that stands for bytes [offset, offset + length) with what the host put there. */
static void content_check(struct smb_monitor *monitor, const struct monitor_file *file, uint64_t offset,
			  const struct smb_slice *data)
{
	if (!data->length)
		return;
	if (offset > file->bytes || data->length > file->bytes - offset)
		monitor_report(monitor, SMB_RULE_C27, "%u bytes at %llu of a file of %llu", data->length,
			       (unsigned long long)offset, (unsigned long long)file->bytes);
	else if (data->source != file->source || (data->source && data->offset != offset))
		monitor_report(monitor, SMB_RULE_C27, "at %llu: bytes of source %llu from %llu, the file holds %llu",
			       (unsigned long long)offset, (unsigned long long)data->source,
			       (unsigned long long)data->offset, (unsigned long long)file->source);
}

void monitor_read_answered(struct smb_monitor *monitor, uint32_t slot, const struct smb2_header *header,
			   const struct smb_slice *payload)
{
	const struct monitor_request *request = monitor_request_at(monitor, slot);
	monitor_channel_at(monitor, request->channel)->read_bytes -= request->length;
	if (request->handle == SLOT_NONE)
		return;
	const struct monitor_file *file = monitor_file_at(monitor, monitor_handle_at(monitor, request->handle)->file);
	if (!file->known)
		return;
	if (header->status == STATUS_END_OF_FILE && request->offset < file->bytes)
		monitor_report(monitor, SMB_RULE_C27, "end of file told at %llu, the file has %llu bytes",
			       (unsigned long long)request->offset, (unsigned long long)file->bytes);
	if (payload->length > request->length)
		monitor_report(monitor, SMB_RULE_C27, "%u bytes came for a READ of %u", payload->length,
			       request->length);
	else if (header->status == STATUS_SUCCESS)
		content_check(monitor, file, request->offset, payload);
}

static bool changes_content(const struct smb2_message *message)
{
	if (message->kind == SMB2_BODY_WRITE_REQ)
		return true;
	if (message->kind != SMB2_BODY_SET_INFO_REQ || message->body.set_info_req.info_type != SMB2_O_INFO_FILE)
		return false;
	switch (message->body.set_info_req.file_info_class) {
	case FILE_RENAME_INFORMATION:
	case FILE_ALLOCATION_INFORMATION:
	case FILE_END_OF_FILE_INFORMATION:
		return true;
	default:
		return false;
	}
}

void monitor_content_changes(struct smb_monitor *monitor, const struct monitor_member *member)
{
	if (!changes_content(member->message))
		return;
	const struct smb2_file_id *id = monitor_file_id(member->message);
	uint32_t file = SLOT_NONE;
	if (!monitor_file_id_is_related(id)) {
		uint32_t handle = monitor_handle_find(monitor, *id);
		if (handle != SLOT_NONE)
			file = monitor_handle_at(monitor, handle)->file;
	} else if (member->chain != SLOT_NONE && monitor_chain_at(monitor, member->chain)->name) {
		file = monitor_file_find(monitor, monitor_chain_at(monitor, member->chain)->name);
	}
	if (file != SLOT_NONE)
		monitor_file_at(monitor, file)->known = false;
}

void monitor_file_opened(struct smb_monitor *monitor, uint32_t slot, const struct smb2_create_rsp *create)
{
	const struct monitor_request *request = monitor_request_at(monitor, slot);
	bool closed = request->chain != SLOT_NONE && monitor_chain_at(monitor, request->chain)->closes;

	if (create->create_action != FILE_OPENED) {
		uint32_t file = monitor_file_find(monitor, request->name);
		if (file != SLOT_NONE)
			monitor_file_at(monitor, file)->known = false;
	}
	if (!closed)
		monitor_handle_add(monitor, create->file_id, request->name);
}

void smb_monitor_file(struct smb_monitor *monitor, const char *name, uint64_t source, uint64_t bytes)
{
	uint32_t slot = monitor_file_need(monitor, monitor_name_hash(name));
	if (slot == SLOT_NONE)
		return;
	struct monitor_file *file = monitor_file_at(monitor, slot);
	file->source = source;
	file->bytes = bytes;
	file->registered = true;
	file->known = true;
}

uint32_t smb_monitor_application_read(struct smb_monitor *monitor, const char *name, uint64_t offset,
				      struct smb_slice data, bool at_eof, uint64_t now_ns)
{
	monitor->event = (struct monitor_event){ .number = monitor->event.number + 1, .when_ns = now_ns };
	if (monitor->largest_application_read < data.length)
		monitor->largest_application_read = data.length;
	uint32_t slot = monitor_file_find(monitor, monitor_name_hash(name));
	if (slot == SLOT_NONE)
		return 0;
	struct monitor_file *file = monitor_file_at(monitor, slot);
	uint64_t end = offset + data.length;
	if (end > file->handed_end && end <= file->requested_end)
		file->handed_end = end;
	if (!file->known)
		return 0;
	content_check(monitor, file, offset, &data);
	if (at_eof && end < file->bytes)
		monitor_report(monitor, SMB_RULE_C27, "the application was told that %s ends at %llu, it has %llu",
			       name, (unsigned long long)end, (unsigned long long)file->bytes);
	return monitor->event.violations;
}

void smb_monitor_application_writes(struct smb_monitor *monitor, const char *name)
{
	uint32_t file = monitor_file_find(monitor, monitor_name_hash(name));

	if (file != SLOT_NONE)
		monitor_file_at(monitor, file)->known = false;
}
