/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SIM_SERVER_CHOICE_H
#define SIM_SERVER_CHOICE_H

/**
 * What MS-SMB2 leaves to the server, chosen by the host for one answer; and what it forbids, as switches.
 *
 * A model checker tries all choices; without one the server does what its profile says. Whatever is chosen, a server
 * without misbehaviours keeps to the specification: it never grants beyond its window, never leaves a client with no
 * credits and nothing outstanding (MS-SMB2 3.3.1.2, invariant C11: such a grant of 0 becomes 1), and grants once per
 * request (C9).
 */

#include <stdbool.h>
#include <stdint.h>

#define SMB_SERVER_GRANT_PROFILE UINT16_MAX /* as much as the profile grants */

/** All zero: as the profile does. */
struct smb_server_choice {
	bool chosen; /* false: nothing below counts */
	uint16_t
		grant; /* credits of the whole answer, 0 to what the window has room for, or SMB_SERVER_GRANT_PROFILE */
	bool spread; /* compounds: one credit in each reply and the rest in the last, not all in the last */
	uint32_t status; /* not 0: fail `member` with it instead of executing it */
	uint32_t member; /* of a compound, from 0; members that depend on it fail, too (MS-SMB2 3.3.5.2.7.2) */
	bool interim; /* STATUS_PENDING first; the final reply when the host says that the WORK is done (3.3.4.2) */
	bool split; /* the replies of a compound in a PDU each (3.3.4.1.3) */
	bool expire; /* the session of the request expires before it is executed (3.3.5.2.9) */
};

/** What no server may do and servers in the field did; a client must survive it. All zero: none of it. */
struct smb_server_misbehaviour {
	bool starves; /* grants as chosen, also 0 to a client that is left with nothing (Windows client SKU, smbj #270) */
	bool overgrants; /* every reply says 65535 credits, whatever the window (macOS, libsmb2 #223) */
	uint16_t break_grant; /* each answer to a break acknowledgement grants this much (cifs list 2023-06-20) */
	bool interim_is_free; /* an interim reply grants 0, and so does the final one (Samba bug 8357) */
	bool final_grants; /* the final reply to READ or WRITE grants again what the interim one did (Samba 2011,
			    * ffbd1ed2797) */
	bool pending_is_odd; /* interim replies are one byte too long (cifs "count credits for malformed pending") */
	bool write_has_junk; /* three more bytes behind a WRITE reply (old macOS, smb2_check_message) */
	bool last_is_unpadded; /* the last reply of a compound is not padded to 8 (Samba bug 11277) */
	bool next_is_wild; /* NextCommand of a compound's last reply points behind the PDU */
	bool second_read_is_lost; /* READ after READ in one compound: no reply to the second (ksmbd 47f6a59) */
	bool interfaces_are_padded; /* eight more bytes behind the interface list (Azure) */
	uint32_t break_copies; /* a break notification comes this often in one PDU (libsmb2 5e75eeb); 0 = once */
	uint32_t
		write_pushback; /* each n-th WRITE fails with INSUFFICIENT_RESOURCES (cifs list 2019-06-16); 0 = none */
};

#endif
