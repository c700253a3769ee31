/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SMB_WIRE_TESTS_SAMPLES_BUILD_H
#define SMB_WIRE_TESTS_SAMPLES_BUILD_H

/** How samples are put together; shared by the samples_*.c files only. */

#include "protocol/wire/contexts.h"
#include "protocol/wire/names.h"
#include "protocol/wire/tests/samples.h"

#include <assert.h>
#include <string.h>

#define FILE_ID ((struct smb2_file_id){ 0x1234567890u, 0xabcdef0123u })
#define BLOB(array) ((struct smb_blob){ array, sizeof(array) })
#define TIMES                                                                                                          \
	((struct smb2_file_times){ 133000000000000000u, 133000000010000000u, 133000000020000000u, 133000000030000000u })

/** Memory that lives as long as the samples. */
uint8_t *take(size_t size);
struct smb_blob utf16(const char *ascii);

/** The next sample; it is on the connection of the sample before. */
struct smb2_message *request(const char *name, uint16_t command, enum smb2_body_kind kind);
/** Answers the sample before. */
struct smb2_message *response(const char *name, enum smb2_body_kind kind);
struct smb2_message *error(const char *name, uint32_t status);
struct smb2_message *interim(const char *name);
void make_async(struct smb2_message *message);
/** The sample added `back` samples before the latest. */
struct wire_sample *recent(size_t back);

void add_negotiate(void);
void add_session_setup(void);
void add_tree(void);
void add_create(void);
void add_read(void);
void add_write(void);
void add_lock(void);
void add_ioctl(void);
void add_query(void);
void add_set_info(void);
void add_breaks(void);
void add_chain(void);
void add_farewell(void);

#endif
