/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files in canonical form: what is cached, and what is dirty. */
#include "protocol/client/encode.h"
#include "protocol/client/write.h"

#include <string.h>

static void put_run(struct encoder *encoder, const struct smb_page_run *run)
{
	put64(encoder, run->start);
	put64(encoder, run->pages);
	put8(encoder, run->state);
	if (run->state == SMB_PAGE_READING) {
		put32(encoder, rank_of(encoder, run->reader));
		return;
	}
	put64(encoder, run->source);
	put64(encoder, run->source_offset);
	put32(encoder, run->zero_tail);
}

static void put_marks(struct encoder *encoder, const struct smb_page_cache *cache)
{
	for (uint32_t i = 0; i < SMB_PAGE_MARKS_MAX; i++)
		put64(encoder, cache->marks[(cache->next_mark + i) % SMB_PAGE_MARKS_MAX]);
}

static void put_dirty(struct encoder *encoder, uint32_t i)
{
	const struct client_file *file = client_file_at(encoder->client, i);
	const struct smb_dirty *dirty = &file->dirty;
	const struct smb_dirty_run *runs = client_dirty_runs_of(encoder->client, i);

	put8(encoder, file->flush);
	put8(encoder, file->has_expired);
	put_time(encoder, file->dirty_since_ns);
	put32(encoder, file->writes);
	put32(encoder, dirty->sync_passes);
	put64(encoder, dirty->flush_from);
	put8(encoder, dirty->room_wanted);
	put8(encoder, dirty->error);
	put32(encoder, dirty->run_count);
	for (uint32_t n = 0; n < dirty->run_count; n++) {
		put64(encoder, runs[n].start);
		put64(encoder, runs[n].end);
		put64(encoder, runs[n].source);
		put64(encoder, runs[n].source_offset);
		put32(encoder, client_encode_rank_of_write(encoder, i, runs[n].write));
		put8(encoder, runs[n].again);
	}
}

void client_encode_file(struct encoder *encoder, uint32_t i)
{
	const struct client_file *file = client_file_at(encoder->client, i);
	const struct smb_page_run *runs = client_runs_of(encoder->client, i);

	put8(encoder, file->state);
	if (file->state == FILE_FREE)
		return;
	put64(encoder, file->id.persistent);
	put64(encoder, file->id.volatile_id);
	put64(encoder, file->bytes);
	put8(encoder, file->is_invalid);
	put8(encoder, file->reopen_wanted);
	put64(encoder, file->failed_start < file->failed_end ? file->failed_start : 0);
	put64(encoder, file->failed_start < file->failed_end ? file->failed_end : 0);
	put8(encoder, file->access);
	put8(encoder, file->direct);
	put_bytes(encoder, file->name, strlen(file->name) + 1);
	put_bytes(encoder, file->lease_key, sizeof(file->lease_key));
	put32(encoder, file->lease_state);
	put8(encoder, file->oplock_level);
	put8(encoder, file->random_hint);
	put8(encoder, file->break_pending);
	put8(encoder, file->broken_early);
	put8(encoder, file->early_break_waits);
	if (file->state == FILE_OPENING)
		return;
	put32(encoder, file->ra.ra_pages);
	put64(encoder, file->ra.start);
	put32(encoder, file->ra.size);
	put32(encoder, file->ra.async_size);
	put64(encoder, file->ra.prev_page);
	put32(encoder, file->ra.extra_requests);
	put64(encoder, file->cache.newest);
	put_marks(encoder, &file->cache);
	put_dirty(encoder, i);
	put32(encoder, file->cache.run_count);
	for (uint32_t n = 0; n < file->cache.run_count; n++)
		put_run(encoder, &runs[n]);
}
