# cmake -DNM=… -DLEVEL=… -DOBJECTS=… -P level_symbols_test.cmake: everything that the objects of a
# level define for the linker is in the namespace of the level. A function that they shared with the
# rest of the program (an inline one, one of std::) might be taken from them, and would run
# instructions that a processor does not have.

string(LENGTH ${LEVEL} length)
set(own "6strata3cpu${length}${LEVEL}")
set(found 0)
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND ${NM} --defined-only --extern-only --format=posix ${object}
                  OUTPUT_VARIABLE symbols RESULT_VARIABLE status)
  if(NOT status STREQUAL "0")
    message(FATAL_ERROR "${NM} cannot read ${object}")
  endif()
  string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
  foreach(symbol IN LISTS symbols)
    if(symbol MATCHES "${own}")
      math(EXPR found "${found} + 1")
    elseif(NOT symbol MATCHES "^(__|DW\\.ref\\.)")  # those are the compiler's and hold no code
      message(SEND_ERROR "${object} defines ${symbol}")
    endif()
  endforeach()
endforeach()
if(found EQUAL 0)
  message(SEND_ERROR "the objects define nothing in the namespace ${own}")
endif()
