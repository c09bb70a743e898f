# Tries programs before CMake depends on them: what is wrong with one becomes a line of the summary
# and not the end of the configure run.

# strata_version_of(<result> <pattern> <command>...): the first group of the pattern in what
# `command --version` prints; empty where it does not run or says something else.
function(strata_version_of result pattern)
  execute_process(COMMAND ${ARGN} --version TIMEOUT 60 RESULT_VARIABLE status
                  OUTPUT_VARIABLE said ERROR_QUIET)
  set(version "")
  if(status STREQUAL "0" AND said MATCHES "${pattern}")
    set(version ${CMAKE_MATCH_1})
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# strata_try(<result> <command>...): runs a compiler in a folder of its own. The result is empty if
# it succeeded, and else the first line of its output that speaks of an error.
function(strata_try result)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/strata_try)
  file(MAKE_DIRECTORY ${folder})
  # In English, whatever the user's language is: the words are searched for below.
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${ARGN} WORKING_DIRECTORY ${folder}
                  TIMEOUT 300 RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  set(reason "")
  if(NOT status STREQUAL "0")
    set(reason "it ends with '${status}'")
    if(said MATCHES "[^\n]*([Ee]rror|fatal|cannot find|not found|No such file)[^\n]*")
      string(REGEX REPLACE "^.*([Ee]rror|fatal) *: *" "" reason "${CMAKE_MATCH_0}")
    elseif(said MATCHES "[^ \n][^\n]*")
      set(reason "${CMAKE_MATCH_0}")
    endif()
    string(STRIP "${reason}" reason)
    string(LENGTH "${reason}" length)
    if(length GREATER 160)
      string(SUBSTRING "${reason}" 0 160 reason)
      string(APPEND reason "…")
    endif()
  endif()
  set(${result} "${reason}" PARENT_SCOPE)
endfunction()
