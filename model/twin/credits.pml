/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The twin: credits of one connection, written down once more from MS-SMB2 alone, for Spin. It knows nothing of the
 * cores. model/tests/twin_test.c lets Spin count its states and the checker count, in these words, those of the real
 * cores; the two have to agree.
 *
 * THREADS threads send READS requests of one credit each. A request needs a credit (3.2.4.1.2) and waits for one in
 * order of arrival. The server takes requests in the order of their MessageIds, which is that of the wire, and answers
 * in any order. Its window is CREDITS wide (3.3.1.1): a response grants whatever makes it as wide again (3.3.1.2); with
 * INTERIM an interim response does so, and the final one grants nothing (3.3.4.2).
 */
#define INTERIM_MARK THREADS

byte credits = CREDITS; /* of the client */
byte window = CREDITS; /* of the server: ids granted that no request has used */
byte left[THREADS] = READS;
bool busy[THREADS];
bool at_server[THREADS];
chan waiting = [THREADS] of { byte };
chan to_server = [THREADS] of { byte };
chan to_client = [2 * THREADS] of { byte, byte }; /* a thread or INTERIM_MARK, and the grant */

#define CALL(t)                                                                                                        \
	d_step {                                                                                                       \
		!busy[t] && left[t] > 0;                                                                               \
		busy[t] = true;                                                                                        \
		if                                                                                                     \
		:: credits > 0 -> credits--; to_server ! t                                                             \
		:: else -> waiting ! t                                                                                 \
		fi                                                                                                     \
	}

#define ANSWER(t)                                                                                                      \
	d_step {                                                                                                       \
		at_server[t];                                                                                          \
		at_server[t] = false;                                                                                  \
		if                                                                                                     \
		:: INTERIM -> to_client ! t, 0                                                                         \
		:: else -> to_client ! t, CREDITS - window; window = CREDITS                                           \
		fi                                                                                                     \
	}

active proctype world()
{
	byte who, grant;

end:
	do
	:: CALL(0)
	:: CALL(1)
#if THREADS > 2
	:: CALL(2)
#endif
#if THREADS > 3
	:: CALL(3)
#endif
	:: ANSWER(0)
	:: ANSWER(1)
#if THREADS > 2
	:: ANSWER(2)
#endif
#if THREADS > 3
	:: ANSWER(3)
#endif
	:: d_step {
		nempty(to_server);
		to_server ? who;
		at_server[who] = true;
		window--;
		if
		:: INTERIM -> to_client ! INTERIM_MARK, CREDITS - window; window = CREDITS
		:: else
		fi;
		who = 0
	}
	:: d_step {
		nempty(to_client);
		to_client ? who, grant;
		credits = credits + grant;
		if
		:: who == INTERIM_MARK
		:: else -> left[who]--; busy[who] = false
		fi;
		do
		:: credits > 0 && nempty(waiting) ->
			waiting ? who;
			credits--;
			to_server ! who
		:: else -> break
		od;
		who = 0;
		grant = 0
	}
	od
}
