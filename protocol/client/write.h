/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_CLIENT_WRITE_H
#define SMB_CLIENT_WRITE_H

/** WRITE, FSYNC and the writing back of dirty pages; private to protocol/client. */

#include "protocol/client/internal.h"

/* write.c: one write(2) */

void client_write_begin(struct smb_client *client, struct client_op *op, uint64_t source, uint64_t source_offset);
void client_write_run(struct smb_client *client, struct client_op *op);
/** The final answer to a WRITE; `message` NULL: it was lost with its channel. */
void client_write_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message);
/** What became of a WRITE (cifs 6.1, smb2_writev_callback and cifs_writev_complete). */
enum smb_write_verdict client_write_verdict(const struct smb_request *request, const struct smb2_message *message);
struct smb_write_view client_write_view(const struct smb_client *client, uint32_t file);
/** Requests under way on the channel of the operation, beside what it has taken for its own next one. */
uint32_t client_others_in_flight(const struct smb_client *client, const struct client_op *op);
/** A lease or oplock allows dirty pages. */
bool client_caches_writes(const struct client_file *file);
/** The file may be written, and how: its arrays are there and it was opened for it. */
bool client_file_is_writable(const struct smb_client *client, uint32_t file);

/* close.c: steps of scripts that wait */

/** Until nothing of the file is dirty or under way to the server; what was lost is told by FSYNC, or at the end of CLOSE. */
void client_script_write_back(struct smb_client *client, struct client_op *op);
/** The pass of an operation cannot go on: what a file that is being closed still holds is lost. */
void client_script_write_back_failed(struct smb_client *client, struct client_op *op);
/** Until nothing of the file is under way. */
void client_script_wait_reads(struct smb_client *client, struct client_op *op);
/** UNMOUNT: write back and close each file still open. */
void client_script_close_files(struct smb_client *client, struct client_op *op);
/** script.c: send the CLOSE of the operation's file. */
void client_script_send_close(struct smb_client *client, struct client_op *op);

/** A WRITE goes on the wire. */
void client_write_send(struct smb_client *client, struct client_op *op, uint32_t slot, uint16_t charge);
void client_socket_takes_more(struct smb_client *client, uint32_t channel);
/** No further WRITE before a socket takes more: the operation waits. */
bool client_must_wait_socket(struct smb_client *client, struct client_op *op);

/* write_direct.c: past the page cache */

/** Send `data` at `offset` with one ordinary credit; true when it is on its way and the operation waits for it. */
bool client_write_through(struct smb_client *client, struct client_op *op, uint64_t offset, struct smb_slice data);
void client_write_direct_run(struct smb_client *client, struct client_op *op);
void client_write_direct_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message);
/** Pieces that were to be sent again are not. */
void client_write_direct_abandon(struct smb_client *client, struct client_op *op);

/* write_back.c: passes over dirty pages, and the flusher that makes them in the background */

/** Begin a sync pass of the operation over [start, end) of its file. */
void client_pass_begin(struct smb_client *client, struct client_op *op, uint64_t start, uint64_t end);
/** One step of the pass; `passing` is off when it is done. */
void client_pass_run(struct smb_client *client, struct client_op *op);
/** The pass cannot go on: what it was to write is lost (`keep` off), and the file remembers that. */
void client_pass_give_up(struct smb_client *client, struct client_op *op, bool keep);
/** Bytes of [start, end) are not at the server yet: a sync pass was begun that brings them there. */
bool client_pass_before_read(struct smb_client *client, struct client_op *op, uint64_t start, uint64_t end);
/** The NT status for what was lost of a file since this was last asked; STATUS_SUCCESS: nothing. */
uint32_t client_lost_data_status(struct smb_client *client, uint32_t file);
void client_write_back_answer(struct smb_client *client, uint32_t slot, const struct smb2_message *message);
/** Wake the flusher if there is work for it. */
void client_flusher_start(struct smb_client *client);
void client_flusher_run(struct smb_client *client, struct client_op *op);
bool client_flusher_is_busy(const struct smb_client *client);
bool client_flusher_has(const struct smb_client *client, uint32_t file);
/** Data older than 30 s is written back (vm.dirty_expire_centisecs). */
void client_flusher_timer(struct smb_client *client);
uint64_t client_flusher_due(const struct smb_client *client);
/** A break ended the file's write caching: true while its dirty data keeps the acknowledgement back. */
bool client_flush_before_break(struct smb_client *client, uint32_t file);

#endif
