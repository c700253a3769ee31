# SPDX-License-Identifier: LGPL-2.1-or-later
# Copy FILES from FROM to TO and apply PATCH to the copies. A patch that no longer applies is an error that names it.
if(NOT PATCH_PROGRAM)
	message(FATAL_ERROR "mutants need GNU patch (package `patch`)")
endif()
file(REMOVE_RECURSE ${TO})
foreach(file ${FILES})
	configure_file(${FROM}/${file} ${TO}/${file} COPYONLY)
endforeach()
execute_process(COMMAND ${PATCH_PROGRAM} --strip=1 --batch --forward --fuzz=1 --no-backup-if-mismatch --input=${PATCH}
	WORKING_DIRECTORY ${TO} RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(failed)
	file(REMOVE_RECURSE ${TO})
	message(FATAL_ERROR "${PATCH} no longer applies:\n${output}")
endif()
# Newer than the originals, whatever `patch` says about the time.
foreach(file ${FILES})
	file(TOUCH ${TO}/${file})
endforeach()
